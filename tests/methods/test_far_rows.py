"""Rows that are far from others of their cluster."""

import numpy as np

from ulmus.methods.far_rows import far_rows


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
