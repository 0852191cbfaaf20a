"""Partitions that are compared with each other."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import adjusted_rand_score

from ulmus.methods.agreement import adjusted_rand_table, agreement

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
