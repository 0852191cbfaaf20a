"""A given C that the precision of the features does not hold is said to be so; a chosen one not."""

import warnings

import numpy as np
import pytest

from laws.problems import make_problem
from ulmus.exceptions import IllConditionedWarning
from ulmus.hidden import Stored
from ulmus.problem import Problem
from ulmus.solvers.primal import primal, solve_moments
from ulmus.solvers.within import Points, within, within_sums

ROWS = np.arange(40)


def hopeless():
    """Float32 columns that are all but the same, at a C far above what they hold."""
    good = make_problem(0, 40, 6, classes=3, dtype=np.float32)
    H = good.H.all()
    H[:, 1:] = H[:, :1] + 1e-7 * H[:, 1:]
    return Problem(Stored([H.T.copy()]), good.targets)


def test_one_C_that_was_given_warns_and_one_that_was_chosen_does_not():
    problem = hopeless()
    with pytest.warns(IllConditionedWarning, match="C=1e\\+12"):
        primal(problem, 1e12, ROWS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solve_moments(problem.moments(), problem, 1e12, ROWS, asked=False)


def test_the_same_of_the_class_scatter():
    problem, point = hopeless(), Points(np.array([0.5]), np.array([1e12]), chosen=False)
    with pytest.warns(IllConditionedWarning, match="C=1e\\+12"):
        found = within(problem, point, seed=0)
    assert found.intercept.shape == (3,)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        within_sums(problem.moments(), problem, point, None, ROWS, asked=False)
