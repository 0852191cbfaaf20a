"""Suggestions are uncertain, central and apart."""

import numpy as np
import scipy.sparse as sp

from ulmus.app.suggestions import Surroundings


def suggested(S, uncertainty, known, count=10):
    return list(Surroundings.of(S).suggested(uncertainty, known, count))


def cliques(*sizes):
    """A normalised affinity of groups in each of which all rows are neighbours."""
    return sp.block_diag([(np.ones((n, n)) - np.eye(n)) / (n - 1) for n in sizes]).tocsr()


def test_each_group_is_suggested_once_before_any_twice():
    S = cliques(6, 6, 6)
    rows = suggested(S, np.ones(18), np.zeros(18, dtype=bool), 3)
    assert sorted(row // 6 for row in rows) == [0, 1, 2]


def test_the_more_uncertain_group_comes_first():
    uncertainty = np.repeat([0.1, 0.9, 0.5], 6)
    rows = suggested(cliques(6, 6, 6), uncertainty, np.zeros(18, dtype=bool), 3)
    assert [row // 6 for row in rows] == [1, 2, 0]


def test_the_middle_of_a_star_comes_before_its_ends():
    W = np.zeros((9, 9))
    W[4, :] = W[:, 4] = 1.0
    W[4, 4] = 0.0
    d = W.sum(axis=0)
    S = sp.csr_array(W / np.sqrt(np.outer(d, d)))
    assert suggested(S, np.ones(9), np.zeros(9, dtype=bool), 1) == [4]


def test_rows_with_a_label_are_never_suggested_and_none_comes_twice():
    known = np.zeros(12, dtype=bool)
    known[[0, 5, 7]] = True
    rows = suggested(cliques(6, 6), np.zeros(12), known, 20)
    assert sorted(rows) == np.flatnonzero(~known).tolist()


def test_rows_without_neighbours_are_no_trouble():
    rows = suggested(sp.csr_array((4, 4)), np.ones(4), np.zeros(4, dtype=bool))
    assert sorted(rows) == [0, 1, 2, 3]


def test_a_group_with_a_label_is_left_for_groups_without_one():
    known = np.zeros(18, dtype=bool)
    known[[1, 13]] = True
    assert suggested(cliques(6, 6, 6), np.ones(18), known, 1)[0] // 6 == 1


def test_rows_that_no_label_reaches_come_first_however_sure_the_model_is():
    path = sp.diags_array([np.full(12, 0.5), np.full(12, 0.5)], offsets=[-1, 1])
    S = sp.block_diag([path, cliques(6)]).tocsr()
    uncertainty, known = np.repeat([0.9, 0.0], [13, 6]), np.arange(19) == 6
    assert suggested(S, uncertainty, known, 1)[0] >= 13


def test_the_diagonal_is_that_of_the_power():
    S = cliques(4, 9)
    exact = np.diag(np.linalg.matrix_power(S.toarray(), 16))
    np.testing.assert_allclose(1.0 / Surroundings.of(S).scale, exact, rtol=0.6)
