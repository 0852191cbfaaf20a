"""Rows and columns of noise."""

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_circles, make_moons

from ulmus.methods.noise import _strongest, far_rows, related_columns


def with_noise(X, seed, times=10):
    return np.hstack([X, np.random.default_rng(seed).normal(size=(len(X), times * X.shape[1]))])


ROWS = {
    "iris": load_iris().data,
    "wine": load_wine().data,
    "breast cancer": load_breast_cancer().data,
    "moons": make_moons(400, noise=0.05, random_state=0)[0],
    "circles": make_circles(400, noise=0.05, factor=0.5, random_state=0)[0],
}


@pytest.mark.parametrize("name", ROWS)
def test_noise_is_told_from_columns_that_go_together(name):
    X = ROWS[name]
    kept = related_columns(with_noise(X, 1))
    assert kept[: X.shape[1]].all()
    assert not kept[X.shape[1] :].any()


def test_the_strongest_relation_is_that_of_ranks_pair_by_pair():
    X = np.random.default_rng(0).normal(size=(50, 5)).round(1)
    ranks = np.argsort(np.argsort(X, axis=0, kind="stable"), axis=0)
    ranks = np.array([[np.mean(ranks[X[:, j] == v, j]) for v in X[:, j]] for j in range(5)]).T
    far = np.abs(ranks - ranks.mean(axis=0))
    expected = [
        max(
            abs(np.corrcoef(a[:, i], b[:, j])[0, 1])
            for a in (ranks, far)
            for b in (ranks, far)
            for j in range(5)
            if i != j
        )
        for i in range(5)
    ]
    np.testing.assert_allclose(_strongest(X), expected)
    assert abs(spearmanr(X[:, 0], X[:, 1]).statistic) <= expected[0] + 1e-12


def test_a_column_with_two_peaks_is_kept_and_a_constant_one_is_not():
    rng = np.random.default_rng(0)
    peaks = np.where(rng.random(300) < 0.5, -1.0, 1.0) + rng.normal(0, 0.1, 300)
    X = np.column_stack([peaks, rng.normal(size=(300, 3)), np.ones(300)])
    assert related_columns(X).tolist() == [True, False, False, False, False]
    assert not related_columns(np.ones((4, 2))).any()


def test_background_is_far_and_clusters_of_any_density_are_not():
    rng = np.random.default_rng(0)
    dense, thin = rng.uniform(0, 1, (100, 2)), rng.uniform(10, 20, (100, 2))
    strays = rng.uniform(30, 300, (20, 2))
    X, labels = np.vstack([dense, thin, strays]), np.repeat([0, 1, 1], [100, 100, 20])
    far = far_rows(X, np.arange(220), labels)
    assert far[200:].all()
    assert far[:200].mean() < 0.03
    # As one cluster with fewer of them, the thin rows would be far.
    assert far_rows(X[:130], np.arange(130), np.zeros(130))[100:].all()


def test_copies_of_rows_say_nothing_of_the_spacing_of_others():
    X = np.random.default_rng(0).uniform(0, 1, (60, 2))
    X[:40] = 0.5
    far = far_rows(X, np.arange(60), np.zeros(60))
    assert not far[:40].any()
    assert far[40:].mean() < 0.2


def test_rows_outside_the_sample_are_judged_by_the_nearest_clusters():
    rng = np.random.default_rng(1)
    X = rng.uniform(0, 1, (400, 2))
    X[1] = 5.0
    far = far_rows(X, np.arange(0, 400, 2), np.zeros(200))
    assert far[1]
    assert far.mean() < 0.03


def test_rows_without_a_cluster_are_no_neighbours():
    X = np.append(np.linspace(0, 1, 40), np.linspace(90, 91, 15))[:, None]
    far = far_rows(X, np.arange(55), np.repeat([0, -1], [40, 15]))
    assert far[40:].all()
    assert far[:40].sum() <= 4
