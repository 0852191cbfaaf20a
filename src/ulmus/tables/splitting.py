"""Rows to fit and rows to judge: a part held out, folds, by time or by groups."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from sklearn.model_selection import GroupKFold, GroupShuffleSplit

from ulmus.arguments import counted
from ulmus.exceptions import InvalidInputError
from ulmus.tables.cells import words_of
from ulmus.tables.columns import numbers_of
from ulmus.tables.table import Table

# Rows to fit, rows to judge.
Split = tuple[np.ndarray, np.ndarray]


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
            raise InvalidInputError(f"{counted(n, 'row')} are too few for {parts} parts.")
        if self.time is not None:
            return self._by_time(_moments(table, self.time))
        if self.group is not None:
            return self._by_group(_groups(table, self.group))
        order = np.random.default_rng(self.seed).permutation(n)
        if labels is not None:
            order = order[np.argsort(labels[order], kind="stable")]
        places = np.arange(n)
        if self.folds is not None:
            folds = [order[places % self.folds == k] for k in range(self.folds)]
        else:
            share = self.holdout or 0.0
            folds = [order[np.floor((places + 1) * share) > np.floor(places * share)]]
        return [_apart(n, np.sort(fold)) for fold in folds]

    def _by_time(self, moments: np.ndarray) -> list[Split]:
        if self.folds is None:
            cuts = [np.quantile(moments, 1 - (self.holdout or 0.0), method="lower"), np.inf]
        else:
            shares = np.arange(1, self.folds + 2) / (self.folds + 1)
            cuts = [*np.quantile(moments, shares[:-1], method="lower"), np.inf]
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
        count = len(np.unique(groups))
        if count < (self.folds or 2):
            raise InvalidInputError(
                f"--group {self.group} has {counted(count, 'group')}; at least "
                f"{self.folds or 2} are needed."
            )
        if self.folds is not None:
            way = GroupKFold(self.folds, shuffle=True, random_state=self.seed)
        else:
            way = GroupShuffleSplit(1, test_size=self.holdout, random_state=self.seed)
        return list(way.split(groups, groups=groups))


def _apart(n: int, held: np.ndarray) -> Split:
    return np.delete(np.arange(n), held), held


def _moments(table: Table, name: str) -> np.ndarray:
    """A column of dates or numbers, in days or as they are."""
    found = numbers_of(name, table[name], table.decimal_comma)
    if found is None:
        raise InvalidInputError(f"--time {name} holds neither dates nor numbers.")
    x = found[0]
    if np.isnan(x).any():
        blank = counted(int(np.isnan(x).sum()), "missing value")
        raise InvalidInputError(f"--time {name} has {blank}; fill them in, or take the rows out.")
    return x


def _groups(table: Table, name: str) -> np.ndarray:
    words = ["" if word is None else word for word in words_of(table[name])]
    return np.unique(words, return_inverse=True)[1]
