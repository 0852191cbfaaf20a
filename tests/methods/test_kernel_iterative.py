"""Conjugate gradients on the whole of a kernel, beside the formula."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import oracles
from ulmus import KernelELMClassifier, KernelELMRegressor
from ulmus.backends.linalg import symmetric_product
from ulmus.estimators import kernel_elm
from ulmus.kernels import LaplacianKernel, kernel_matrix
from ulmus.kernels.kernel_matrix import KernelMatrix
from ulmus.methods import kernel_iterative, kernel_ridge
from ulmus.methods.dual import dual_path
from ulmus.methods.kernel_iterative import TOL, iterated, iterates
from ulmus.methods.kernel_ridge import KernelRidge
from ulmus.problem import Problem
from ulmus.targets import ClassTargets, ValueTargets

N = 200
RNG = np.random.default_rng(0)
X = RNG.standard_normal((N, 3))
H = KernelMatrix(LaplacianKernel(0.4), X)
TARGETS = {
    "values": ValueTargets(np.sin(X[:, :1]) + 5.0),
    "classes": ClassTargets(np.digitize(X[:, 0] * X[:, 1], [-0.5, 0.5]), 3),
    "many": ValueTargets(X @ RNG.standard_normal((3, 9))),
}


@pytest.fixture(autouse=True)
def _few_columns(monkeypatch):
    """A preconditioner that is far from the inverse, and a limit of rows that is passed."""
    monkeypatch.setattr(kernel_iterative, "_COLUMNS", 20)
    monkeypatch.setattr(kernel_iterative, "_ROWS", 1.0)
    monkeypatch.setattr(kernel_ridge, "ALL_LEFT_OUT", N - 1)
    monkeypatch.setattr(kernel_ridge, "_SOME_LEFT_OUT", 50)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("targets", TARGETS.values(), ids=TARGETS)
def test_outputs_are_those_of_the_formula_with_all_rows_and_without_some(
    targets, weighted, intercept
):
    weight = RNG.uniform(0.5, 3.0, N) if weighted else np.ones(N)
    problem = Problem(H, targets, weight if weighted else None, intercept=intercept)
    found = iterated(problem, 10.0, 0)
    K, T = H.all(), targets.encoded(targets.block(slice(0, N), np.float64))
    a, b = oracles.kernel_ridge(K, T, 10.0, weight, intercept)
    exact = K @ a + b
    assert_allclose(K @ found.coef + found.intercept, exact, atol=4 * TOL * np.ptp(T))
    some = found.loo_rows
    rest = np.delete(np.arange(N), some)
    a, b = oracles.kernel_ridge(K[np.ix_(rest, rest)], T[rest], 10.0, weight[rest], intercept)
    assert len(np.unique(some)) == N // 4
    assert_allclose(found.loo, K[np.ix_(some, rest)] @ a + b, atol=4 * TOL * np.ptp(T))


def test_many_rows_are_iterated_and_the_reason_says_how_far():
    model = KernelELMRegressor(random_state=0, C=[0.1, 1.0, 10.0]).fit(X, np.sin(X[:, 0]))
    exact = KernelELMRegressor(random_state=0, C=[0.1, 1.0, 10.0], method="exact")
    exact.fit(X, np.sin(X[:, 0]))
    assert [model.solver_, exact.solver_] == ["cg", "dual"]
    assert "0.001; 50 rows were left out together" in model.solver_reason_
    assert_allclose(model.predict(X), exact.predict(X), atol=0.01)


@pytest.mark.parametrize(("steps", "most"), [(1, 300.0), (100, 1.0)])
def test_without_enough_steps_or_with_much_c_the_kernel_is_factored(monkeypatch, steps, most):
    monkeypatch.setattr(kernel_iterative, "_STEPS", steps)
    monkeypatch.setattr(kernel_iterative, "_MOST_C", most)
    path = (
        KernelRidge(np.array([10.0]))
        .fit(Problem(H, TARGETS["values"]), np.random.RandomState(0))[0]
        .path
    )
    method = KernelRidge(10.0, path=path)
    assert method.fit(Problem(H, TARGETS["values"]), np.random.RandomState(0))[0].method == "dual"


def test_with_many_outputs_and_few_rows_the_kernel_is_factored_in_single_precision(monkeypatch):
    monkeypatch.setattr(kernel_iterative, "_ROWS", 10.0)
    monkeypatch.setattr(kernel_ridge, "EXACT", N - 1)
    problem = Problem(H, TARGETS["many"], intercept=True)
    path = dual_path(problem, np.array([100.0])).path
    found, exact = (
        KernelRidge(100.0, path=path, factors=factors).fit(problem, np.random.RandomState(0))[0]
        for factors in (False, True)
    )
    assert [found.method, exact.method] == ["dual", "dual"]
    for one, other in ((found.coef, exact.coef), (found.loo, exact.loo)):
        assert 0.0 < np.abs(one - other).max() < 1e-3 * np.abs(other).max()


def test_balanced_class_weights_stay_while_rows_are_left_out(monkeypatch):
    monkeypatch.setattr(kernel_elm, "ALL_LEFT_OUT", N - 1)
    c = (X[:, 0] > 1.0).astype(int)
    parts = {"random_state": 0, "C": [0.1, 1.0, 10.0]}
    model = KernelELMClassifier(class_weight="balanced", **parts).fit(X, c)
    weighed = KernelELMClassifier(class_weight=dict(enumerate(N / np.bincount(c))), **parts)
    assert [model.solver_, model.selection_] == ["cg", "loo-kept"]
    assert (model.predict(X) == weighed.fit(X, c).predict(X)).mean() > 0.97


def test_conjugate_gradients_are_for_a_c_that_is_small_for_the_weights():
    targets, some = TARGETS["values"], np.full(N, 100.0)
    assert iterates(Problem(H, targets), 200.0)
    assert not iterates(Problem(H, targets, some, some), 200.0)
    assert iterates(Problem(H, targets, some, some), 2.0)
    assert not iterates(Problem(H, targets, 0.01 * some, 0.01 * some), 400.0)
    # Of counts a copy has a weight of one.
    count = 1.0 + np.arange(N) % 3
    assert iterates(Problem(H, targets, count, np.ones(N)), 300.0)


@pytest.mark.parametrize("columns", [1, 2, 9])
def test_products_of_a_symmetric_matrix_by_its_panels(monkeypatch, columns):
    monkeypatch.setattr(kernel_matrix, "_PANEL", 30)
    B = RNG.standard_normal((N, columns))
    panels = [panel for _, panel in H.panels()]
    assert sum(panel.size for panel in panels) < 0.6 * N**2
    assert_allclose(symmetric_product(panels, B), H.all() @ B, rtol=1e-12)


def test_outputs_are_computed_in_the_precision_of_the_steps():
    y = np.sin(X[:, 0]) + 1e6  # the mean is added in double precision
    names = np.random.default_rng(3).choice(["a", "b"], (N, 12)) == "a"
    rows = np.column_stack([X, names])
    model = KernelELMRegressor(random_state=0, C=[0.1, 1.0, 10.0], dtype="float64").fit(rows, y)
    assert model.solver_ == "cg"
    scaled = (rows - model.scaling_.center) * model.scaling_.factor
    exact = model.kernel_(scaled, model.landmarks_) @ model.dual_coef_ + model.intercept_
    assert_allclose(model.predict(rows), exact[:, 0], rtol=0.0, atol=1e-5)
