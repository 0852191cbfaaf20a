"""The formula of `benchmarks.edges` beside fits without the row."""

import numpy as np
from numpy.testing import assert_allclose

from benchmarks.edges import without_row
from ulmus import KNNGraph


def test_a_row_left_out_with_its_edges_is_a_fit_without_it():
    rng, lam = np.random.default_rng(0), 3.0
    X, H = rng.normal(size=(40, 3)), rng.normal(size=(40, 6))
    L = KNNGraph(5).laplacian(X).matrix.toarray()
    known, T, weight = np.arange(0, 40, 4), rng.normal(size=(10, 2)), rng.uniform(1, 5, 10)

    def matrix(L, some):
        few = H[known[some]]
        return np.eye(6) + lam * H.T @ L @ H + few.T @ (weight[some, None] * few)

    Z = np.concatenate([H[known], L[known] @ H])
    N = Z @ np.linalg.solve(matrix(L, np.arange(10)), Z.T)
    found = without_row(N, np.diag(L)[known], T, weight, lam)
    for i in range(10):
        rest, apart = np.delete(np.arange(10), i), L.copy()
        apart[known[i]] = apart[:, known[i]] = 0.0
        cross = H[known[rest]].T @ (weight[rest, None] * T[rest])
        beta = np.linalg.solve(matrix(apart, rest), cross)
        assert_allclose(found[i], H[known[i]] @ beta, rtol=1e-8)
