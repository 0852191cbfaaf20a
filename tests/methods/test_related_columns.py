"""Which columns depend on others."""

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_circles, make_moons

from ulmus.methods import related_columns as part
from ulmus.methods.related_columns import related_columns


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


def test_the_strongest_relation_is_that_of_ranks_pair_by_pair(monkeypatch):
    monkeypatch.setattr(part, "_AT_ONCE", 2)
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
    np.testing.assert_allclose(part._strongest(X), expected)
    assert abs(spearmanr(X[:, 0], X[:, 1]).statistic) <= expected[0] + 1e-12


def test_a_column_with_two_peaks_is_kept_and_a_constant_one_is_not():
    rng = np.random.default_rng(0)
    peaks = np.where(rng.random(300) < 0.5, -1.0, 1.0) + rng.normal(0, 0.1, 300)
    X = np.column_stack([peaks, rng.normal(size=(300, 3)), np.ones(300)])
    assert related_columns(X).tolist() == [True, False, False, False, False]
    assert not related_columns(np.ones((4, 2))).any()
