"""Where predictions fail: the worst rows, slices of the rows, and probabilities that mislead."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.stats import ttest_ind_from_stats

from ulmus.tables.assessing import Assessment
from ulmus.tables.cells import words_of
from ulmus.tables.columns import numbers_of
from ulmus.tables.encoder import as_text
from ulmus.tables.table import Table
from ulmus.validation import missing

# Rows that a slice has at least, parts of a column of numbers, columns and values that are tried.
_FEWEST, _PARTS, _COLUMNS, _VALUES = 20, 4, 100, 30
# A slice is reported if chance gives one as clear in fewer than one of twenty tables.
_CHANCE = 0.05
_BINS, _COVERAGES = 10, (0.5, 0.8, 0.9, 0.95)


def losses(found: Assessment) -> np.ndarray:
    """1 for a wrong class and 0 for a right one, or the squared error of a number."""
    if found.classes is None:
        return np.asarray((found.truth - found.found) ** 2, dtype=float)
    pairs = zip(as_text(found.truth), as_text(found.found), strict=True)
    return np.array([float(a != b) for a, b in pairs])


def worst_rows(found: Assessment, most: int) -> list[int]:
    """Places in the assessment of the rows that are most wrong, the worst first.

    Numbers go by their error, classes by how little probability the true one was given.
    """
    if found.classes is None:
        wrong = np.abs(found.truth - found.found)
    else:
        assert found.probabilities is not None
        known = np.array(as_text(found.classes))
        own = found.probabilities * (np.array(as_text(found.truth))[:, None] == known)
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
    parts = [
        np.append(part, np.concatenate([inside, outside]).mean()) for part in (inside, outside)
    ]
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
        yield from _ranges(x[rows])
        return
    words = words_of(values)[rows]
    distinct, counts = np.unique(words[~blank].astype(str), return_counts=True)
    for word in distinct[np.argsort(-counts, kind="stable")[:_VALUES]]:
        yield str(word), words == word


def _ranges(x: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Ranges of about equally many rows."""
    cuts = np.unique(np.nanquantile(x, np.linspace(0, 1, _PARTS + 1)))
    for k, (low, high) in enumerate(pairwise(cuts)):
        yield f"{low:.4g} to {high:.4g}", (x > low if k else x >= low) & (x <= high)


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
