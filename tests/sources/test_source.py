"""What a source gives, and that rows which are gone are not made up for."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context

from laws.problems import make_problem
from ulmus.exceptions import RowsGoneError
from ulmus.sources.source import (
    AtHand,
    ClassMoments,
    ClassSums,
    Sample,
    Summed,
    calibration_rows,
    left_out_rows,
)


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


SUMS = ("gram", "cross", "energy", "hidden", "target", "weight", "rows")


def same(one, other):
    for name in SUMS:
        assert_allclose(getattr(one, name), getattr(other, name), atol=1e-12)


def halves(problem):
    n = len(problem.targets)
    return problem.take(np.arange(n // 2)), problem.take(np.arange(n // 2, n))


def test_sums_of_classes_add_over_batches_and_to_those_of_all_rows():
    problem = make_problem(0, 30, 4, classes=3, weighted=True)
    first, second = halves(problem)
    both = ClassMoments.of(first) + ClassMoments.of(second)
    whole = ClassMoments.of(problem)
    assert both.parts.keys() == whole.parts.keys()
    for code, part in whole.parts.items():
        same(both.parts[code], part)
        assert part.rows == np.sum(problem.targets.codes == code)
    same(whole.total(), problem.moments())
    same(whole.first(2).total(), problem.moments().first(2))


def test_a_class_that_one_batch_lacks_is_as_the_other_has_it():
    problem = make_problem(0, 30, 4, classes=3, weighted=True)
    codes = problem.targets.codes
    some, rest = (ClassMoments.of(problem.take(np.flatnonzero(codes == c))) for c in (0, 1))
    both = some + rest
    assert set(both.parts) == {0, 1}
    same(both.parts[1], rest.parts[1])


def test_a_class_that_weighs_more_adds_its_sums_again():
    problem = make_problem(0, 30, 4, classes=3, weighted=True)
    moments, sums = problem.moments(), ClassSums(problem)
    assert sums.heavier(moments, 1, 1.0) is moments
    same(sums.heavier(moments, 1, 3.0), moments + 2.0 * ClassMoments.of(problem).parts[1])
    assert sums.moments(1) is sums.moments(1)
    with config_context(working_memory=1e-9):
        assert sums.moments(2) is not sums.moments(2)  # no room to keep them
    assert list(sums.rows(1)) == np.flatnonzero(problem.targets.codes == 1).tolist()
    assert ClassSums(problem, ClassMoments.of(problem)).rows(1) is None


def test_they_are_kept_in_half_of_the_working_memory():
    with config_context(working_memory=1):
        assert ClassMoments.fit(2**20 // (16 * 16**2), 16)
        assert not ClassMoments.fit(2**20 // (16 * 16**2) + 1, 16)
