"""What a report says beside the scores: baselines, the worst rows, slices, and calibration."""

import warnings
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse
from scipy.stats import ttest_ind_from_stats
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ulmus.arguments import counted, figure
from ulmus.tables.assessing import Assessment, Judged, Watch, comparable, score, truth_of
from ulmus.tables.cells import words_of
from ulmus.tables.kinds import numbers_of
from ulmus.tables.table import Table
from ulmus.validation import missing

# Cells of a matrix, times classes, that boosting is given: a minute on one core.
_MOST_CELLS = 50_000_000
# Rows that a slice has at least, parts of a column of numbers, columns and values that are tried.
_FEWEST, _PARTS, _COLUMNS, _VALUES = 20, 4, 100, 30
# A slice is reported if chance gives one as clear in fewer than one of twenty tables.
_CHANCE = 0.05
_BINS, _COVERAGES = 10, (0.5, 0.8, 0.9, 0.95)


# ---------------------------------------------------------------------- baselines
def baselines(found: Assessment, watch: Watch = lambda _: None) -> list[dict[str, Any]]:
    """Accuracy or R² of each baseline on the rows of each split, and why one was left out.

    They are fitted to the same rows of each split as the model is, in the same encoding.
    """
    names = ("majority class" if found.classes is not None else "mean", "linear", "boosting")
    scores: dict[str, list[float]] = {name: [] for name in names}
    skipped: dict[str, str] = {}
    for k, part in enumerate(found.parts, 1):
        for name in names:
            watch(f"{name}, fit {k} of {len(found.parts)}")
            outcome = _outcome(name, part)
            if isinstance(outcome, str):
                skipped[name] = outcome
            else:
                scores[name].append(outcome)
    return [{"name": name, "scores": scores[name], "skipped": skipped.get(name)} for name in names]


def _outcome(name: str, part: Judged) -> float | str:
    """The score of a baseline, or why it was not fitted."""
    assert part.fitted is not None
    X, Z = part.model.matrix(part.fitted), part.model.matrix(part.table)
    y, truth = (
        comparable(truth_of(part.model, table).values) for table in (part.fitted, part.table)
    )
    classes = part.model.classes
    if name == "boosting":
        cells = X.shape[0] * X.shape[1] * (1 if classes is None else max(1, len(classes) - 1))
        if cells > _MOST_CELLS:
            return f"too slow for {counted(X.shape[0], 'row')} of {X.shape[1]:,} features"
        X, Z = (M.toarray() if sparse.issparse(M) else M for M in (X, Z))
    with warnings.catch_warnings():
        # A linear model that has not quite converged is a baseline all the same.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = _baseline(name, classes is not None, sparse.issparse(X)).fit(X, y)
    return score(truth, model.predict(Z))


def _baseline(name: str, classify: bool, wide: bool) -> Any:
    if name == "boosting":
        boosting = HistGradientBoostingClassifier if classify else HistGradientBoostingRegressor
        return boosting(random_state=0)
    if name == "linear":
        last = LogisticRegression(max_iter=500) if classify else RidgeCV(np.logspace(-3, 4, 15))
        return make_pipeline(StandardScaler(with_mean=not wide), last)
    return DummyClassifier() if classify else DummyRegressor()


# ---------------------------------------------------------------------- worst rows
def losses(found: Assessment) -> np.ndarray:
    """1 for a wrong class and 0 for a right one, or the squared error of a number."""
    if found.classes is None:
        return np.asarray((found.truth - found.found) ** 2, dtype=float)
    return np.asarray(found.truth != found.found, dtype=float)


def worst_rows(found: Assessment, most: int) -> list[int]:
    """Places in the assessment of the rows that are most wrong, the worst first.

    Numbers go by their error, classes by how little probability the true one was given.
    """
    if found.classes is None:
        wrong = np.abs(found.truth - found.found)
    else:
        assert found.probabilities is not None
        own = found.probabilities * (found.truth[:, None] == found.classes)
        wrong = np.where(losses(found) > 0, 1 - own.sum(axis=1), 0)
    order = np.argsort(-wrong, kind="stable")[:most]
    return [int(place) for place in order if wrong[place] > 0]


# ---------------------------------------------------------------------- slices
def slices(found: Assessment, table: Table, skip: Sequence[str] = ()) -> dict[str, Any]:
    """Groups of rows by the value of one column that are predicted worse than the others.

    ``tried`` is how many there were; of those, the ones whose loss is larger by more than chance
    explains (Welch's test, Bonferroni over all that were tried) are under ``worse``, the clearest
    first, with their rows and losses.
    """
    loss = losses(found)
    tried, worse = 0, []
    names = [name for name in table.names if name not in skip][:_COLUMNS]
    for name in names if table.matrix is None else ():
        for words, inside in _groups(name, table, found.rows):
            if not _FEWEST <= inside.sum() <= len(loss) - _FEWEST:
                continue
            tried += 1
            chance = _chance(loss[inside], loss[~inside])
            worse.append((chance, name, words, int(inside.sum()), float(loss[inside].mean())))
    kept = sorted(group for group in worse if group[0] * tried < _CHANCE)
    keys = ("chance", "column", "value", "rows", "loss")
    return {
        "tried": tried,
        "loss": float(loss.mean()),
        "worse": [dict(zip(keys, group, strict=True)) for group in kept],
    }


def _chance(inside: np.ndarray, outside: np.ndarray) -> float:
    """How often equal groups differ so much by chance."""
    # One loss more on each side: a group without any spread is no proof.
    mean = np.concatenate([inside, outside]).mean()
    parts = [np.append(part, mean) for part in (inside, outside)]
    if not any(part.std() for part in parts):
        return 1.0
    sums = [value for part in parts for value in (part.mean(), part.std(ddof=1), len(part))]
    return float(ttest_ind_from_stats(*sums, equal_var=False, alternative="greater").pvalue)


def _groups(name: str, table: Table, rows: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Words for each group of a column, and which rows are in it."""
    values = table[name]
    blank = missing(values)[rows]
    if blank.any():
        yield "missing", blank
    found = numbers_of(name, values, table.decimal_comma)
    x = np.zeros(0) if found is None or found[1] == "date" else found[0]
    if len(np.unique(x[np.isfinite(x)])) > _VALUES:
        # Ranges of about equally many rows.
        x = x[rows]
        cuts = np.unique(np.nanquantile(x, np.linspace(0, 1, _PARTS + 1)))
        for k, (low, high) in enumerate(pairwise(cuts)):
            yield (
                f"{figure(low, 4)} to {figure(high, 4)}",
                (x > low if k else x >= low) & (x <= high),
            )
        return
    words = words_of(values)[rows]
    distinct, counts = np.unique(words[~blank].astype(str), return_counts=True)
    for word in distinct[np.argsort(-counts, kind="stable")[:_VALUES]]:
        yield str(word), words == word


# ---------------------------------------------------------------------- calibration
def calibration(found: Assessment) -> dict[str, Any]:
    """How far probabilities are from frequencies, or how many numbers lie in their intervals.

    For classes, ``points`` has the mean probability of the predicted class, how often it was right,
    and the rows, of up to ten groups of equally many rows; ``gap`` is the mean distance of the two.
    For numbers, the wanted and the found coverage of intervals, where a model has any.
    """
    if found.classes is None:
        return {"points": _coverages(found), "gap": None}
    assert found.probabilities is not None
    sure, right = found.probabilities.max(axis=1), 1 - losses(found)
    groups = np.array_split(np.argsort(sure, kind="stable"), min(_BINS, max(1, len(sure) // 10)))
    points = [(float(sure[g].mean()), float(right[g].mean()), len(g)) for g in groups]
    gap = sum(abs(p - share) * n for p, share, n in points) / len(sure)
    return {"points": points, "gap": float(gap)}


def _coverages(found: Assessment) -> list[tuple[float, float, int]]:
    if not all(hasattr(part.model.estimator, "predict_interval") for part in found.parts):
        return []
    held = dict.fromkeys(_COVERAGES, 0)
    start = 0
    for part in found.parts:
        X, truth = part.model.matrix(part.table), found.truth[start : start + len(part.places)]
        start += len(part.places)
        for coverage in _COVERAGES:
            ends = np.asarray(part.model.estimator.predict_interval(X, coverage=coverage))
            held[coverage] += int(((truth >= ends[:, 0]) & (truth <= ends[:, 1])).sum())
    return [(coverage, held[coverage] / start, start) for coverage in _COVERAGES]
