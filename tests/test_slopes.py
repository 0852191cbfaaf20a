"""Gradients of hidden units and kernels against finite differences."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn

from oracles import finite_differences
from ulmus import KernelFeatures, RandomFeatures, RBFFeatures, RowFeatures, slopes
from ulmus.features.unit_layers import ACTIVATIONS
from ulmus.kernels import (
    RBF,
    Arcsine,
    Cosine,
    Exponential,
    InfiniteRBF,
    LaplacianKernel,
    Linear,
    Pairwise,
    Polynomial,
    Sigmoid,
)
from ulmus.slopes import kernel_gradients

RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 3)) * [1.0, 5.0, 0.2] + [0.0, 10.0, 1.0]
NEW = RNG.standard_normal((7, 3)) * [1.0, 5.0, 0.2] + [0.0, 10.0, 1.0]
WEIGHT = RNG.uniform(0.5, 2.0, len(NEW))
MAPS = {
    **{name: RandomFeatures(20, activation=name) for name in ACTIVATIONS},
    "inputs as they are": RandomFeatures(20, scaling=None, gain=0.1),
    **{
        f"{node} nodes": RBFFeatures(20, node=node, centers="normal")
        for node in ("gaussian", "random_gaussian", "exponential", "robust")
    },
    "nodes around rows": RBFFeatures(20),
    **{
        f"rows and {node} nodes": RowFeatures(20, node=node) for node in ("exponential", "gaussian")
    },
    **{
        f"{kernel} kernel": KernelFeatures(kernel, 10)
        for kernel in (
            "rbf",
            "laplacian",
            "exponential",
            "linear",
            "poly",
            "infinite_rbf",
            "arcsine",
        )
    },
}


def fitted(name, rows=X):
    model = sklearn.clone(MAPS[name]).set_params(random_state=0)
    # The linear kernel of three columns has three directions, and says so.
    return model.set_params(rank=3).fit(rows) if name == "linear kernel" else model.fit(rows)


def coefficients(units):
    return np.random.default_rng(1).standard_normal((units._n_features_out, 2))


@pytest.mark.parametrize("name", MAPS)
def test_slopes_are_finite_differences(name):
    units = fitted(name)
    beta = coefficients(units)
    G = finite_differences(lambda A: units.transform(A) @ beta, NEW)
    slopes = units.layer(NEW, np.float64).slopes(NEW, beta)
    for i in range(len(NEW)):
        one = np.eye(len(NEW))[i]
        found = slopes.squares(one)
        np.testing.assert_allclose(found, (G[i] ** 2).sum(axis=0), rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("name", MAPS)
def test_sparse_rows_have_the_same_slopes(name):
    units, sparse = fitted(name), fitted(name, sp.csr_array(X))
    beta = coefficients(units)
    expected = units.layer(NEW).slopes(NEW, beta).squares(WEIGHT)
    S = sp.csr_array(NEW)
    found = sparse.layer(S).slopes(S, beta).squares(WEIGHT)
    np.testing.assert_allclose(found, expected, rtol=1e-8)


@pytest.mark.parametrize("cached", [1, 10])
def test_signs_of_few_rows_at_a_time_give_the_same_slopes(cached, monkeypatch):
    coef = np.random.default_rng(0).standard_normal((len(NEW) - 1, 2))
    found = kernel_gradients(LaplacianKernel(0.3), NEW, NEW[1:], coef, np.ones(NEW.shape[1]))
    expected = found.squares(WEIGHT)
    monkeypatch.setattr(slopes, "_CACHED", cached)
    np.testing.assert_allclose(found.squares(WEIGHT), expected, rtol=1e-12)


@pytest.mark.parametrize("name", ["tanh", "gaussian nodes", "rbf kernel"])
def test_little_memory_gives_the_same_slopes(name):
    units = fitted(name)
    slopes = units.layer(NEW).slopes(NEW, coefficients(units))
    expected = slopes.squares(WEIGHT)
    with sklearn.config_context(working_memory=1e-4):  # a hundred bytes: one column at a time
        np.testing.assert_allclose(slopes.squares(WEIGHT), expected, rtol=1e-12)


KERNELS = [
    RBF(0.1),
    LaplacianKernel(0.3),
    Exponential(0.3),
    Linear(),
    Polynomial(0.1, 0.5, 3),
    Polynomial(degree=1),
    Sigmoid(0.1, 0.2),
    Cosine(),
    InfiniteRBF(0.1, 2.0),
    InfiniteRBF(0.1, 2.0, normalized=False),
    Arcsine(0.5, 0.3),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_slopes_of_kernels_are_finite_differences(kernel):
    A, points, beta = (RNG.standard_normal(shape) for shape in ((6, 3), (9, 3), (9, 2)))
    G = finite_differences(lambda U: kernel(U, points) @ beta, A)
    slopes = kernel_gradients(kernel, A, points, beta, np.ones(3))
    for i in range(len(A)):
        found = slopes.squares(np.eye(len(A))[i])
        np.testing.assert_allclose(found, (G[i] ** 2).sum(axis=0), rtol=1e-6, atol=1e-12)


def test_columns_of_two_values_have_the_slopes_of_any_others():
    rng = np.random.default_rng(2)
    columns = [rng.random((80, 3)) < 0.4, rng.standard_normal((80, 2)), np.ones((80, 1))]
    A, points = (np.column_stack(columns)[part] for part in (slice(0, 70), slice(10, 80)))
    beta, gamma = rng.standard_normal((70, 2)), 0.3
    slopes = kernel_gradients(LaplacianKernel(gamma), A, points, beta, np.ones(6))
    signs = np.sign(points[None] - A[:, None])  # rows × points × columns
    K = np.exp(-gamma * np.abs(points[None] - A[:, None]).sum(axis=2))
    G = gamma * np.einsum("rp,rpj,pm->rjm", K, signs, beta)
    found = slopes.squares(np.ones(70))
    np.testing.assert_allclose(found, (G**2).sum(axis=(0, 2)), rtol=1e-9)


def test_a_row_of_zeros_has_no_direction_and_no_slope():
    A, points = np.zeros((1, 2)), np.array([[1.0, 2.0], [0.0, 0.0]])
    slopes = kernel_gradients(Cosine(), A, points, np.ones((2, 1)), np.ones(2))
    np.testing.assert_array_equal(slopes.squares(np.ones(1)), [0.0, 0.0])


def test_at_a_centre_an_exponential_unit_has_a_peak_and_no_slope():
    units = RBFFeatures(1, node="exponential", centers="rows", scaling=None, random_state=0)
    units.fit(np.array([[1.0, 2.0]]))
    slopes = units.layer(X[:1, :2]).slopes(np.array([[1.0, 2.0]]), np.ones((1, 1)))
    np.testing.assert_array_equal(slopes.squares(np.ones(1)), [0.0, 0.0])


def test_what_has_no_formula_has_no_slopes():
    units = RandomFeatures(5, activation=np.arctan).fit(X)
    assert units.layer(X).slopes(X, np.ones((5, 1))) is None
    units = KernelFeatures(lambda A, B: A @ B.T, 3).fit(X)
    assert units.layer(X).slopes(X, np.ones((3, 1))) is None
    assert kernel_gradients(Pairwise(np.dot), X, X, np.ones((len(X), 1)), np.ones(3)) is None


@pytest.mark.parametrize("kernel", [LaplacianKernel(0.3), Exponential(0.3)], ids=str)
def test_at_a_kink_the_slope_is_the_mean_of_those_on_both_sides(kernel):
    points, beta = np.round(RNG.standard_normal((9, 3))), RNG.standard_normal((9, 2))
    G = finite_differences(lambda U: kernel(U, points) @ beta, points, step=1e-6)
    slopes = kernel_gradients(kernel, points, points, beta, np.ones(3))
    found = slopes.squares(np.ones(len(points)))
    np.testing.assert_allclose(found, (G**2).sum(axis=(0, 1)), rtol=1e-4)
