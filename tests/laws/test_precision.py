"""float32 rows give what float64 rows give, at every C and for every kind of hidden layer."""

import numpy as np
import pytest
from sklearn.kernel_approximation import Nystroem
from sklearn.preprocessing import FunctionTransformer, PolynomialFeatures

from ulmus import (
    ELMRegressor,
    GraphELMClassifier,
    KernelELMRegressor,
    KernelFeatures,
    ManifoldELMClassifier,
    RandomFeatures,
    RBFFeatures,
)
from ulmus.kernels import Polynomial


def waves(X):
    """Columns that are all but collinear, as a transformer of the user's might make them."""
    return np.hstack([np.sin(X * k) + X[:, :1] for k in np.linspace(0.5, 1.5, 12)])


LAYERS = {
    "random": RandomFeatures(200, random_state=0),
    "more units than rows": RandomFeatures(700, random_state=0),
    "rbf": RBFFeatures(200, random_state=0),
    "kernel of a rank": KernelFeatures(rank=200, random_state=0),
    "kernel to a tolerance": KernelFeatures(tol=1e-9, random_state=0),
    "Nystroem": Nystroem(n_components=150, random_state=0),
    "polynomials": PolynomialFeatures(5),
    "a function": FunctionTransformer(waves),
}
# The ridge is raised to float32's rounding; this is what that may cost in R².
COST = 0.02


def make_rows(seed=0, n=600):
    X = np.random.default_rng(seed).standard_normal((n, 4))
    return X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2]


def scores(model, dtype):
    (X, y), (Z, t) = make_rows(0), make_rows(1)
    return model.fit(X.astype(dtype), y).score(Z.astype(dtype), t)


@pytest.mark.filterwarnings("ignore::ulmus.exceptions.IllConditionedWarning")
@pytest.mark.parametrize("C", [1e8, 1e11, 1e14, [1e9, 1e12]], ids=str)
@pytest.mark.parametrize("layer", LAYERS)
def test_float32_rows_give_what_float64_rows_give_at_large_C(layer, C):
    model = ELMRegressor(LAYERS[layer], C=C, random_state=0)
    assert scores(model, np.float32) >= scores(model, np.float64) - COST


@pytest.mark.filterwarnings("ignore::ulmus.exceptions.IllConditionedWarning")
@pytest.mark.parametrize("C", [1e6, 1e8, 1e12, [1e9, 1e12]], ids=str)
@pytest.mark.parametrize("kernel", ["rbf", Polynomial(degree=4)], ids=str)
def test_a_kernel_of_float32_rows_gives_what_float64_rows_give_at_large_C(kernel, C):
    model = KernelELMRegressor(kernel, C=C)
    assert scores(model, np.float32) >= scores(model, np.float64) - COST


@pytest.mark.filterwarnings("ignore::ulmus.exceptions.IllConditionedWarning")
@pytest.mark.parametrize("C", [1e8, 1e12, [1e8, 1e11]], ids=str)
@pytest.mark.parametrize("kind", [GraphELMClassifier, ManifoldELMClassifier])
def test_class_scatter_of_float32_rows_gives_what_float64_rows_give_at_large_C(kind, C):
    X, y = make_rows()
    layer, outputs = PolynomialFeatures(6), []
    for dtype in (np.float32, np.float64):
        model = kind(layer, C=C, lam=0.1).fit(X.astype(dtype), y > 0)
        outputs.append(model.decision_function(make_rows(1)[0].astype(dtype)))
    assert np.corrcoef(outputs)[0, 1] > 0.99
