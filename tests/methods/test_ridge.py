"""Which solver is taken, which C are tried, and what is said of one that is too large."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

from laws.problems import make_problem
from ulmus.backends.linalg import Cholesky
from ulmus.exceptions import IllConditionedWarning
from ulmus.hidden import Stored
from ulmus.methods import ridge
from ulmus.methods.class_scatter import ClassScatter, Points
from ulmus.methods.quadratic_penalty import sound_factor
from ulmus.methods.ridge import DEFAULT_GRID, Ridge, solve
from ulmus.problem import Problem
from ulmus.sources.source import AtHand


def test_the_grid_has_25_values_half_a_decade_apart():
    assert len(DEFAULT_GRID) == 25
    assert_allclose(DEFAULT_GRID[[0, -1]], [1e-4, 1e8])
    assert_allclose(DEFAULT_GRID[1:] / DEFAULT_GRID[:-1], np.sqrt(10))


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
    for name in ("dual", "dual_path", "solved"):
        monkeypatch.setattr(ridge, name, lambda *args, name=name: seen.append(name))
    problem = make_problem(0, n, h)
    solve(problem, 1.0, 0, asked)
    solve(problem, DEFAULT_GRID, 0, asked)
    functions = {"dual": ["dual", "dual_path"], "primal": ["solved", "solved"]}
    assert seen == functions[taken]


def hopeless():
    """Float32 columns that are all but the same, at a C far above what they hold."""
    good = make_problem(0, 40, 6, classes=3, dtype=np.float32)
    H = good.H.all()
    H[:, 1:] = H[:, :1] + 1e-7 * H[:, 1:]
    return Problem(Stored([H.T.copy()]), good.targets)


def test_one_C_that_was_given_warns_and_one_that_was_chosen_does_not():
    problem = hopeless()
    with pytest.warns(IllConditionedWarning, match="C=1e\\+12"):
        Ridge(1e12, "primal").fit(AtHand(problem))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Ridge(DEFAULT_GRID, "primal").at(C=1e12).fit(AtHand(problem))


@pytest.mark.parametrize(("n", "h"), [(60, 90), (90, 60)], ids=["dual", "primal"])
def test_the_best_C_of_classes_may_be_that_of_the_least_squared_error(n, h):
    problem, grid = make_problem(4, n, h, classes=2), DEFAULT_GRID[::2]
    plain, squares = (Ridge(grid, by_squares=by).fit(AtHand(problem)) for by in (False, True))
    path, least = plain.path, np.argmin(plain.path.squared_error)
    assert path.best != least
    assert (path.C[path.best], path.C[least]) == (plain.C, squares.C)
    alone = Ridge(squares.C).fit(AtHand(problem))
    assert_allclose(squares.coef, alone.coef, rtol=1e-6, atol=1e-8)


def test_the_same_of_the_class_scatter():
    problem, point = hopeless(), Points(np.array([0.5]), np.array([1e12]), chosen=False)
    with pytest.warns(IllConditionedWarning, match="C=1e\\+12"):
        found = ClassScatter(point).fit(AtHand(problem))
    assert found.intercept.shape == (3,)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ClassScatter(point).at(C=1e12, lam=0.5).fit(AtHand(problem))


def test_no_eigenvalue_is_looked_for_where_rounding_is_far_below_the_ridge(monkeypatch):
    asked = []
    iterate = Cholesky.least_eigenvalue
    monkeypatch.setattr(Cholesky, "least_eigenvalue", lambda A: asked.append(1) or iterate(A))
    sums = make_problem(0, 60, 8).moments()
    for rounding, C, looks in ((1e-9, 1.0, 0), (0.2, 1.0, 1), (1e-9, 1e9, 1), (0.0, 1e13, 1)):
        asked.clear()
        assert sound_factor(sums.gram, C, rounding=rounding) is not None
        assert len(asked) == looks
    # Rounding as large as the ridge is still found.
    gram = sums.gram - 2.0 * np.outer(np.eye(8)[0], np.eye(8)[0]) * sums.gram[0, 0]
    assert sound_factor(gram, 1.0, rounding=10.0 * sums.gram[0, 0]) is None


@pytest.mark.parametrize("classes", [0, 3])
def test_rows_are_left_out_alike_while_C_is_chosen_and_once_it_is(classes):
    problem = make_problem(0, 60, 20, classes=classes, weighted=True, intercept=not classes)
    chosen = solve(problem, DEFAULT_GRID, solver="primal")
    again = solve(problem, chosen.C, solver="primal")
    assert_allclose(chosen.loo, again.loo, rtol=1e-7, atol=1e-9)
    assert_allclose(chosen.coef, again.coef, rtol=1e-6, atol=1e-8)
