"""Forged files: models of every class, sums of a stream, and tables."""

import os
import tempfile
from functools import cache
from pathlib import Path
from random import Random

from attack import sums, tables
from attack.bases import NAMES, Model, model
from attack.containers import DAMAGES, with_headers
from attack.documents import FORGERIES, written
from attack.outcomes import Outcome, Result
from attack.using import called, error_outcome, used
from ulmus import load
from ulmus.persistence import describe

COUNT = 10**6
LIMIT = 300.0
# About 1.3 GiB are reserved, and not used, when NumPy, SciPy and scikit-learn are there.
MEMORY = 2 * 2**30
_HEADER = "npy header, forged"
# Of ten files seven are models, two tables and one a checkpoint.
_KINDS = {
    "model": (*FORGERIES, *FORGERIES, *DAMAGES, _HEADER),
    "table": tables.KINDS,
    "checkpoint": sums.KINDS,
}
_SHARES = (7, 2, 1)


# Where there is a folder in memory, no case waits for a disk.
_IN_MEMORY = Path("/dev/shm")


@cache
def _folder() -> tempfile.TemporaryDirectory:
    place = _IN_MEMORY if os.access(_IN_MEMORY, os.W_OK) else None
    return tempfile.TemporaryDirectory(prefix="ulmus-attack-", dir=place)


def attack(seed: int, number: int) -> Result:
    """Case ``number``: refused with a sentence, or harmless."""
    rng = Random(f"{seed} {number}")
    (what,) = rng.choices(list(_KINDS), _SHARES)
    kind = rng.choice(_KINDS[what])
    attacked = {"model": _model, "table": tables.attacked, "checkpoint": sums.attacked}[what]
    outcome, detail = attacked(rng, kind, Path(_folder().name))
    return Result(f"{what}, {kind}", outcome, detail)


def _model(rng: Random, kind: str, folder: Path) -> tuple[Outcome, str]:
    """A model that is described, loaded and used."""
    name = rng.choice(NAMES)
    content = _forged(rng, kind, model(name))
    return judged(name, content, kind in DAMAGES, describes=rng.random() < 0.2)


def judged(
    name: str, content: bytes, damaged: bool, describes: bool = False
) -> tuple[Outcome, str]:
    """What becomes of a file that was made from that of a model."""
    path, base = Path(_folder().name) / "model.ulmus", model(name)
    path.write_bytes(content)
    _, error = called(lambda: describe(path)) if describes else (None, None)
    if error is not None and error_outcome(error)[0] != Outcome.REFUSED:
        return Outcome.RAW, f"{name}, describe: {error_outcome(error)[1]}"
    found, error = called(lambda: load(path))
    if error is not None:
        outcome, detail = error_outcome(error)
        return outcome, f"{name}: {detail}"
    outcome, detail, answers = used(found, base.rows)
    if damaged and outcome == Outcome.RIGHT and not _same(answers, _honest(name)):
        outcome, detail = Outcome.WRONG, "a damaged file gives another answer"
    return outcome, f"{name}: {detail}" if detail else ""


def _forged(rng: Random, kind: str, base: Model) -> bytes:
    if kind in DAMAGES:
        return DAMAGES[kind](rng, bytearray(base.content))
    return with_headers(rng, base.content) if kind == _HEADER else written(rng, base, kind)


@cache
def _honest(name: str) -> list:
    """The answers of the model in the honest file."""
    path = Path(_folder().name) / "honest"
    path.write_bytes(model(name).content)
    outcome, detail, answers = used(load(path), model(name).rows)
    assert outcome == Outcome.RIGHT, (name, detail)
    return answers


def _same(answers: list, others: list) -> bool:
    return len(answers) == len(others) and all(
        one is two if isinstance(one, type) else one.tobytes() == two.tobytes()
        for one, two in zip(answers, others, strict=True)
    )
