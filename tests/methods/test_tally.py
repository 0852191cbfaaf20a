"""Errors summed over parts of the rows and of the points are those of all at once."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ulmus.methods.tally import Tally
from ulmus.problem import Problem
from ulmus.targets import ClassTargets, ValueTargets, coded

C, LAM = np.array([0.1, 1.0, 10.0, 100.0]), np.array([0.0, 1.0, 0.0, 1.0])


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("classes", [0, 2, 3])
def test_parts_of_rows_and_points_add_up(classes, weighted):
    rng = np.random.default_rng(classes)
    targets = ValueTargets(rng.standard_normal((20, 2)))
    if classes:
        targets = ClassTargets(rng.integers(0, classes, 20), classes)
    weight = rng.uniform(0.5, 2.0, 20) if weighted else None
    T = coded(targets, slice(0, 20), np.dtype(float))
    residual = rng.standard_normal((20, 4, T.shape[1]))
    tally = Tally(Problem(None, targets, weight), C, LAM, "cv")
    for rows in (np.arange(0, 20, 2), np.arange(1, 20, 2)):
        for where in (np.array([0, 3]), slice(1, 3)):
            tally.add(rows, where, residual[rows][:, where])
    path = tally.path()
    assert (path.kind, path.rows) == ("cv", 20)
    assert_array_equal(path.C, C)
    assert_array_equal(path.lam, LAM)
    expected = np.average(np.sum(residual**2, axis=2), axis=0, weights=weight)
    assert_allclose(path.squared_error, expected)
    assert (path.error_rate is None) == (classes == 0)
    if classes:
        F = T[:, None, :] - residual
        names = F[..., 0] > 0 if classes == 2 else F.argmax(axis=2)
        expected = np.average(names != targets.codes[:, None], axis=0, weights=weight)
        assert_allclose(path.error_rate, expected)
