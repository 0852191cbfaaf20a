"""C = ∞ is the pseudo-inverse: the least β of those that fit best."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.preprocessing import FunctionTransformer

import oracles
from ulmus import (
    ELMClassifier,
    ELMRegressor,
    GraphELMClassifier,
    KernelELMRegressor,
    Randomized,
    SparseELMClassifier,
)
from ulmus.exceptions import InvalidParameterError

RNG = np.random.default_rng(0)
ROWS = FunctionTransformer()


def rows(n, h, rank):
    """n rows of h columns of which ``rank`` are independent."""
    return RNG.normal(size=(n, rank)) @ RNG.normal(size=(rank, h))


SHAPES = [(60, 12, 12), (60, 12, 7), (15, 40, 15), (15, 40, 6)]


@pytest.mark.parametrize(("n", "h", "rank"), SHAPES)
@pytest.mark.parametrize("solver", ["primal", "dual"])
def test_beta_is_that_of_the_pseudo_inverse(n, h, rank, solver):
    H = rows(n, h, rank)
    y = RNG.normal(size=n)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = ELMRegressor(ROWS, C=np.inf, solver=solver).fit(H, y)
    mean = H.mean(axis=0)
    expected = np.linalg.pinv(H - mean, rcond=1e-10) @ (y - y.mean())
    assert_allclose(model.beta_[:, 0], expected, atol=1e-7 * np.abs(expected).max())
    assert_allclose(model.predict(H), (H - mean) @ expected + y.mean(), atol=1e-7)
    assert model.C_ == 1e100


@pytest.mark.parametrize(("n", "h", "rank"), SHAPES)
def test_classifiers_without_an_intercept_take_the_pseudo_inverse_of_h(n, h, rank):
    H = rows(n, h, rank)
    y = np.arange(n) % 3
    model = ELMClassifier(ROWS, C=np.inf).fit(H, y)
    T = oracles.one_vs_rest(y, np.arange(3))
    expected = np.linalg.pinv(H, rcond=1e-10) @ T
    assert_allclose(model.beta_, expected, atol=1e-7 * np.abs(expected).max())


def test_graph_and_kernel_elms_take_it_too():
    H = rows(50, 8, 8)
    y = np.arange(50) % 2
    given = GraphELMClassifier(ROWS, lam=0.0, C=np.inf).fit(H, y)
    plain = ELMClassifier(ROWS, C=np.inf).fit(H, y)
    assert_allclose(given.beta_, plain.beta_, atol=1e-8)
    target = RNG.normal(size=50)
    kernel = KernelELMRegressor("rbf", gamma=1.0, scaling=None, C=np.inf).fit(H, target)
    assert_allclose(kernel.predict(H), target, atol=1e-6)  # it passes through every row


def test_elsewhere_infinity_is_refused():
    H = rows(30, 4, 4)
    y = np.arange(30) % 2
    with pytest.raises(InvalidParameterError, match="C=inf"):
        SparseELMClassifier(ROWS, C=np.inf).fit(H, y)
    with pytest.raises(InvalidParameterError, match="C="):
        ELMClassifier(ROWS, C=[1.0, np.inf]).fit(H, y)
    with pytest.raises(InvalidParameterError, match="finite C"):
        ELMClassifier(ROWS, C=np.inf, solver=Randomized(3)).fit(H, y)
