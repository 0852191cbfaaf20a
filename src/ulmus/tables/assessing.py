"""How good a model is on rows whose target is known, or models like it on rows they did not see."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ulmus.arguments import counted, hint, listed
from ulmus.exceptions import InvalidInputError
from ulmus.tables.encoder import Target, as_text, read_target
from ulmus.tables.fingerprint import row_hashes
from ulmus.tables.fitting import fit_table
from ulmus.tables.judging import judge_labels, judge_numbers
from ulmus.tables.splitting import Plan
from ulmus.tables.suspicions import beyond_chance
from ulmus.tables.table import Table
from ulmus.tables.table_model import TableModel
from ulmus.typing import Rows

# Up to so many rows, and cells of their matrix, five folds take seconds.
_FEW_ROWS, _FEW_CELLS = 1000, 200_000
# Rows that equal fitted ones by chance are at most this much more than copies among those.
_BY_CHANCE = 0.1


@dataclass(frozen=True)
class Judged:
    """A model, the rows that it was fitted to where they are at hand, and those it is judged by.

    ``places`` are those of the judged rows among all whose target is known.
    """

    model: TableModel
    fitted: Table | None
    table: Table
    places: np.ndarray
    found: np.ndarray
    probabilities: np.ndarray | None


@dataclass(frozen=True)
class Assessment:
    """Predictions of rows whose target is known, and what they are worth.

    ``rows`` are places in the table, ``probabilities`` has a column for each of ``classes``,
    ``scores`` is what `judge_labels` or `judge_numbers` gives, ``fold_scores`` the accuracy or R²
    of each split, ``parts`` the model and the tables of each, in the order of ``rows``.
    ``known_share`` of the rows were fitted.
    """

    rows: np.ndarray
    truth: np.ndarray
    found: np.ndarray
    probabilities: np.ndarray | None
    classes: np.ndarray | None
    scores: dict[str, Any]
    fold_scores: list[float] = field(default_factory=list)
    known_share: float | None = None
    notes: tuple[str, ...] = ()
    parts: tuple[Judged, ...] = ()


def assess(
    model: TableModel,
    table: Table,
    plan: Plan | None = None,
    watch: Callable[[str], None] = lambda _: None,
) -> Assessment:
    """Judge a model on a table; with a plan, models that are fitted as it was to other rows of it.

    Examples
    --------
    >>> import numpy as np
    >>> from ulmus.tables import Table, fit_table
    >>> from ulmus.tables.assessing import assess
    >>> from ulmus.tables.splitting import Plan
    >>> t = np.linspace(0, 6, 60)
    >>> table = Table(("t", "wave"), {"t": t, "wave": np.sin(t)})
    >>> model = fit_table(table, "wave")
    >>> assess(model, table).known_share
    1.0
    >>> assess(model, table, Plan(folds=3)).scores["r2"] > 0.99
    True
    """
    goal = truth_of(model, table)
    known = np.flatnonzero(goal.known)
    notes = [*table.notes, *goal.notes]
    if len(known) < len(table):
        left = counted(len(table) - len(known), "row")
        notes.append(f"{left} without a value of {model.target!r} left out.")
    watch("predicting")
    judged = table if len(known) == len(table) else table.rows(known)
    X = model.matrix(judged)
    if plan is None:
        parts = [Judged(model, None, judged, np.arange(len(known)), *model.labelled(X))]
        notes += model.encoder.met
        share = model.known_share(X)
    else:
        parts = _left_out(model, table, goal, plan, watch)
        notes += _copied(X, plan, judged, goal.values[known], model)
        share = None
    rows = np.concatenate([part.places for part in parts])
    truth, found = goal.values[known][rows], np.concatenate([part.found for part in parts])
    P = [part.probabilities for part in parts if part.probabilities is not None]
    scores = _scores(model, truth, found, notes)
    each = [score(goal.values[known][part.places], part.found) for part in parts]
    return Assessment(
        known[rows], truth, found, np.vstack(P) if P else None, model.classes, scores, each, share,
        tuple(notes), tuple(parts),
    )  # fmt: skip


def judge_by_folds(
    model: TableModel, table: Table, watch: Callable[[str], None] = lambda _: None
) -> None:
    """Put the score of five folds into the summary of a model of few rows, where it is cheap.

    All that is chosen is chosen again in each fold: the leave-one-out score is that of the best of
    many candidates, so it is too good, by 4 points of 100 at 400 rows of pure noise and by 1 or 2
    from 1000 on (python -m benchmarks folds). More rows, and classes too small to be split, keep
    the leave-one-out score.
    """
    if not len(table) <= _FEW_ROWS or len(table) * sum(model.encoder.widths) > _FEW_CELLS:
        return
    with suppress(InvalidInputError):  # rows or classes that are too few to be split
        found = assess(model, table, Plan(folds=5, seed=model.summary["seed"]), watch).scores
        model.summary["folds_score"] = found["r2" if model.classes is None else "accuracy"]


def is_training(model: TableModel, share: float | None) -> bool:
    """Whether so many rows were fitted that it is no chance.

    A new row equals a fitted one as often as those equal each other.
    """
    by_chance = model.summary["copies"] / max(model.summary["rows"], 1)
    return share is not None and share > by_chance + _BY_CHANCE * (1 - by_chance)


def truth_of(model: TableModel, table: Table) -> Target:
    """The target of each row."""
    if model.target in table.names and model.target not in model.encoder.names:
        cells = table[model.target]
    elif table.target is not None:
        cells = table.target
    else:
        raise InvalidInputError(
            f"The file has no column {model.target!r} to compare with; "
            f"{hint(model.target, table.names)}"
        )
    return read_target(cells, model.target, model.task, table.decimal_comma, varied=False)


# ---------------------------------------------------------------------- rows that are left out
def _left_out(
    model: TableModel, table: Table, goal: Target, plan: Plan, watch: Callable[[str], None]
) -> list[Judged]:
    """A model of the other rows for each split, and what it predicts."""
    known, unknown = np.flatnonzero(goal.known), np.flatnonzero(~goal.known)
    parts = []
    splits = _splits(plan, table, goal, known, model)
    columns = _columns(model, table, plan)
    for k, (old, new) in enumerate(splits, 1):
        watch(f"fit {k} of {len(splits)}" if len(splits) > 1 else "fit")
        semi = model.summary["semi_supervised"]
        rows = np.sort(np.concatenate([known[old], unknown])) if semi else known[old]
        settings: dict[str, Any] = {"task": model.task, "seed": model.summary["seed"]}
        settings["kinds"] = {k: v for k, v in model.encoder.given.items() if k in columns.names}
        name = model.target if model.target in columns.names else None
        other = fit_table(columns.rows(rows), name, unlabelled_blank=semi, **settings)
        fitted, judged = columns.rows(known[old]), columns.rows(known[new])
        found, P = other.labelled(other.matrix(judged))
        P = _aligned(P, other.classes, model.classes)
        parts.append(Judged(other, fitted, judged, new, found, P))
    return parts


def _splits(
    plan: Plan, table: Table, goal: Target, known: np.ndarray, model: TableModel
) -> list[tuple[np.ndarray, np.ndarray]]:
    labels = None if model.classes is None else np.array(as_text(goal.values[known]))
    return plan.splits(table if len(known) == len(table) else table.rows(known), labels)


def _columns(model: TableModel, table: Table, plan: Plan) -> Table:
    """The table with the columns that the model was given, and without the one of the groups."""
    if table.matrix is not None:
        return table
    given = {*model.encoder.names, *model.encoder.dropped, model.target} - {plan.group}
    for name in set(table.names) - given:
        table = table.without(name)
    return table


def _copied(X: Rows, plan: Plan, table: Table, y: np.ndarray, model: TableModel) -> list[str]:
    """A sentence about rows that have a copy on the other side of a split."""
    labels = None if model.classes is None else np.array(as_text(y))
    hashes = row_hashes(X)
    splits = plan.splits(table, labels)
    count = sum(int(np.isin(hashes[new], hashes[old]).sum()) for old, new in splits)
    judged = sum(len(new) for _, new in splits)
    if not beyond_chance(table, model.encoder.names, round(count * len(table) / judged)):
        return []
    return [
        f"{count:,} of {counted(judged, 'left-out row')} have an equal row among those that were "
        "fitted, which makes the scores too good; --group NAME keeps rows together that belong "
        "together."
    ]


def _aligned(
    P: np.ndarray | None, classes: np.ndarray | None, all_classes: np.ndarray | None
) -> np.ndarray | None:
    """Probabilities of all classes, where a split may lack some."""
    if P is None or classes is None or all_classes is None:
        return None
    place = {name: k for k, name in enumerate(as_text(all_classes))}
    found = np.zeros((len(P), len(all_classes)))
    for column, name in zip(P.T, as_text(classes), strict=True):
        if name in place:
            found[:, place[name]] = column
    return found


# ---------------------------------------------------------------------- scores
def _scores(
    model: TableModel, truth: np.ndarray, found: np.ndarray, notes: list[str]
) -> dict[str, Any]:
    if model.classes is None:
        return judge_numbers(truth, found)
    scores = judge_labels(as_text(truth), as_text(found), as_text(model.classes))
    new = scores.pop("unknown")
    if new:
        notes.append(f"The model does not know the class {listed(new)}: such rows count as wrong.")
    return scores


def score(truth: np.ndarray, found: np.ndarray) -> float:
    """Accuracy or R²."""
    if truth.dtype.kind == "f":
        return float(judge_numbers(truth, found)["r2"])
    return float(np.mean([a == b for a, b in zip(as_text(truth), as_text(found), strict=True)]))
