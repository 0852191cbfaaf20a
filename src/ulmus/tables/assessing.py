"""How good a model is on rows whose target is known, or models like it on rows they did not see."""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.metrics import confusion_matrix, precision_recall_fscore_support
from sklearn.model_selection import GroupKFold, GroupShuffleSplit

from ulmus.arguments import counted, hint, listed
from ulmus.exceptions import InvalidInputError
from ulmus.tables.cells import words_of
from ulmus.tables.fitting import fit_table
from ulmus.tables.kinds import Target, as_text, numbers_of, read_target
from ulmus.tables.suspicions import beyond_chance, row_hashes, with_target
from ulmus.tables.table import Table
from ulmus.tables.table_model import TableModel
from ulmus.typing import Rows

# Up to so many rows, and cells of their matrix, five folds take seconds.
_FEW_ROWS, _FEW_CELLS = 1000, 200_000
# Rows that equal fitted ones by chance are at most this much more than copies among those.
_BY_CHANCE = 0.1

# Rows to fit, rows to judge.
Split = tuple[np.ndarray, np.ndarray]
Watch = Callable[[str], None]


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

    ``rows`` are places in the table, ``truth`` and ``found`` numbers or names of ``classes``, of
    which each has a column of ``probabilities``, ``scores`` is what `judge_labels` or
    `judge_numbers` gives, ``fold_scores`` the accuracy or R² of each split, ``parts`` the model and
    the tables of each, in the order of ``rows``. ``known_share`` of the rows were fitted.
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


@dataclass(frozen=True)
class Plan:
    """How rows are split: ``holdout`` is a share of them, ``folds`` a number, one of them None.

    ``time`` and ``group`` are columns: later rows are judged by models of earlier ones, and rows of
    one group are never on both sides.
    """

    holdout: float | None = None
    folds: int | None = None
    time: str | None = None
    group: str | None = None
    seed: int = 0

    def splits(self, table: Table, labels: np.ndarray | None) -> list[Split]:
        """The splits of a table; every side has its share of each of the labels."""
        parts, n = self.folds or 2, len(table)
        if n < 2 * parts:
            few = f"{counted(n, 'row')} are too few for {parts} parts"
            raise InvalidInputError(f"{few}; give fewer --folds, or more rows.")
        if self.time is not None:
            return self._by_time(_moments(table, self.time))
        if self.group is not None:
            return self._by_group(np.array([w or "" for w in words_of(table[self.group])]))
        order = np.random.default_rng(self.seed).permutation(n)
        if labels is not None:
            order = order[np.argsort(labels[order], kind="stable")]
        places = np.arange(n)
        if self.folds is not None:
            folds = [order[places % self.folds == k] for k in range(self.folds)]
        else:
            share = self.holdout or 0.0
            folds = [order[np.floor((places + 1) * share) > np.floor(places * share)]]
        if not min(map(len, folds)):
            raise InvalidInputError(
                f"--holdout {self.holdout:g} of {counted(n, 'row')} is less than one; give more."
            )
        return [(np.delete(places, fold), np.sort(fold)) for fold in folds]

    def _by_time(self, moments: np.ndarray) -> list[Split]:
        shares = np.arange(1, (self.folds or 0) + 1) / ((self.folds or 0) + 1)
        shares = shares if self.folds else np.array([1 - (self.holdout or 0.0)])
        cuts = [*np.quantile(moments, shares, method="lower"), np.inf]
        found = [
            (np.flatnonzero(moments <= a), np.flatnonzero((moments > a) & (moments <= b)))
            for a, b in pairwise(cuts)
        ]
        found = [(old, new) for old, new in found if len(old) and len(new)]
        if not found:
            raise InvalidInputError(
                f"--time {self.time}: no rows are later than the others, so none can be held out."
            )
        return found

    def _by_group(self, groups: np.ndarray) -> list[Split]:
        count, needed = len(np.unique(groups)), self.folds or 2
        if count < needed:
            fewer = f"; give --folds {count}" if count > 1 else ""
            raise InvalidInputError(
                f"--group {self.group} has {counted(count, 'group')}, and at least {needed} are "
                f"needed{fewer}."
            )
        if self.folds is not None:
            way = GroupKFold(self.folds, shuffle=True, random_state=self.seed)
        else:
            way = GroupShuffleSplit(1, test_size=self.holdout, random_state=self.seed)
        return list(way.split(groups, groups=groups))


def _moments(table: Table, name: str) -> np.ndarray:
    """A column of dates or numbers, in days or as they are."""
    found = numbers_of(name, table[name], table.decimal_comma)
    if found is None:
        raise InvalidInputError(f"--time {name} holds neither dates nor numbers.")
    blank = int(np.isnan(found[0]).sum())
    if blank:
        what = counted(blank, "missing value")
        raise InvalidInputError(f"--time {name} has {what}; fill them in, or take the rows out.")
    return found[0]


# ---------------------------------------------------------------------- judging
def assess(
    model: TableModel, table: Table, plan: Plan | None = None, watch: Watch = lambda _: None
) -> Assessment:
    """Judge a model on a table; with a plan, models that are fitted as it was to other rows of it.

    Examples
    --------
    >>> import numpy as np
    >>> from ulmus.tables import Table, fit_table
    >>> from ulmus.tables.assessing import Plan, assess
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
    X, truth = model.matrix(judged), comparable(goal.values[known])
    if plan is None:
        parts = [Judged(model, None, judged, np.arange(len(known)), *model.labelled(X))]
        notes += model.encoder.met
        share = model.known_share(X)
    else:
        splits = plan.splits(judged, None if model.classes is None else truth)
        parts = _left_out(model, table, goal, plan.group, splits, watch)
        widths = [] if model.encoder.width else model.encoder.widths
        notes += _copied(*with_target(X, truth, widths), splits)
        share = None
    places = np.concatenate([part.places for part in parts])
    found = comparable(np.concatenate([part.found for part in parts]))
    P = [part.probabilities for part in parts if part.probabilities is not None]
    classes = None if model.classes is None else comparable(model.classes)
    if classes is None:
        scores = judge_numbers(truth[places], found)
    else:
        scores = judge_labels(truth[places], found, classes)
        new = scores.pop("unknown")
        if new:
            words = f"The model does not know the class {listed(new)}"
            notes.append(f"{words}: such rows count as wrong.")
    each = [score(truth[part.places], comparable(part.found)) for part in parts]
    return Assessment(
        known[places], truth[places], found, np.vstack(P) if P else None, classes, scores, each,
        share, tuple(notes), tuple(parts),
    )  # fmt: skip


def judge_by_folds(model: TableModel, table: Table, watch: Watch = lambda _: None) -> None:
    """Put the score of five folds into the summary of a model of few rows, where it is cheap.

    All that is chosen is chosen again in each fold: the leave-one-out score is that of the best of
    many candidates, so it is too good, by 4 points of 100 at 400 rows of pure noise and by 1 or 2
    from 1000 on (python -m benchmarks folds). More rows, and classes too small to be split, keep
    the leave-one-out score.
    """
    if not len(table) <= _FEW_ROWS or len(table) * sum(model.encoder.widths) > _FEW_CELLS:
        return
    start = time.perf_counter()
    with suppress(InvalidInputError):  # rows or classes that are too few to be split
        found = assess(model, table, Plan(folds=5, seed=model.summary["seed"]), watch).scores
        model.summary["folds_score"] = found["r2" if model.classes is None else "accuracy"]
    seconds = model.summary["seconds"] + time.perf_counter() - start
    model.summary["seconds"] = round(seconds, 2)


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


def _left_out(
    model: TableModel,
    table: Table,
    goal: Target,
    group: str | None,
    splits: list[Split],
    watch: Watch,
) -> list[Judged]:
    """A model of the other rows for each split, and what it predicts."""
    known, unknown = np.flatnonzero(goal.known), np.flatnonzero(~goal.known)
    # With the columns that the model was given, and without the one of the groups.
    given = {*model.encoder.names, *model.encoder.dropped, model.target} - {group}
    for name in set(table.names) - given if table.matrix is None else ():
        table = table.without(name)
    semi, parts = model.summary["semi_supervised"], []
    settings: dict[str, Any] = {
        "target": model.target if model.target in table.names else None,
        "task": model.task,
        "kinds": {k: v for k, v in model.encoder.given.items() if k in table.names},
        "unlabelled_blank": semi,
        "seed": model.summary["seed"],
    }
    for k, (old, new) in enumerate(splits, 1):
        watch(f"fit {k} of {len(splits)}" if len(splits) > 1 else "fit")
        rows = np.sort(np.concatenate([known[old], unknown])) if semi else known[old]
        other = fit_table(table.rows(rows), **settings)
        fitted, judged = table.rows(known[old]), table.rows(known[new])
        found, P = other.labelled(other.matrix(judged))
        if P is not None and model.classes is not None and other.classes is not None:
            # Probabilities of all classes, where a split may lack some.
            P = P @ (comparable(other.classes)[:, None] == comparable(model.classes))
        parts.append(Judged(other, fitted, judged, new, found, P))
    return parts


def _copied(X: Rows, widths: list[int], splits: list[Split]) -> list[str]:
    """A sentence about rows that have a copy on the other side of a split."""
    hashes = row_hashes(X)
    count = sum(int(np.isin(hashes[new], hashes[old]).sum()) for old, new in splits)
    judged = sum(len(new) for _, new in splits)
    if not beyond_chance(X, widths, round(count * len(hashes) / judged)):
        return []
    return [
        f"{count:,} of {counted(judged, 'left-out row')} have an equal row among those that were "
        "fitted, which makes the scores too good; --group NAME keeps rows together that belong "
        "together."
    ]


# ---------------------------------------------------------------------- scores
def comparable(values: np.ndarray) -> np.ndarray:
    """Labels of any kind as text, numbers as they are."""
    return values if values.dtype.kind == "f" else np.array(as_text(values), dtype=str)


def score(truth: np.ndarray, found: np.ndarray) -> float:
    """Accuracy or R²."""
    if truth.dtype.kind == "f":
        return float(judge_numbers(truth, found)["r2"])
    return float(np.mean(truth == found))


def judge_labels(truth: np.ndarray, found: np.ndarray, classes: np.ndarray) -> dict[str, Any]:
    """Accuracy, precision and recall of each class, and the confusion matrix, as plain data.

    Classes of the truth that are not among ``classes`` come last, and are listed under "unknown"
    too. The baseline is the majority class.
    """
    unknown = np.setdiff1d(truth, classes).tolist()
    if len(unknown) == len(np.unique(truth)):
        raise InvalidInputError(
            f"None of the file's classes ({', '.join(unknown[:3])}) is one that the model knows "
            f"({', '.join(classes[:3])}); they are not of the same data."
        )
    names = [*map(str, classes), *unknown]
    square = confusion_matrix(truth, found, labels=names)
    precision, recall, f1, _ = precision_recall_fscore_support(
        truth, found, labels=names, zero_division=0
    )
    rows = square.sum(axis=1)
    columns = {"rows": rows, "precision": precision, "recall": recall, "f1": f1}
    return {
        "accuracy": float(np.trace(square) / len(truth)),
        "balanced_accuracy": float(recall[rows > 0].mean()),
        "baseline": {"accuracy": float(rows.max() / len(truth))},
        "classes": {
            name: {measure: values[k].item() for measure, values in columns.items()}
            for k, name in enumerate(names)
        },
        "confusion": square.tolist(),
        "unknown": unknown,
    }


def mistakes(scores: dict[str, Any], most: int) -> list[tuple[str, str, int]]:
    """The most frequent pairs of a true and another predicted class; none of numbers."""
    names, counts = list(scores.get("classes", ())), np.array(scores.get("confusion", [[]]))
    np.fill_diagonal(counts, 0)
    order = np.argsort(-counts, axis=None, kind="stable")[:most]
    pairs = [divmod(int(place), len(names)) for place in order if counts.flat[place]]
    return [(names[i], names[j], int(counts[i, j])) for i, j in pairs]


def judge_numbers(truth: np.ndarray, found: np.ndarray) -> dict[str, Any]:
    """R², mean absolute and root mean squared error, as plain data; the baseline is the mean."""
    error, spread = truth - found, truth - truth.mean()
    total = float(np.mean(spread**2))
    return {
        "r2": 1.0 - float(np.mean(error**2)) / total if total else float(not error.any()),
        "mae": float(np.mean(np.abs(error))),
        "rmse": float(np.sqrt(np.mean(error**2))),
        "baseline": {"mae": float(np.mean(np.abs(spread))), "rmse": float(np.sqrt(total))},
    }


def score_words(summary: dict[str, Any]) -> tuple[str, str]:
    """How the rows of a model's score were left out, and the score beside the baseline's.

    Examples
    --------
    >>> score_words({"folds_score": 0.91, "loo_measure": "accuracy", "baseline": 0.5})
    ('five folds', 'accuracy 91.0% on left-out rows; the majority class has 50.0%')
    >>> score_words({"folds_score": -0.1, "loo_measure": "R²", "baseline": 0.0})
    ('five folds', 'R² = -0.100 on left-out rows, no better than the mean')
    """
    how, score = "five folds", summary["folds_score"]
    if score is None:
        how, score = "leave-one-out", summary["loo_score"]
    if score is None:
        return how, "not known"
    better = score > summary["baseline"]
    if summary["loo_measure"] == "accuracy":
        majority = f"{summary['baseline']:.1%}"
        beside = "; the majority class has" if better else ", no better than the majority class:"
        return how, f"accuracy {score:.1%} on left-out rows{beside} {majority}"
    beside = "; the mean has 0" if better else ", no better than the mean"
    return how, f"R² = {score:.3f} on left-out rows{beside}"
