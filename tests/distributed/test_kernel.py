"""Kernel ELM over blocks: the landmarks of one process, the moments of all."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context

from ulmus import KernelELMClassifier, KernelELMRegressor, LowRank
from ulmus.exceptions import InvalidInputError

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

rng = np.random.default_rng(0)
X = rng.standard_normal((600, 4)) * [1.0, 3.0, 0.1, 100.0]
LABELS = np.array(["a", "b", "c"])[(X[:, 0] > 0.3).astype(int) + (X[:, 1] > X[:, 0] ** 2)]
VALUES = np.sin(X[:, 0]) + X[:, 1]
WEIGHT = rng.integers(0, 3, 600).astype(float)


@pytest.fixture(autouse=True)
def one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def blocks(A):
    return da.from_array(A, chunks=((150, 1, 249, 200), *A.shape[1:]))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "arguments",
    [
        {},  # exact
        {"rank": 50, "C": [0.1, 1.0, 10.0]},
        {"rank": 0.1, "C": 1.0, "class_weight": "balanced"},
        {"method": LowRank(tol=1e-2), "C": 1.0, "kernel": "laplacian"},
        {"rank": 50, "C": 1.0, "method": "nystrom"},
        {"rank": 50, "C": 1.0, "method": "eig"},
        {"rank": 50, "C": [0.1, 1.0], "gamma": "loo"},
        {"rank": 50, "C": [0.1, 1.0], "gamma": "loo", "class_weight": "balanced"},
    ],
    ids=str,
)
def test_a_classifier_is_the_one_fitted_in_memory(arguments, weighted):
    w, dw = (WEIGHT, blocks(WEIGHT)) if weighted else (None, None)
    a = KernelELMClassifier(random_state=0, **arguments).fit(X, LABELS, w)
    b = KernelELMClassifier(random_state=0, **arguments).fit(blocks(X), blocks(LABELS), dw)
    assert (a.C_, a.selection_, a.rank_, a.method_) == (b.C_, b.selection_, b.rank_, b.method_)
    assert_allclose(b.landmarks_, a.landmarks_, atol=1e-10)
    assert_allclose(b.decision_function(X), a.decision_function(X), atol=1e-6)
    assert_allclose(b.temperature_, a.temperature_, rtol=1e-5)
    assert_array_equal(b.predict(blocks(X)).compute(), b.predict(X))


def test_a_regressor_is_the_one_fitted_in_memory():
    a = KernelELMRegressor(rank=50, random_state=0).fit(X, VALUES)
    b = KernelELMRegressor(rank=50, random_state=0).fit(blocks(X), blocks(VALUES))
    assert a.C_ == b.C_
    assert_allclose(b.predict(blocks(X)).compute(), a.predict(X), atol=1e-6)


def test_past_memory_landmarks_come_from_a_sample():
    whole = KernelELMClassifier(rank=50, C=1.0, random_state=0).fit(blocks(X), blocks(LABELS))
    with config_context(working_memory=3):  # room for 196 rows of 2000 columns
        model = KernelELMClassifier(rank=50, C=1.0, random_state=0)
        model.fit(blocks(X), blocks(LABELS))
    assert not np.allclose(model.landmarks_, whole.landmarks_)
    # The rows that were not in the sample were fitted all the same:
    # f = k(x, S) (K_nSᵀ K_nS + K_SS/C)⁻¹ K_nSᵀ T.
    scaled, S = (X - model.scaling_.center) * model.scaling_.factor, model.landmarks_
    K, T = model.kernel_(scaled, S), 2.0 * (LABELS[:, None] == model.classes_) - 1.0
    dual = np.linalg.solve(K.T @ K + model.kernel_(S, S), K.T @ T)
    assert_allclose(model.decision_function(X), K @ dual, atol=1e-6)


def test_what_cannot_be_used():
    with pytest.raises(InvalidInputError, match="gather it"):
        KernelELMClassifier("precomputed").fit(blocks(X @ X.T), blocks(LABELS))
