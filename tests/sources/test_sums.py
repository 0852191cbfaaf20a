"""The sums of every class add, and are kept while there is room; those of few rows are the same."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn import config_context

from laws.problems import make_problem
from ulmus.sources.sums import ClassMoments, ClassSums, batch_moments

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


@pytest.mark.parametrize("n", [1, 16, 17])
@pytest.mark.parametrize("classes", [0, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_sums_of_few_rows_are_those_of_any(n, classes, weighted):
    problem = make_problem(1, n, 5, classes=classes, weighted=weighted)
    found, expected = batch_moments(problem), problem.moments()
    same(found, expected)
    assert_allclose(found.rounding, expected.rounding)
