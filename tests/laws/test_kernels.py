"""Kernels are what their formulas say, on every kind of rows, by blocks or at once."""

import array_api_strict
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import erf
from sklearn import config_context
from sklearn.neighbors import KNeighborsClassifier

import oracles
from conditioning import EPS, STEPS, assert_within
from laws.problems import make_problem, make_rows
from ulmus import KernelELMClassifier
from ulmus.exceptions import InvalidInputError
from ulmus.kernels import KERNELS as NAMED
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
    Precomputed,
    Sigmoid,
    pairs,
)
from ulmus.kernels.kernel_matrix import GivenKernel, HiddenKernel, KernelMatrix
from ulmus.kernels.pairs import (
    Shifted,
    city_blocks,
    distances,
    mean_distance,
    mean_of_pairs,
    mean_square,
    two_valued,
)

KERNELS = {
    "linear": Linear(),
    "poly": Polynomial(0.7, 1.3, 3),
    "rbf": RBF(0.7),
    "laplacian": LaplacianKernel(0.7),
    "exponential": Exponential(0.7),
    "infinite_rbf": InfiniteRBF(0.7, 1.6),
    "arcsine": Arcsine(0.7, 1.3),
    "cosine": Cosine(),
    "sigmoid": Sigmoid(0.7, 1.3),
}


def expected(name, X, Z):
    return oracles.kernel_values(name, X, Z, gamma=0.7, coef0=1.3, degree=3, spread=1.6)


def test_every_kernel_with_a_name_is_held_to_these_laws():
    own = {cls for cls in NAMED.values() if cls.__module__.startswith("ulmus.")}
    assert {type(kernel) for kernel in KERNELS.values()} == own - {Precomputed}


@pytest.mark.parametrize("name", KERNELS)
@given(st.integers(0, 10**6))
def test_a_block_is_the_formula(name, seed):
    X, Z = make_rows(seed, 5, 3), make_rows(seed + 1, 4, 3)
    K = KERNELS[name](X, Z)
    # What is rounded are products and squares of lengths, to the power of a polynomial.
    size = 1.3 + 0.7 * max(np.sum(X**2, axis=1).max(), np.sum(Z**2, axis=1).max())
    apart = STEPS * EPS * (size**3 if name == "poly" else size)
    assert_within(K, expected(name, X, Z), apart)
    out = np.empty_like(K)
    assert KERNELS[name](X, Z, out) is out
    np.testing.assert_array_equal(out, K)


@pytest.mark.parametrize("name", KERNELS)
def test_the_diagonal_is_the_blocks_own(name):
    X = make_rows(1, 20)
    own = np.diagonal(KERNELS[name](X, X))
    np.testing.assert_allclose(KERNELS[name].diagonal(X), own, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("sparse_landmarks", [False, True])
def test_sparse_rows_give_what_dense_ones_do(name, sparse_landmarks):
    X, Z, shift = make_rows(1, 9), make_rows(2, 7), make_rows(3, 1)[0]
    X[X < 0] = 0
    rows = sp.csr_array(X)
    others = sp.csr_array(Z) if sparse_landmarks else Z
    np.testing.assert_allclose(KERNELS[name](rows, others), KERNELS[name](X, Z), atol=1e-12)
    moved = KERNELS[name](Shifted(rows, shift), Shifted(others, shift))
    np.testing.assert_allclose(moved, KERNELS[name](X - shift, Z - shift), atol=1e-11)
    np.testing.assert_allclose(
        KERNELS[name].diagonal(Shifted(rows, shift)), KERNELS[name].diagonal(X - shift), atol=1e-11
    )


@pytest.mark.parametrize("name", KERNELS)
def test_any_array_library_gives_the_same_block(name):
    X, Z = make_rows(1, 70), make_rows(2, 6)
    theirs = KERNELS[name](array_api_strict.asarray(X), array_api_strict.asarray(Z))
    assert isinstance(theirs, type(array_api_strict.asarray(X)))
    np.testing.assert_allclose(np.asarray(theirs), KERNELS[name](X, Z), atol=1e-12)
    own = KERNELS[name].diagonal(array_api_strict.asarray(X))
    np.testing.assert_allclose(np.asarray(own), KERNELS[name].diagonal(X), atol=1e-12)


@pytest.mark.parametrize("name", KERNELS)
def test_float32_rows_give_float32_blocks(name):
    X = make_rows(1, 30)
    K = KERNELS[name](X.astype(np.float32), X[:5].astype(np.float32))
    assert K.dtype == np.float32
    np.testing.assert_allclose(K, KERNELS[name](X, X[:5]), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_of_any_length_have_an_arcsine(dtype):
    # Rounding takes the cosine between a long row and itself above one, where there is no arcsine.
    for length in (1e3, 1e6, 1e9):
        X = (length * make_rows(1, 100, 50)).astype(dtype)
        assert np.isfinite(Arcsine()(X, X)).all()
        assert np.isfinite(Arcsine().diagonal(X)).all()


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_are_positive_semi_definite_as_they_say(name):
    X = make_rows(4, 60)
    X[:10] = X[10:20]
    w = np.linalg.eigvalsh(KERNELS[name](X, X))
    assert KERNELS[name].definite == (name != "sigmoid") == (w[0] > -1e-12 * w[-1])


def gaussian_units(X, h, rng, gamma=0.5, spread=1.5):
    V = spread * rng.standard_normal((h, X.shape[1]))
    return np.exp(-gamma * oracles.squared_distances(X, V))


def erf_units(X, h, rng, gamma=0.7, coef0=0.5):
    V = np.sqrt(gamma) * rng.standard_normal((h, X.shape[1]))
    return erf(X @ V.T + np.sqrt(coef0) * rng.standard_normal(h))


def printed_gaussian(X, node=1.0, center=1.5**2):
    """The low-rank ELM paper's constants, as printed."""
    e2, s2 = (center + node) / (center * node), 2 * center + node**2 / center
    m2, q = 2 * center + node, np.sum(X**2, axis=1)
    return (e2 / center) ** (X.shape[1] / 2) * np.exp(
        -(q[:, None] + q) / (2 * m2) - oracles.squared_distances(X, X) / (2 * s2)
    )


def printed_arcsine(X, gamma=0.7, coef0=0.5):
    G = coef0 + gamma * X @ X.T
    g = 1 + np.diagonal(G)
    return 2 / np.pi * np.arcsin(G / np.sqrt(np.outer(g, g)))


@pytest.mark.parametrize(
    ("kernel", "units", "printed"),
    [
        (InfiniteRBF(0.5, 1.5, normalized=False), gaussian_units, printed_gaussian),
        (Arcsine(0.7, 0.5), erf_units, printed_arcsine),
    ],
)
def test_wide_random_layers_tend_to_the_infinite_kernel(kernel, units, printed):
    X, rng = make_rows(0, 6, 2), np.random.default_rng(0)
    K = kernel(X, X)

    def error(h):
        draws = [units(X, h, rng) for _ in range(20)]
        return np.sqrt(np.mean([np.mean((H @ H.T / h - K) ** 2) for H in draws]))

    narrow, wide = error(100), error(6400)
    assert 6 < narrow / wide < 11  # √64 is 8
    assert wide < 0.02 * K.max()
    assert np.abs(printed(X) - K).max() > 0.1 * K.max()


def test_normalising_only_divides_by_the_value_at_the_origin():
    X, plain = make_rows(0, 8), InfiniteRBF(0.4, 1.2, normalized=False)
    zero = np.zeros((1, 3))
    normalized = plain(X, X) / plain(zero, zero)
    np.testing.assert_allclose(InfiniteRBF(0.4, 1.2)(X, X), normalized, rtol=1e-12)


def test_means_count_a_row_as_often_as_its_weight_says():
    X, count = make_rows(5, 12), np.array([1, 2, 3] * 4)
    repeated = np.repeat(X, count, axis=0)
    D = np.sqrt(oracles.squared_distances(repeated, repeated))
    assert np.isclose(mean_distance(X, count), D.mean())
    city = np.abs(repeated[:, None] - repeated[None]).sum(axis=2).mean()
    assert np.isclose(mean_of_pairs(city_blocks(X, X), count), city)
    assert np.isclose(mean_square(X, count), np.mean(np.sum(repeated**2, axis=1)))
    assert mean_distance(np.ones((5, 2))) == 1.0
    assert mean_square(np.zeros((5, 2))) == 1.0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_city_blocks_of_columns_with_two_values_are_those_of_any_others(dtype):
    rng = np.random.default_rng(0)
    A = np.column_stack([rng.random((90, 10)) < 0.3, rng.standard_normal((90, 2)), np.ones(90)])
    A = (A * rng.uniform(0.1, 3.0, 13) - 1.0).astype(dtype)
    Z = A[:70].copy()
    assert two_valued(A, Z).tolist() == [True] * 10 + [False] * 2 + [True]
    naive = np.abs(A[:, None].astype(float) - Z[None]).sum(axis=2)
    np.testing.assert_allclose(city_blocks(A, Z), naive, rtol=1e-6, atol=1e-6)
    Z[5, 3] += 0.25  # a third value
    assert two_valued(A, Z).sum() == 10
    naive = np.abs(A[:, None].astype(float) - Z[None]).sum(axis=2)
    np.testing.assert_allclose(city_blocks(A, Z), naive, rtol=1e-6, atol=1e-6)
    assert not two_valued(A[:1], Z).any()  # of one row it would take longer to see


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("pairs_at_a_time", [1, 150, 2**19])
def test_distances_in_parts_are_those_of_every_pair(pairs_at_a_time, dtype, monkeypatch):
    monkeypatch.setattr(pairs, "_PAIRS", pairs_at_a_time)
    A = np.random.default_rng(0).standard_normal((30, 4)).astype(dtype)
    Z = np.concatenate([A[:5], A[:20] + dtype(0.5)])
    apart = A[:, None].astype(float) - Z[None]
    for found, naive in (
        (city_blocks(A, Z), np.abs(apart).sum(axis=2)),
        (distances(A, Z), np.sqrt((apart**2).sum(axis=2))),
    ):
        assert found.dtype == dtype
        np.testing.assert_allclose(found, naive, rtol=1e-6, atol=1e-7)
        np.testing.assert_array_equal(np.diagonal(found[:5, :5]), 0.0)
    assert city_blocks(A[:0], Z).shape == (0, 25)


def parts(matrix, K, chosen):
    """Every way to ask for a part of K."""
    products(matrix, K)
    part = slice(20, 90)
    np.testing.assert_allclose(
        matrix.block(part, chosen), K[part][:, chosen], rtol=1e-9, atol=1e-12
    )
    inner = K[np.ix_(chosen, chosen)]
    np.testing.assert_allclose(matrix.take(chosen).all(), inner, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(matrix.all(), K, rtol=1e-9, atol=1e-12)
    stacked = np.vstack([block for _, block in matrix.rows()])
    np.testing.assert_allclose(stacked, K, rtol=1e-9, atol=1e-12)


def products(matrix, K):
    """What a sketch needs of K."""
    np.testing.assert_allclose(matrix.diagonal(), np.diagonal(K), rtol=1e-10)
    V = make_rows(9, len(K), 4)
    np.testing.assert_allclose(matrix.times(V), K @ V, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("memory", [0.001, 1024])
def test_parts_of_a_kernel_matrix_are_parts_of_the_whole(memory):
    X, chosen = make_rows(2, 150), np.array([3, 140, 7, 8])
    rbf, H = RBF(0.3), make_problem(3, 150, 20).H
    K = rbf(X, X)
    with config_context(working_memory=memory):
        parts(KernelMatrix(rbf, X), K, chosen)
        parts(GivenKernel(K), K, chosen)
        whole = H.all()
        products(HiddenKernel(H), whole @ whole.T)


def test_a_function_must_give_one_finite_number_per_pair():
    X = make_rows(0, 5)
    for wrong in (lambda A, B: A, lambda A, B: (A @ B.T)[:, :-1], lambda A, B: 3.0):
        with pytest.raises(InvalidInputError, match="one number for each pair"):
            Pairwise(wrong)(X, X)
    with pytest.raises(InvalidInputError, match="not finite"):
        Pairwise(lambda A, B: np.full((len(A), len(B)), np.nan))(X, X)
    np.testing.assert_allclose(
        Pairwise(Linear()).diagonal(make_rows(1, 99)), np.sum(make_rows(1, 99) ** 2, 1)
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_of_kernel_values_are_normal_numbers(dtype):
    # With numbers below the smallest normal one they would take a hundred times as long.
    X = np.linspace(0, 200, 900, dtype=dtype)[:, None]
    for kernel in (RBF(1.0), LaplacianKernel(2.0), InfiniteRBF(1.0, 3.0)):
        K = kernel(X, X)
        assert (K[0] == 0).any()
        least = K[K > 0].min()
        assert np.finfo(dtype).tiny * 0.99 < least * least
        assert least < np.finfo(dtype).eps ** 2
        np.testing.assert_allclose(K, kernel(X, X.copy()), atol=1e-30)


def test_the_nearest_row_tells_where_all_are_far():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 40)) + 3 * np.repeat(np.eye(3, 40), 20, axis=0)
    y = np.repeat([0, 1, 2], 20)
    new = X + 0.9 * rng.normal(size=X.shape)
    nearest = KNeighborsClassifier(1).fit(X, y).predict(new)
    # Kernel values between exp(−40) and exp(−300): the largest of a row is all there is.
    model = KernelELMClassifier("rbf", gamma=3.0, C=1.0, scaling=None, method="exact")
    assert np.array_equal(model.fit(X, y).predict(new), nearest)


def test_the_whole_of_K_leaves_out_what_no_digit_shows():
    X = np.linspace(0, 9, 30)[:, None]
    K, whole = RBF(1.0)(X, X), KernelMatrix(RBF(1.0), X).all()
    assert (whole[K < 1e-20] == 0).all()
    np.testing.assert_allclose(whole[K >= 1e-20], K[K >= 1e-20], rtol=1e-12)
    alpha = np.linalg.solve(K + np.eye(30), X)
    np.testing.assert_allclose(np.linalg.solve(whole + np.eye(30), X), alpha, rtol=1e-12)


def test_small_rows_beside_a_huge_one_are_all_there():
    X = make_rows(0, 9)
    X[0] *= 1e12
    np.testing.assert_allclose(KernelMatrix(Linear(), X).all(), X @ X.T, rtol=1e-9)
