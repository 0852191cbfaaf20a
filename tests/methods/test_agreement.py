"""Partitions that are compared with each other."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.metrics import adjusted_rand_score, mutual_info_score

from ulmus.methods.agreement import adjusted_rand_table, agreement, edge_information

rng = np.random.default_rng(0)
PARTITIONS = [rng.integers(0, k, 60) for k in (1, 2, 3, 3, 5, 9)]


def test_the_table_has_scikit_learns_index():
    expected = [[adjusted_rand_score(a, b) for b in PARTITIONS] for a in PARTITIONS]
    assert_allclose(adjusted_rand_table(PARTITIONS), expected, atol=1e-12)
    assert_allclose(
        adjusted_rand_table(PARTITIONS[:2], PARTITIONS[2:]),
        [each[2:] for each in expected[:2]],
        atol=1e-12,
    )


@pytest.mark.parametrize("n", [1, 2])
def test_partitions_of_one_cluster_or_of_single_rows_are_the_same(n):
    assert_allclose(adjusted_rand_table([np.arange(n), np.arange(n)]), 1.0)
    assert_allclose(adjusted_rand_table([np.zeros(n, int)] * 2), 1.0)


def test_a_name_of_a_cluster_is_of_no_account():
    a = PARTITIONS[3]
    assert_allclose(adjusted_rand_table([a], [(a + 1) % 3 - 7]), 1.0)


def test_a_kind_of_many_does_not_outvote_another():
    right, wrong, near = np.arange(60) % 3, PARTITIONS[2], np.arange(60) % 3
    near = np.where(np.arange(60) < 6, 0, near)
    many = [wrong] * 9
    plain = agreement([right, near, *many], ["one"] * 11)
    fair = agreement([right, near, right, *many], ["few", "few", "many", *["many"] * 9])
    assert plain.argmax() >= 2
    assert fair[0] > fair[1:2].max()
    expected = np.mean([adjusted_rand_score(right, p) for p in [near, *many]])
    assert_allclose(plain[0], expected, atol=1e-8)


@pytest.mark.parametrize("labels", PARTITIONS, ids=lambda each: f"{each.max() + 1} clusters")
def test_an_edge_tells_what_scikit_learns_mutual_information_of_its_ends_is(labels):
    weights = rng.integers(0, 4, (60, 60))
    W = weights + weights.T
    here, there = np.nonzero(W)
    times = W[here, there]
    expected = mutual_info_score(np.repeat(labels[here], times), np.repeat(labels[there], times))
    assert_allclose(edge_information(labels, sp.csr_array(1.0 * W)), expected, atol=1e-8)


def test_a_row_without_a_cluster_and_a_graph_without_edges_tell_nothing():
    W = sp.csr_array(np.kron(np.eye(2), np.ones((3, 3))))
    labels = np.array([0, 0, 0, 1, 1, 1])
    assert_allclose(edge_information(labels, W), np.log(2.0))
    some = np.array([0, 0, 0, 1, 1, -1])
    assert 0.0 < edge_information(some, W) < np.log(2.0)
    assert edge_information(np.full(6, -1), W) == 0.0
    assert edge_information(labels, 0.0 * W) == 0.0
