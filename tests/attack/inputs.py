"""Bad and hostile inputs to every public estimator, map and graph.

A case is one subject and one kind of nonsense. The first pass over all pairs, in an order that the
seed says, has the same rows; every further pass draws others.
"""

import warnings
from collections.abc import Callable
from copy import deepcopy
from functools import cache
from inspect import signature
from typing import Any

import numpy as np

from attack.arguments import VALUES, arguments_of
from attack.beside import TARGETS, WEIGHTS
from attack.calls import CALLS
from attack.judge import Demand, judged
from attack.outcomes import Outcome, Result
from attack.parts import PARTS
from attack.rows import EQUAL, ROWS
from attack.subjects import PUBLIC, SUBJECTS, Data
from ulmus import KNNGraph
from ulmus.exceptions import InvalidInputError

__all__ = ["COUNT", "LIMIT", "attack", "cases", "run"]

LIMIT = 120.0
Case = tuple[str, str]


@cache
def cases() -> tuple[Case, ...]:
    """Every subject with every kind of nonsense that it can be given."""
    found: list[Case] = []
    for name, subject in SUBJECTS.items():
        model = subject.make()
        found += [(name, f"{how} {rows}") for rows in ROWS for how in ("fit", "answer")]
        found += [(name, y) for y, hostile in TARGETS.items() if subject.family in hostile.families]
        if not isinstance(model, KNNGraph) and "sample_weight" in signature(model.fit).parameters:
            found += [(name, weight) for weight in WEIGHTS]
        found += [(name, call) for call, (_, suits, _) in CALLS.items() if suits(model)]
        if name in PUBLIC:
            pairs = ((a, value) for a in arguments_of(model) for value in VALUES)
            found += [(name, f"argument: {argument} = {value}") for argument, value in pairs]
    return (*found, *PARTS)


COUNT = len(cases())


def attack(seed: int, number: int) -> Result:
    """Case ``number``: right, or refused with a sentence."""
    every = cases()
    turn, place = divmod(number, len(every))
    order = np.random.default_rng(seed).permutation(len(every))
    return run(*every[order[place]], data_seed=seed + turn)


def run(name: str, what: str, data_seed: int = 0) -> Result:
    """One case."""
    kind = what.split(":")[0].split()[-1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outcome, detail = _KINDS[kind](name, what, data_seed)
    return Result(kind, outcome, f"{name}, {what}: {detail}")


@cache
def _fitted(name: str, data_seed: int) -> Any:
    subject, data = SUBJECTS[name], Data.drawn(data_seed)
    return subject.fit(subject.make(), data.X, subject.target(data))


def _oracle(name: str, data_seed: int) -> np.ndarray:
    return SUBJECTS[name].answer(_fitted(name, data_seed), Data.drawn(data_seed).X)


def _rows(name: str, what: str, data_seed: int) -> tuple[Outcome, str]:
    how, _, rows = what.partition(" ")
    hostile, subject, data = ROWS[rows], SUBJECTS[name], Data.drawn(data_seed)
    X, y = hostile.make(data.X), subject.target(data)
    clean = hostile.clean(data.X) if hostile.must == EQUAL else None
    if y is not None and getattr(X, "shape", ()):
        y = y[: X.shape[0]]

    def answered(model: Any, rows: Any) -> Any:
        if how == "answer":
            return subject.answer(model, rows)
        subject.fit(model, rows, y)
        return subject.answer(model, rows if clean is None else clean)

    fitted = _fitted(name, data_seed)
    oracle = None
    if clean is not None:
        oracle = answered(deepcopy(fitted), np.array(clean, dtype=float))
    return judged(fitted, lambda m: answered(m, X), Demand(hostile.must, oracle, hostile.rtol))


def _target(name: str, what: str, data_seed: int) -> tuple[Outcome, str]:
    hostile, subject, data = TARGETS[what], SUBJECTS[name], Data.drawn(data_seed)
    y = hostile.make(subject.target(data))

    def answered(model: Any) -> Any:
        return subject.answer(model.fit(data.X, y), data.X)

    demand = Demand(hostile.must, _oracle(name, data_seed))
    return judged(_fitted(name, data_seed), answered, demand)


def _weight(name: str, what: str, data_seed: int) -> tuple[Outcome, str]:
    (make, must), subject, data = WEIGHTS[what], SUBJECTS[name], Data.drawn(data_seed)
    weight = make(len(data.X))

    def answered(model: Any) -> Any:
        model.fit(data.X, subject.target(data), sample_weight=weight)
        return subject.answer(model, data.X)

    return judged(_fitted(name, data_seed), answered, Demand(must, _oracle(name, data_seed)))


def _call(name: str, what: str, data_seed: int) -> tuple[Outcome, str]:
    (call, _, must), subject, data = CALLS[what], SUBJECTS[name], Data.drawn(data_seed)
    demand = Demand(must, _oracle(name, data_seed))
    return judged(_fitted(name, data_seed), lambda m: call(subject, data, m), demand)


def _part(name: str, what: str, data_seed: int) -> tuple[Outcome, str]:
    call, must = PARTS[name, what]
    data = Data.drawn(data_seed)
    return judged(KNNGraph(), lambda _: call(data), Demand(must))


def _argument(name: str, what: str, data_seed: int) -> tuple[Outcome, str]:
    """An argument that cannot be used is named in an error of its own; else the fit is sound."""
    subject, data = SUBJECTS[name], Data.drawn(data_seed)
    argument, _, value = what.removeprefix("argument: ").partition(" = ")

    def answered(model: Any) -> Any:
        subject.fit(model, data.X, subject.target(data))
        return subject.answer(model, data.X)

    def meant(error: BaseException) -> bool:
        """The argument is named, or another that does not go with it."""
        named = [other for other in arguments_of(subject.make()) if f"{other}=" in str(error)]
        return isinstance(error, InvalidInputError) and (argument in str(error) or bool(named))

    fitted = deepcopy(_fitted(name, data_seed)).set_params(**{argument: VALUES[value]})
    return judged(fitted, answered, Demand("finite", meant=meant))


_KINDS: dict[str, Callable[[str, str, int], tuple[Outcome, str]]] = {
    **dict.fromkeys(("shape", "type", "value", "sparse"), _rows),
    "target": _target,
    "weight": _weight,
    "call": _call,
    "argument": _argument,
    **dict.fromkeys(("graph", "kernel"), _part),
}
