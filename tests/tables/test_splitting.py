"""Splits: every row on one side, shares as asked for, no group and no later row on both."""

import numpy as np
import pytest

from ulmus.exceptions import InvalidInputError
from ulmus.tables import Table
from ulmus.tables.assessing import Plan

N = 60
LABELS = np.array(["a"] * 40 + ["b"] * 19 + ["c"])


def table():
    rng = np.random.default_rng(0)
    day = np.array([f"2020-{1 + k // 28:02}-{1 + k % 28:02}" for k in rng.permutation(N)], object)
    who = np.array([f"p{k % 7}" for k in range(N)], dtype=object)
    return Table(("day", "who", "x"), {"day": day, "who": who, "x": np.arange(N) / 3})


@pytest.mark.parametrize("how", [{}, {"group": "who"}])
def test_folds_hold_each_row_out_once(how):
    splits = Plan(folds=5, **how).splits(table(), LABELS)
    assert len(splits) == 5
    assert sorted(np.concatenate([new for _, new in splits])) == list(range(N))
    for old, new in splits:
        assert sorted([*old, *new]) == list(range(N))


@pytest.mark.parametrize("share", [0.1, 0.25, 0.5])
def test_a_part_held_out_has_its_share_of_each_class(share):
    ((old, new),) = Plan(holdout=share).splits(table(), LABELS)
    assert len(new) == int(share * N)
    for label, count in (("a", 40), ("b", 19)):
        assert abs((LABELS[new] == label).sum() - share * count) <= 1
    assert not set(old) & set(new)


@pytest.mark.parametrize("how", [{"holdout": 0.3}, {"folds": 4}])
def test_groups_are_on_one_side(how):
    data = table()
    for old, new in Plan(group="who", **how).splits(data, LABELS):
        assert len(new)
        assert not set(data["who"][old]) & set(data["who"][new])


@pytest.mark.parametrize("how", [{"holdout": 0.3}, {"folds": 4}])
def test_rows_held_out_are_later(how):
    data = table()
    splits = Plan(time="day", **how).splits(data, LABELS)
    assert len(splits) == how.get("folds", 1)
    for old, new in splits:
        assert max(data["day"][old]) < min(data["day"][new])
    assert len(splits[-1][1]) == pytest.approx(0.3 * N if "holdout" in how else N / 5, abs=1)


def test_another_seed_is_another_split():
    one, two = (Plan(holdout=0.5, seed=seed).splits(table(), None)[0][1] for seed in (0, 1))
    assert set(one) != set(two)


def test_what_cannot_be_split():
    data = table()
    with pytest.raises(InvalidInputError, match="--time who holds neither dates nor numbers"):
        Plan(holdout=0.2, time="who").splits(data, None)
    with pytest.raises(
        InvalidInputError, match="has 7 groups, and at least 8 are needed; give --folds 7"
    ):
        Plan(folds=8, group="who").splits(data, None)
    with pytest.raises(InvalidInputError, match="60 rows are too few for 31 parts"):
        Plan(folds=31).splits(data, None)
    same = Table(("t", "x"), {"t": np.ones(9), "x": np.arange(9.0)})
    with pytest.raises(InvalidInputError, match="no rows are later"):
        Plan(holdout=0.2, time="t").splits(same, None)
    gap = Table(("t",), {"t": np.array([1, 2, 3, np.nan])})
    with pytest.raises(InvalidInputError, match="1 missing value"):
        Plan(holdout=0.2, time="t").splits(gap, None)
