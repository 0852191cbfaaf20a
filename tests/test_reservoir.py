"""The rows of a stream that are kept."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis.strategies import integers, lists
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context

from ulmus import reservoir
from ulmus.persistence import load, save
from ulmus.reservoir import Reservoir, most_kept

laws = settings(max_examples=30)
X = np.arange(400.0).reshape(200, 2)
Y = np.arange(200)


def parts(n, cuts):
    return np.split(np.arange(n), sorted(set(cuts)))


def assert_same(a, b):
    for name, value in vars(a).items():
        assert_array_equal(value, getattr(b, name), name)


# ---------------------------------------------------------------- what is kept
@laws
@given(seed=integers(0, 10**6), cuts=lists(integers(1, 199), max_size=5))
def test_what_is_kept_does_not_depend_on_the_batches(seed, cuts):
    weight = np.random.default_rng(seed).uniform(0.1, 3.0, 200)
    for capacity in (None, 20):
        whole = Reservoir(seed, capacity).add(X, Y, weight)
        kept = Reservoir(seed, capacity)
        for rows in parts(200, cuts):
            kept = kept.add(X[rows], Y[rows], weight[rows])
        assert_array_equal(kept.X, whole.X)
        assert_array_equal(kept.weight, whole.weight)
        assert kept.threshold == whole.threshold
        assert (kept.seen, len(kept)) == (200, capacity or 200)
        assert kept.complete == (capacity is None)
        assert_array_equal(kept.X[:, 0] / 2, kept.y)  # rows and targets stay together
        assert_array_equal(kept.y, np.sort(kept.y))  # and in their order


def test_many_rows_are_drawn_a_step_at_a_time(monkeypatch):
    whole = Reservoir(0, 30).add(X, Y)
    monkeypatch.setattr(reservoir, "_STEP", 17)
    assert_same(Reservoir(0, 30).add(X, Y), whole)


def test_a_limit_that_comes_later_keeps_the_same_rows():
    late = Reservoir(0).add(X, Y)
    assert late.complete
    assert_same(late.limited(30), Reservoir(0, 30).add(X, Y))
    assert late.limited(200).complete


def included(make, rows=200, runs=1500):
    """How often each row is kept."""
    count = np.zeros(rows)
    for seed in range(runs):
        count[make(seed).y] += 1
    return count / runs


def test_rows_of_one_weight_are_kept_alike():
    rate = included(lambda seed: Reservoir(seed, 20).add(X, Y))
    assert_allclose(rate, 0.1, atol=5 * np.sqrt(0.09 / 1500))


def test_heavy_rows_are_kept_as_often_as_they_weigh_and_their_odds_make_up_for_it():
    weight, total = np.repeat([1.0, 4.0], 100), np.zeros(2)

    def make(seed):
        kept = Reservoir(seed, 10).add(X, Y, weight)
        share = 1.0 / (1.0 - np.exp(-kept.weight * kept.threshold))
        if kept.odds() is not None:
            assert_allclose(kept.odds(), share / share.mean())
        share *= kept.weight
        total[:] += share[kept.y < 100].sum(), share[kept.y >= 100].sum()
        return kept

    rate = included(make)
    assert_allclose(rate[100:].mean() / rate[:100].mean(), 4.0, rtol=0.1)
    # So weighted, the rows that are kept stand for all.
    assert_allclose(total / 1500, [100.0, 400.0], rtol=0.1)


def test_a_sample_has_parts_that_add_to_one():
    for kept in (Reservoir(0).add(X, Y), Reservoir(0, 20).add(X, Y, 1.0 + Y)):
        rows, share = kept.sample()
        assert rows is kept.X
        assert_allclose(share.sum(), 1.0)
        expected = kept.weight if kept.complete else kept.weight * kept.odds()
        assert_allclose(share, expected / expected.sum())


def test_faded_rows_give_way():
    def make(seed):
        kept = Reservoir(seed, 20).add(X[:100], Y[:100]).faded(0.25)
        assert len(kept.limited(20)) == 20  # the threshold grows with the keys
        return kept.add(X[100:], Y[100:])

    rate = included(make)
    assert_allclose(rate[100:].mean() / rate[:100].mean(), 4.0, rtol=0.15)
    weighted = included(lambda seed: Reservoir(seed, 20).add(X, Y, np.repeat([0.25, 1.0], 100)))
    assert_allclose(rate, weighted, atol=5 * np.sqrt(2 * 0.16 / 1500))


def test_rows_that_were_forgotten_leave_a_fair_sample():
    def make(seed):
        kept = Reservoir(seed, 20).add(X[:100], Y[:100])
        kept = kept.without(X[:50], Y[:50])[0]
        assert not kept.complete
        return kept.add(X[100:120], Y[100:120])  # too few to fill the room that is left

    rate = included(make)
    assert not rate[:50].any()
    assert_allclose(rate[50:100].mean(), rate[100:120].mean(), rtol=0.05)


def test_a_sample_of_a_larger_population_goes_on_fairly():
    def make(seed):
        drawn = np.sort(np.random.default_rng(seed).permutation(100)[:40])
        kept = Reservoir(seed, 20).add(X[drawn], Y[drawn], None, 100)
        assert kept.seen == 100
        assert not kept.complete
        return kept.add(X[100:], Y[100:])

    rate = included(make)
    assert_allclose(rate[:100].mean(), rate[100:].mean(), rtol=0.05)
    few = Reservoir(0, 100).add(X[:40], Y[:40], None, 100)
    assert not few.complete
    assert Reservoir(0, 100).add(X[:40], Y[:40], None, 40).complete


def test_rows_that_faded_out_are_let_go():
    kept = Reservoir(0).add(X[:50], Y[:50])
    for _ in range(60):
        kept = kept.faded(0.5).add(X[50:51], Y[50:51])
    assert kept.complete
    assert len(kept) < 60
    assert kept.weight.min() > 1e-17


# ---------------------------------------------------------------- what is forgotten
def test_rows_are_found_by_their_values_target_and_weight():
    kept = Reservoir(0).add(X[:5], Y[:5], np.array([1.0, 2.0, 1.0, 1.0, 1.0]))
    left, missing = kept.without(X[[1, 3]], Y[[1, 3]])
    assert missing == 0
    assert_array_equal(left.y, [0, 1, 2, 4])
    assert_array_equal(left.weight, [1, 1, 1, 1])
    assert kept.without(X[[1]], Y[[2]])[1] == 1
    assert kept.without(X[[7]], Y[[1]])[1] == 1
    assert kept.without(X[[1]], Y[[1]], np.array([3.0]))[1] == 1
    assert kept.without(X[[0, 0]], Y[[0, 0]])[1] == 1
    assert_array_equal(kept.weight, [1, 2, 1, 1, 1])  # it stays as it is


def test_equal_rows_go_one_by_one_the_last_first():
    twice = np.concatenate([X[:3], X[:3]])
    kept = Reservoir(0).add(twice, Y[[0, 1, 2, 0, 1, 2]])
    left, missing = kept.without(X[[0]], Y[[0]])
    assert (missing, left.y.tolist()) == (0, [0, 1, 2, 1, 2])
    left, missing = kept.without(X[[0]], Y[[0]], np.array([2.0]))
    assert (missing, left.y.tolist()) == (0, [1, 2, 1, 2])


def test_a_row_is_the_same_row_in_every_form():
    rows = np.array([[0.0, 1.5], [2.0, 0.0]])
    forms = [rows, -0.0 + rows, rows.astype(np.float32), sp.csr_array(rows), sp.csc_matrix(rows)]
    forms.append(np.where(rows == 0, -0.0, rows))
    for mine in forms:
        for yours in forms:
            kept = Reservoir(0).add(mine, np.array(["a", "b"]))
            left, missing = kept.without(yours[[1]], np.array(["b"], dtype=object))
            assert (len(left), missing) == (1, 0)
    values = Reservoir(0).add(rows, np.array([[1.0, 2.0], [3.0, 4.0]]))
    assert values.without(rows, np.array([[1.0, 2.0], [3.0, 5.0]]))[1] == 1


# ---------------------------------------------------------------- what the rows are made of
def test_what_is_kept_is_a_copy():
    mine = X.copy()
    for kept in (Reservoir(0).add(mine, Y), Reservoir(0, 20).add(mine, Y)):
        before = kept.X.copy()
        mine[:] = 0
        assert_array_equal(kept.X, before)
        mine[:] = X


def test_later_rows_become_what_the_first_are():
    rows = sp.csr_array(X)
    thin = Reservoir(0).add(rows[:100], Y[:100]).add(X[100:], Y[100:])
    assert sp.issparse(thin.X)
    full = Reservoir(0).add(X[:100], Y[:100]).add(rows[100:], Y[100:])
    assert_array_equal(thin.X.toarray(), full.X)
    narrow = Reservoir(0).add(X[:100].astype(np.float32), Y[:100]).add(X[100:], Y[100:])
    assert narrow.X.dtype == float
    foreign = Reservoir(0).add(X.astype(">f8"), Y.astype(">i8"))
    assert foreign.X.dtype.isnative
    assert foreign.y.dtype.isnative


def test_labels_of_two_kinds_are_not_made_one():
    kept = Reservoir(0).add(X[:2], np.array([0, 1])).add(X[2:4], np.array(["0", "1"]))
    assert kept.y.tolist() == [0, 1, "0", "1"]


def test_a_memory_map_is_read_into_memory(tmp_path):
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    for capacity in (None, 20):
        kept = Reservoir(0, capacity).add(mapped, Y)
        assert type(kept.X) is np.ndarray
        assert_same(kept, Reservoir(0, capacity).add(X, Y))


# ---------------------------------------------------------------- how many
def test_as_many_rows_as_units_are_kept_within_the_memory_there_is():
    assert most_kept(10, X) == 1000
    assert most_kept(5000, X) == 5000
    wide = np.zeros((3, 10**5))
    with config_context(working_memory=8):
        assert most_kept(5000, wide) == 10
        assert most_kept(5000, sp.csr_array(wide)) == 5000
    with config_context(working_memory=0):
        assert most_kept(5000, wide) == 1


def test_c_is_chosen_again_when_a_twentieth_of_the_weight_is_new():
    kept = Reservoir(0).add(X[:100], Y[:100])
    assert kept.stale
    kept = kept.judged()
    assert not kept.stale
    assert not kept.add(X[:5], Y[:5]).stale
    assert kept.add(X[:6], Y[:6]).stale
    assert kept.without(X[:6], Y[:6])[0].stale
    assert kept.faded(0.5).add(X[:3], Y[:3]).stale


def test_it_says_how_many_it_holds():
    assert repr(Reservoir(0, 20).add(X, Y)) == "Reservoir(20 of 200 rows)"


@pytest.mark.parametrize("kind", [bool, np.uint8, np.int64, np.float16, np.float32, np.longdouble])
def test_rows_of_every_type_can_be_saved(kind, tmp_path):
    few = X[:9] // 2
    targets = [Y[:9], few[:, 0], few, Y[:9].astype(str), np.array([0, "a"] * 5, dtype=object)[:9]]
    rows = [few.astype(kind)]
    rows += [sp.csr_array(rows[0])] if kind is not np.float16 else []  # SciPy has none
    for x in rows:
        for y in targets:
            for kept in (Reservoir(0).add(x, y), Reservoir(0, 4).add(x, y)):
                save(kept, tmp_path / "kept")
                same = load(tmp_path / "kept")
                assert (len(same), same.threshold) == (len(kept), kept.threshold)
