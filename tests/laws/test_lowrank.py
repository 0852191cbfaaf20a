"""Low-rank factors keep their contract, and never hold what they should not."""

from collections import Counter
from dataclasses import dataclass, field
from itertools import permutations

import numpy as np
import pytest

import oracles
from laws.problems import make_rows
from ulmus.exceptions import InvalidInputError
from ulmus.kernels import RBF, Linear
from ulmus.kernels.kernel_matrix import NAMES as METHODS
from ulmus.kernels.kernel_matrix import GivenKernel, KernelMatrix
from ulmus.kernels.lowrank import _by_residual, _thinned_cholesky, low_rank

N = 300


def rows_of(seed=0, n=N, d=4, dtype=float):
    return make_rows(seed, n, d).astype(dtype)


def factor(method, rank=N, tol=0.0, X=None, gamma=0.2, **more):
    X = rows_of() if X is None else X
    K = KernelMatrix(RBF(gamma), X)
    return K.all(), low_rank(K, method, rank, tol, np.random.RandomState(0), **more)


@pytest.mark.parametrize("method", METHODS)
def test_new_rows_map_as_the_old_ones_do(method):
    K, found = factor(method, rank=40)
    columns = K[:, found.rows]
    np.testing.assert_allclose(columns @ found.W, found.H.all(), atol=1e-10)
    assert found.rank == found.H.all().shape[1] == 40


@pytest.mark.parametrize("method", METHODS)
def test_nothing_is_added_that_is_not_there_and_the_error_is_the_traces(method):
    K, found = factor(method, rank=40)
    rest = K - found.H.all() @ found.H.all().T
    assert np.linalg.eigvalsh(rest)[0] > -1e-10
    assert np.isclose(found.error, np.trace(rest) / np.trace(K), rtol=1e-8)


@pytest.mark.parametrize("method", METHODS)
def test_all_the_columns_give_all_of_the_kernel(method):
    K, found = factor(method, X=rows_of(n=80), rank=80, gamma=2.0)
    np.testing.assert_allclose(found.H.all() @ found.H.all().T, K, atol=1e-5)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("tol", [0.3, 0.03, 0.003])
def test_tol_finds_the_rank(method, tol):
    K, found = factor(method, tol=tol)
    assert found.error <= tol
    # One column fewer would not have done, but for the blocks in which a sketch grows.
    if method != "randomized":
        short = np.trace(K) - np.sum(found.H.all()[:, :-1] ** 2)
        assert short / np.trace(K) > tol


def test_the_best_factor_is_the_eigenvectors_and_the_random_ones_come_close():
    errors = {}
    for method in METHODS:
        found = [
            low_rank(KernelMatrix(RBF(0.2), rows_of()), method, 60, 0.0, np.random.RandomState(s))
            for s in range(5)
        ]
        errors[method] = np.mean([f.error for f in found])
    assert all(errors["eig"] <= error for error in errors.values())
    assert errors["randomized"] < 1.6 * errors["eig"]
    assert errors["rpcholesky"] < 4 * errors["eig"]


def test_pivots_by_what_is_missing_find_what_uniform_ones_overlook():
    # Two thirds of the rows in one tight cluster: uniform landmarks are mostly wasted on it.
    X = rows_of()
    X[: 2 * N // 3] = X[0] + 0.1 * X[: 2 * N // 3]
    errors = {
        method: np.mean(
            [
                low_rank(KernelMatrix(RBF(0.5), X), method, 30, 0.0, np.random.RandomState(s)).error
                for s in range(10)
            ]
        )
        for method in ("rpcholesky", "nystrom")
    }
    assert errors["rpcholesky"] < 0.9 * errors["nystrom"]


def test_thinned_blocks_are_pivots_drawn_one_by_one():
    """The chance of every order of three pivots, against its formula."""
    X = make_rows(3, 5, 2)
    X[1] = X[0] + 0.05  # two rows that say almost the same
    K = RBF(0.5)(X, X)
    expected = {}
    for order in permutations(range(5), 3):
        chance, A = 1.0, K.copy()
        for pivot in order:
            chance *= A[pivot, pivot] / np.trace(A)
            A = A - np.outer(A[:, pivot], A[:, pivot]) / A[pivot, pivot]
        expected[order] = chance
    rng, drawn, rounds = np.random.RandomState(0), Counter(), 20_000
    for _ in range(rounds):
        chosen = []
        while len(chosen) < 3:
            A = K.copy()
            for pivot in chosen:
                A = A - np.outer(A[:, pivot], A[:, pivot]) / A[pivot, pivot]
            proposed = _by_residual(np.maximum(np.diagonal(A), 0), 2, rng)
            kept, _ = _thinned_cholesky(A[np.ix_(proposed, proposed)], 1e-12, rng)
            chosen += proposed[kept].tolist()
        drawn[tuple(chosen[:3])] += 1
    chi2 = sum((drawn[o] - rounds * p) ** 2 / (rounds * p) for o, p in expected.items())
    assert chi2 < 59 + 5 * np.sqrt(2 * 59)


@dataclass(frozen=True)
class Watched(KernelMatrix):
    """A kernel that notes the size of every block it is asked for."""

    blocks: list = field(default_factory=list)

    def __post_init__(self):
        kernel = self.kernel

        def noting(X, Z, out=None):
            self.blocks.append(X.shape[0] * Z.shape[0])
            return kernel(X, Z, out)

        noting.diagonal = kernel.diagonal
        object.__setattr__(self, "kernel", noting)


@pytest.mark.parametrize("method", ["rpcholesky", "nystrom", "randomized"])
def test_only_eigenvectors_hold_all_of_the_kernel(method):
    n = 6000
    K = Watched(RBF(0.2), rows_of(n=n))
    low_rank(K, method, 60, 0.0, np.random.RandomState(0))
    assert max(K.blocks) < n * n / 3
    if method != "randomized":  # (k + 1)n entries, and a little for the proposals
        assert sum(K.blocks) < 1.3 * 61 * n


def test_repeated_rows_give_fewer_columns():
    X = np.repeat(rows_of(n=20), 10, axis=0)
    for method in METHODS:
        K, found = factor(method, X=X, rank=100, gamma=1.0)
        assert found.rank == 20
        np.testing.assert_allclose(found.H.all() @ found.H.all().T, K, atol=1e-6)


def test_a_linear_kernel_has_no_more_columns_than_the_data():
    X = rows_of()
    for method in METHODS:
        found = low_rank(KernelMatrix(Linear(), X), method, 50, 0.0, np.random.RandomState(0))
        assert found.rank == X.shape[1]
        np.testing.assert_allclose(found.H.all() @ found.H.all().T, X @ X.T, atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("d", [2, 20])
def test_float32_stays_sound(method, d):
    X = rows_of(n=500, d=d, dtype=np.float32)
    _, found = factor(method, X=X, rank=400, gamma=0.25)
    # Two columns have too few directions for float32, and are taken in float64.
    assert found.dtype == (np.float64 if d == 2 else np.float32)
    K = RBF(0.25)(X.astype(float), X.astype(float))
    columns = K[:, found.rows]
    assert np.abs(columns @ found.W - found.H.all()).max() < 2e-3
    assert np.abs(found.H.all() @ found.H.all().T - K).max() < max(3 * found.error * len(X), 2e-3)


def test_the_sketch_is_algorithm_three():
    K, found = factor("randomized", rank=30, oversampling=10, literal=True)
    omega = np.random.RandomState(0).standard_normal((N, 40))
    _, G = oracles.randomized_inverse(K, np.ones((N, 1)), 1.0, omega)
    assert found.rank == 40
    np.testing.assert_allclose(found.H.all() @ found.H.all().T, G @ G.T, atol=1e-8)


def test_the_sketch_is_sharpened_by_power_steps_and_its_own_columns():
    errors = [factor("randomized", rank=40, power=power)[1].error for power in (0, 1, 2)]
    assert errors[0] > errors[1] > errors[2]
    literal = factor("randomized", rank=30, literal=True)[1]  # 40 columns, of the same sketch as
    assert literal.error > factor("randomized", rank=40, oversampling=0)[1].error


@pytest.mark.parametrize("method", METHODS)
def test_an_indefinite_matrix_is_refused(method):
    A = make_rows(0, 60, 60)
    for K in (A + A.T, -np.eye(60), np.diag(np.r_[np.ones(59), -1.0])):
        with pytest.raises(InvalidInputError, match="not positive semi-definite"):
            low_rank(GivenKernel(K), method, 60, 0.0, np.random.RandomState(0))


def test_the_eigenvalues_of_an_indefinite_matrix_are_stated():
    K = np.diag(np.r_[np.full(58, 2.0), -1.0, -3.0])
    with pytest.raises(InvalidInputError, match="its eigenvalues go from -3 to 2"):
        low_rank(GivenKernel(K), "eig", 60, 0.0, np.random.RandomState(0))


def test_a_block_of_rows_that_add_nothing_leaves_no_trace():
    # All but one row are equal, and uniform draws meet many of them before the other.
    X = np.zeros((200, 2))
    X[7] = 3.0
    for seed in range(5):
        K = KernelMatrix(RBF(0.2), X)
        found = low_rank(K, "nystrom", 150, 1e-9, np.random.RandomState(seed))
        assert found.rank == len(found.path) == len(found.rows) == 2
        np.testing.assert_allclose(found.H.all() @ found.H.all().T, K.all(), atol=1e-10)


@pytest.mark.parametrize("tol", [0.3, 0.03])
def test_a_sketch_grows_no_further_than_tol_asks(tol):
    applied = []

    class Watched(KernelMatrix):
        def times(self, B):
            applied.append(B.shape[1])
            return super().times(B)

    K = Watched(RBF(0.2), rows_of())
    found = low_rank(K, "randomized", N, tol, np.random.RandomState(0))
    drawn = sum(applied[::2])  # K times what is drawn, then times its basis
    assert found.rank <= drawn < found.rank + 2 * max(applied)
    assert drawn < N


@pytest.mark.parametrize("method", METHODS)
def test_a_kernel_of_zeros_has_no_columns(method):
    found = low_rank(GivenKernel(np.zeros((9, 9))), method, 5, 0.0, np.random.RandomState(0))
    assert found.rank == 0
    assert found.error == 0.0
