"""The names that scikit-learn gives kernels: cosine, sigmoid, and polynomial for poly."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.metrics.pairwise import cosine_similarity, sigmoid_kernel
from sklearn.preprocessing import StandardScaler

import ulmus
from ulmus import (
    KernelELMClassifier,
    KernelELMRegressor,
    KernelFeatures,
    SparseELMClassifier,
)
from ulmus.exceptions import InvalidInputError, InvalidParameterError
from ulmus.kernels import Cosine, Sigmoid

X, y = load_iris(return_X_y=True)
Z = StandardScaler().fit_transform(X)
rng = np.random.default_rng(0)
A, B = rng.standard_normal((7, 3)), rng.standard_normal((5, 3))
A[2] = 0.0


@pytest.mark.parametrize(
    ("kernel", "function"),
    [
        (Cosine(), cosine_similarity),
        (Sigmoid(0.3, -0.5), lambda X, Z: sigmoid_kernel(X, Z, gamma=0.3, coef0=-0.5)),
    ],
    ids=["cosine", "sigmoid"],
)
def test_a_block_is_what_scikit_learn_gives(kernel, function):
    for rows in (A, sp.csr_array(A)):
        assert_allclose(kernel(rows, B), function(rows, B), atol=1e-12)
    assert_allclose(kernel.diagonal(A), np.diag(function(A, A)), atol=1e-12)
    out = np.empty((7, 5))
    assert kernel(A, B, out) is out


def test_polynomial_is_poly():
    a = KernelELMClassifier("poly", C=1.0).fit(X, y)
    b = KernelELMClassifier("polynomial", C=1.0).fit(X, y)
    assert a.kernel_ == b.kernel_
    assert_array_equal(a.dual_coef_, b.dual_coef_)


@pytest.mark.parametrize("name", ["cosine", "sigmoid", "polynomial"])
@pytest.mark.parametrize("sparse", [False, True])
def test_models_by_name(name, sparse, tmp_path):
    rows = sp.csr_array(X) if sparse else X
    model = KernelELMClassifier(name).fit(rows[::2], y[::2])
    assert model.score(rows[1::2], y[1::2]) > 0.85
    values = KernelELMRegressor(name, gamma="mean").fit(rows[::2], X[::2, 2])
    assert values.score(rows[1::2], X[1::2, 2]) > 0.9
    ulmus.save(model, tmp_path / "model.ulmus")
    again = ulmus.load(tmp_path / "model.ulmus")
    assert_array_equal(again.decision_function(rows), model.decision_function(rows))


@pytest.mark.parametrize("C", [0.1, 10.0, 1e4])
@pytest.mark.parametrize("coef0", [-0.5, 0.0, 1.0])
def test_a_sigmoid_counts_in_its_positive_directions(C, coef0):
    """Oracle: K without its negative eigenvalues, then (K + I/C) α = T."""
    K = sigmoid_kernel(Z, gamma=0.2, coef0=coef0)
    w, U = np.linalg.eigh(K)
    assert w[0] < -1e-3 * w[-1]  # it is no inner product
    kept = w > 0
    T = X[:, 2:3]
    F = (U[:, kept] * (w[kept] / (w[kept] + 1.0 / C))) @ (U[:, kept].T @ T)
    model = KernelELMRegressor(Sigmoid(0.2, coef0), C=C, fit_intercept=False).fit(Z, T[:, 0])
    assert_allclose(model.predict(Z), F[:, 0], atol=1e-5)


def test_methods_that_need_an_inner_product_refuse_a_sigmoid():
    for model in (
        KernelELMClassifier("sigmoid", method="rpcholesky"),
        KernelELMClassifier("sigmoid", method="nystrom"),
        KernelFeatures("sigmoid"),
    ):
        with pytest.raises(InvalidParameterError, match="use method='eig' or 'randomized'"):
            model.fit(X, y)
    with pytest.raises(InvalidParameterError, match="no single minimum"):
        SparseELMClassifier(kernel="sigmoid").fit(X, y)
    with pytest.raises(InvalidInputError, match="not positive semi-definite"):
        KernelELMClassifier(sigmoid_kernel).fit(Z, y)  # of a function nothing is known


@pytest.mark.parametrize("method", ["eig", "randomized"])
def test_a_sigmoid_has_a_low_rank(method):
    model = KernelELMClassifier("sigmoid", method=method, rank=10, random_state=0)
    assert model.fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.9
    H = KernelFeatures("sigmoid", 10, method=method, random_state=0).fit_transform(X)
    assert np.isfinite(H).all()


def test_cosine_has_no_gamma():
    with pytest.raises(InvalidParameterError, match="gamma=0.5 belongs to a kernel"):
        KernelELMClassifier("cosine", gamma=0.5).fit(X, y)


def test_a_sigmoid_may_have_a_negative_constant_and_a_polynomial_may_not():
    assert KernelELMClassifier("sigmoid", coef0=-1.0).fit(X, y).score(X, y) > 0.9
    with pytest.raises(InvalidParameterError, match="coef0=-1.0 must be zero or more"):
        KernelELMClassifier("poly", coef0=-1.0).fit(X, y)
