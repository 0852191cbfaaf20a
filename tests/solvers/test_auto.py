"""Which solver is taken, which rows are left out, and which C are tried."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from laws.problems import make_problem
from ulmus.solvers import auto
from ulmus.solvers.auto import DEFAULT_GRID, calibration_rows, left_out_rows, solve


def test_the_grid_has_25_values_half_a_decade_apart():
    assert len(DEFAULT_GRID) == 25
    assert_allclose(DEFAULT_GRID[[0, -1]], [1e-4, 1e8])
    assert_allclose(DEFAULT_GRID[1:] / DEFAULT_GRID[:-1], np.sqrt(10))


@pytest.mark.parametrize("n", [0, 1, 3, 500, 501, 10_000])
def test_calibration_rows_are_500_different_ones_in_order(n):
    rows = calibration_rows(n, seed=3)
    assert len(rows) == min(n, 500)
    assert_array_equal(rows, np.unique(rows))
    assert not len(rows) or (rows[0] >= 0 and rows[-1] < n)
    assert_array_equal(rows, calibration_rows(n, seed=3))


def test_every_row_is_left_out_or_a_sample_of_many():
    assert left_out_rows(20_000, seed=0) is None
    rows = left_out_rows(20_001, seed=0)
    assert len(rows) == 10_000
    assert_array_equal(rows, np.unique(rows))
    # Rows that calibrate and rows that choose are drawn apart.
    assert len(np.intersect1d(calibration_rows(20_001, seed=0), rows)) < 500


@pytest.mark.parametrize(
    ("n", "h", "asked", "taken"),
    [
        (10, 11, "auto", "dual"),
        (10, 10, "auto", "primal"),
        (10, 9, "auto", "primal"),
        (10, 9, "dual", "dual"),
        (10, 11, "primal", "primal"),
    ],
)
def test_the_smaller_matrix_is_factored_unless_another_is_asked_for(
    n, h, asked, taken, monkeypatch
):
    seen = []
    for name in ("dual", "primal", "dual_path", "primal_path"):
        monkeypatch.setattr(auto, name, lambda *args, name=name: seen.append(name))
    problem = make_problem(0, n, h)
    solve(problem, 1.0, 0, asked)
    solve(problem, DEFAULT_GRID, 0, asked)
    assert seen == [taken, f"{taken}_path"]
