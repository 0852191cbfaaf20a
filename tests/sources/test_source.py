"""What a source gives, and that rows which are gone are not made up for."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from laws.problems import make_problem
from ulmus.exceptions import RowsGoneError
from ulmus.sources.source import (
    AtHand,
    Sample,
    Summed,
    calibration_rows,
    left_out_rows,
)


@pytest.mark.parametrize("n", [0, 1, 3, 1000, 1001, 10_000])
def test_calibration_rows_are_1000_different_ones_in_order(n):
    rows = calibration_rows(n, seed=3)
    assert len(rows) == min(n, 1000)
    assert_array_equal(rows, np.unique(rows))
    assert not len(rows) or (rows[0] >= 0 and rows[-1] < n)
    assert_array_equal(rows, calibration_rows(n, seed=3))


def test_every_row_is_left_out_or_a_sample_of_many():
    assert left_out_rows(20_000, seed=0) is None
    rows = left_out_rows(20_001, seed=0)
    assert len(rows) == 10_000
    assert_array_equal(rows, np.unique(rows))
    # Rows that calibrate and rows that choose are drawn apart.
    assert len(np.intersect1d(calibration_rows(20_001, seed=0), rows)) < 1000


def test_rows_at_hand_are_sample_and_rows_at_once():
    problem = make_problem(0, 30, 5, classes=3)
    source = AtHand(problem)
    assert source.at_hand
    assert source.rows() is problem
    assert source.sample().problem is problem
    assert source.sample().left is None
    assert_array_equal(source.moments().gram, problem.moments().gram)


def test_sums_have_rows_only_while_these_are_kept():
    problem = make_problem(0, 30, 5)
    some = Sample(problem, None, np.arange(3))
    gone = Summed(problem.moments(), some)
    assert not gone.at_hand
    with pytest.raises(RowsGoneError, match="needs all rows at once"):
        gone.rows()
    kept = Summed(problem.moments(), some, lambda: problem)
    assert kept.at_hand
    assert kept.rows() is problem
