"""What H as row blocks promises."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn import config_context

from ulmus import RandomFeatures
from ulmus.hidden import (
    GivenRows,
    Hidden,
    Stored,
    block_rows,
    blocks_of,
    fits,
    most_rows,
    row_blocks,
    rows_at_once,
    sample_rows,
)

MEBI = 2**20


def hidden(n=23, h=7, activation="sigmoid", dtype=float):
    X = np.random.default_rng(0).standard_normal((n, 3)).astype(dtype)
    return Hidden(RandomFeatures(h, activation=activation, random_state=0).fit(X).layer(X), X)


def test_a_block_is_as_large_as_the_budget():
    assert block_rows(1024, 8) == 32 * MEBI // (8 * 1024)
    assert block_rows(1024, 8, 1024) == 32 * MEBI // (8 * 2048)
    assert block_rows(10_000, 4) == 2 * 10_000**2 // (4 * 10_000)  # a quarter of h × h float64
    with config_context(working_memory=8):
        assert block_rows(10_000, 4) == 8 * MEBI // (4 * 10_000)
        assert block_rows(10**9, 8) == 1  # one row at least


def test_a_devices_block_is_as_large_as_memory_allows_in_whole_steps():
    with config_context(working_memory=1024):
        rows = 1024 * MEBI // (4 * 1000)
        assert block_rows(1000, 4, device=True) == rows - rows % 4096
        assert block_rows(100_000, 8, device=True) == 1024 * MEBI // (8 * 100_000)  # below a step
    with config_context(working_memory=4096 * 8 / MEBI):
        assert block_rows(1, 8, device=True) == 4096


def test_what_fits_is_within_working_memory():
    with config_context(working_memory=1):
        assert most_rows(1024, 8) == 128
        assert fits(128, 1024, 8)
        assert not fits(129, 1024, 8)


def test_a_step_over_outputs_has_room_for_eight_arrays():
    assert rows_at_once(1024) == 4096
    with config_context(working_memory=1):
        assert rows_at_once(4) == MEBI // (8 * 8 * 4)
        assert rows_at_once(10**9) == 1


@pytest.mark.parametrize(("n", "size"), [(0, 3), (1, 3), (3, 3), (10, 3)])
def test_slices_cover_every_row_once(n, size):
    slices = list(row_blocks(n, size))
    assert_array_equal(np.concatenate([np.arange(n)[s] for s in slices] or [[]]), np.arange(n))
    assert all(s.stop - s.start == size for s in slices[:-1])
    assert [s.stop for s in slices[-1:]] == [n] * bool(n)
    X = np.arange(2.0 * n).reshape(n, 2)
    for rows, block in blocks_of(X, size):
        assert_array_equal(block, X[rows])


@pytest.mark.parametrize("activation", ["sigmoid", "tanh"])
def test_blocks_and_the_whole_are_the_same_rows(activation):
    H, seen = hidden(activation=activation), []
    watched = Hidden(H.layer, H.X, lambda done, total: seen.append((done, total)))
    with config_context(working_memory=5 * (7 + 3) * 8 / MEBI):
        parts = [(rows, block + H.offset) for rows, block in watched.blocks()]
    assert seen == [(5, 23), (10, 23), (15, 23), (20, 23), (23, 23)]
    for rows, block in parts:
        assert_array_equal(block, H.all()[rows])
    assert (H.offset == 0.5) == (activation == "sigmoid")
    assert (len(H), H.width, H.itemsize, H.dtype) == (23, 7, 8, np.float64)
    assert hidden(dtype=np.float32).itemsize == 4


def test_rows_are_kept_where_they_fit_and_made_again_where_not():
    H = hidden()
    kept = H.kept()
    assert isinstance(kept.layer, GivenRows)
    assert_array_equal(kept.all(), H.all())
    assert_array_equal(kept.take(np.array([3, 1])).all(), H.all()[[3, 1]])
    assert_array_equal(kept.layer.units(slice(2, 5))(kept.X), kept.X[:, 2:5])
    assert kept.layer.units(slice(2, 5)).width == 3
    block = next(kept.blocks())[1]
    block *= 2.0  # its readers scale blocks in place
    assert_array_equal(kept.all(), H.all())
    with config_context(working_memory=22 * 7 * 8 / MEBI):
        assert H.kept() is H


def test_factors_of_given_rows_multiply_their_columns():
    X, factors = np.arange(12.0).reshape(4, 3), np.array([1.0, -2.0, 0.5])
    H = Hidden(GivenRows(3, X.dtype, factors=factors), X)
    assert_array_equal(H.all(), X * factors)
    assert_array_equal(H.layer.units(slice(1, 3))(X), (X * factors)[:, 1:3])
    assert (H.width, H.offset, H.dtype) == (3, 0.0, np.float64)


def test_tiles_that_are_stored_are_the_rows_they_were_cut_from():
    H = hidden(activation="tanh")
    whole = H.all()
    stored = Stored([whole[:10].T.copy(), whole[10:20].T.copy(), whole[20:].T.copy()])
    assert (len(stored), stored.width, stored.size, stored.offset) == (23, 7, 10, 0.0)
    assert stored.dtype == np.float64
    assert_array_equal(stored.all(), whole)
    for rows, block in stored.blocks():
        assert_array_equal(block, whole[rows])
        block *= 0.0
    assert_array_equal(stored.all(), whole)
    rows = np.array([22, 0, 10, 9, 20, 0])
    assert_array_equal(stored.take(rows).all(), whole[rows])


def test_some_of_a_trillion_rows_are_drawn_without_an_array_of_all():
    rows = sample_rows(0, 1000, 10**12)
    assert len(np.unique(rows)) == 1000
    assert rows.min() >= 0
    assert 10**11 < rows.max() < 10**12
    np.testing.assert_array_equal(rows, sample_rows(0, 1000, 10**12))
    assert (rows != sample_rows(1, 1000, 10**12)).any()
