"""Only differences between rows count for distances: how far they are from the origin does not."""

from contextlib import suppress

import array_api_strict
import numpy as np
import pytest
from numpy.testing import assert_allclose

from ulmus import ELMRegressor, KernelELMRegressor, KernelFeatures, RBFFeatures
from ulmus.exceptions import InvalidInputError
from ulmus.kernels import RBF
from ulmus.kernels.kernel_matrix import KernelMatrix
from ulmus.kernels.lowrank import low_rank
from ulmus.kernels.pairs import mean_distance

# Rows within 64 of each other in steps of 1/8, which all of these offsets hold exactly.
X = np.random.default_rng(0).integers(0, 512, (200, 2)) / 8.0
Y = np.sin(X[:, 0] / 8.0) + X[:, 1] / 64.0
FAR = [("float32", 2048.0), ("float32", 2.0**18), ("float64", 1e6), ("float64", 2.0**40)]


def squares(A, B):
    return ((A[:, None, :].astype(float) - B[None, :, :]) ** 2).sum(axis=2)


@pytest.mark.parametrize(("dtype", "offset"), FAR)
@pytest.mark.parametrize("library", ["numpy", "array_api_strict"])
def test_kernel_values_are_those_of_the_differences(dtype, offset, library):
    far = (X + offset).astype(dtype)
    rows = far if library == "numpy" else array_api_strict.asarray(far)
    found = np.asarray(RBF(1e-3)(rows, rows[:50, :]))
    eps = np.finfo(dtype).eps
    assert_allclose(found, np.exp(-1e-3 * squares(X, X[:50])), atol=1e2 * eps)
    assert_allclose(mean_distance(rows), np.sqrt(squares(X, X)).mean(), rtol=1e2 * eps)


MODELS = {
    "kernel": lambda: KernelELMRegressor("rbf", gamma=1e-3, scaling=None, C=10.0),
    "kernel, low rank": lambda: KernelELMRegressor(
        "rbf", gamma=1e-3, scaling=None, C=10.0, method="rpcholesky", rank=60, random_state=0
    ),
    "units": lambda: ELMRegressor(RBFFeatures(100, scaling=None), C=10.0, random_state=0),
}


@pytest.mark.parametrize(("dtype", "offset"), FAR)
@pytest.mark.parametrize("kind", MODELS)
def test_a_model_of_distances_is_the_same_wherever_the_rows_are(kind, dtype, offset):
    near = MODELS[kind]().fit(X.astype(dtype), Y)
    far = MODELS[kind]().fit((X + offset).astype(dtype), Y)
    limit = 2e-3 if dtype == "float32" else 1e-8
    found, wanted = far.predict((X + offset).astype(dtype)), near.predict(X.astype(dtype))
    assert_allclose(found, wanted, atol=limit)


class Off(RBF):
    """A kernel whose diagonal is not its own."""

    def diagonal(self, X):
        return 2.0 * np.ones(len(X))


def test_a_diagonal_that_disagrees_is_named_and_not_searched_for_ever():
    K = KernelMatrix(Off(1e-3), X)
    with pytest.raises(InvalidInputError, match="diagonal is off by 1"):
        low_rank(K, "rpcholesky", 100, 0.0, np.random.RandomState(0))


class Uneven(RBF):
    """A kernel whose rounding depends on which rows are together, as that of a large γ does."""

    def __call__(self, X, Z, out=None):
        block = super().__call__(X, Z, out)
        return block if len(X) == len(Z) else 0.0 * block


@pytest.mark.parametrize("method", ["rpcholesky", "nystrom"])
def test_pivots_that_rounding_takes_from_the_columns_are_named(method):
    with pytest.raises(InvalidInputError, match="diagonal is off by 1"):
        low_rank(KernelMatrix(Uneven(1e-3), X), method, 100, 0.0, np.random.RandomState(0))


@pytest.mark.filterwarnings("ignore::ulmus.exceptions.UlmusWarning")
@pytest.mark.parametrize("method", ["rpcholesky", "nystrom", "eig", "randomized"])
@pytest.mark.parametrize("kernel", ["rbf", "infinite_rbf"])
def test_a_gamma_too_large_for_distances_gives_numbers_or_an_error_of_ours(kernel, method):
    for seed in range(30):
        rows = np.random.default_rng(seed).standard_normal((40, 5))
        model = KernelFeatures(kernel, gamma=10**30, method=method, rank=8, random_state=seed)
        with suppress(InvalidInputError):
            assert np.isfinite(model.fit_transform(rows)).all()


@pytest.mark.filterwarnings("ignore::ulmus.exceptions.UlmusWarning")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
def test_one_row_far_from_all_others_ends_the_search(kernel, dtype):
    rows = X.astype(dtype)
    rows[7, 1] = 1e9
    model = KernelELMRegressor(
        kernel, scaling=None, C=1.0, method="rpcholesky", rank=0.9, random_state=0
    )
    assert np.isfinite(model.fit(rows, Y).predict(rows)).all()
