"""Clusters among rows and columns of noise, and of components and words."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits, load_wine, make_blobs, make_moons
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score

from ulmus import ELMNMF, ELMKMeans, ELMSpectralClustering, KNNGraph, RandomFeatures, RBFFeatures
from ulmus.estimators.cluster_defaults import DefaultUnits
from ulmus.features.hidden_layer import comparable_rows, scaled_rows
from ulmus.methods.noise import related_columns
from ulmus.metrics import clustering_accuracy

WINE, KINDS = load_wine(return_X_y=True)


def with_background(X, seed):
    noise = np.random.default_rng(seed).uniform(X.min(axis=0), X.max(axis=0), (len(X) // 5, 2))
    return np.vstack([X, noise])


@pytest.mark.parametrize("seed", [4, 108])
def test_moons_among_background_rows_are_found(seed):
    X, y = make_moons(400, noise=0.05, random_state=seed % 100)
    model = ELMSpectralClustering(2, n_hidden=200, random_state=0)
    model.fit(with_background(X, 100 + seed))
    assert adjusted_rand_score(y, model.labels_[:400]) >= 0.95
    assert model.outliers_[400:].mean() > 0.5
    assert model.outliers_[:400].mean() < 0.05
    assert model.labels_.shape == model.outliers_.shape == (480,)


def test_clean_rows_are_all_used():
    X, y = make_blobs(150, centers=3, n_features=4, random_state=0)
    model = ELMSpectralClustering(3, n_hidden=50, random_state=0).fit(X)
    assert model.outliers_.mean() < 0.1
    assert adjusted_rand_score(y, model.labels_) == 1.0


@pytest.mark.parametrize("seed", [0, 1])
def test_a_few_rows_far_from_all_others_take_no_cluster_to_themselves(seed):
    X, y = make_blobs(300, centers=3, n_features=4, random_state=1)
    far = np.random.RandomState(1).randn(6, 4) * 100
    graph = KNNGraph(20, width="local", mutual=True)
    for options in ({}, {"graph": graph, "coupling": "free"}):
        model = ELMSpectralClustering(3, random_state=seed, **options).fit(np.vstack([X, far]))
        assert adjusted_rand_score(y, model.labels_[:300]) == 1.0
    assert not model.embedding_.reached_[300:].any()


def test_clusters_of_very_unequal_size_are_found():
    rng = np.random.RandomState(1)
    centers, sizes = rng.randn(3, 5) * 6, (500, 100, 30)
    X = np.vstack([c + rng.randn(n, 5) for c, n in zip(centers, sizes, strict=True)])
    model = ELMSpectralClustering(3, n_hidden=200, random_state=0).fit(X)
    assert adjusted_rand_score(np.repeat([0, 1, 2], sizes), model.labels_) > 0.95
    assert "separate" in model.coupling_reason_


def test_a_given_graph_of_edges_sets_no_row_aside():
    X, _ = make_moons(400, noise=0.05, random_state=4)
    Z = with_background(X, 104)
    model = ELMSpectralClustering(2, n_hidden=100, graph=KNNGraph(20).affinity(Z), random_state=0)
    model.fit(Z)
    assert model.outliers_.mean() > 0.1
    assert len(model.labels_) == 480


def test_columns_of_noise_cost_nothing():
    noise = np.random.default_rng(0).normal(size=(len(WINE), 130))
    model = ELMSpectralClustering(3, random_state=0).fit(np.hstack([WINE, noise]))
    weights = model.embedding_.features_.column_weights
    assert_array_equal(weights > 0, np.arange(143) < 13)
    assert clustering_accuracy(KINDS, model.labels_) > 0.9
    # New noise changes nothing.
    assert_array_equal(model.predict(np.hstack([WINE, noise[::-1]])), model.predict(
        np.hstack([WINE, noise])))  # fmt: skip


@pytest.mark.parametrize("cls", [ELMSpectralClustering, ELMKMeans, ELMNMF])
def test_clusters_that_each_show_in_a_column_of_their_own_are_found(cls):
    X, y = make_blobs(200, centers=20.0 * np.eye(8), random_state=1)
    assert adjusted_rand_score(y, cls(8, random_state=0).fit(X).labels_) == 1.0


def test_columns_with_a_hole_are_kept_and_those_without_are_not():
    rng = np.random.default_rng(0)
    apart = rng.normal(size=400) + 9.0 * (rng.random(400) < 0.15)
    whole = rng.integers(0, 6, 400)
    tail = np.r_[rng.normal(size=390), rng.normal(50.0, size=10)]
    rng.shuffle(tail)
    plain = rng.normal(size=(400, 40))
    found = related_columns(np.column_stack([apart, whole, tail, plain]))
    assert found[0]
    assert not found[1:].any()
    assert not related_columns(apart[:20, None]).any()


def test_a_given_map_sees_all_columns():
    noise = np.random.default_rng(0).normal(size=(len(WINE), 130))
    features = RandomFeatures(50)
    model = ELMSpectralClustering(3, features=features, random_state=0)
    model.fit(np.hstack([WINE, noise]))
    assert model.embedding_.features_.column_weights is None


def test_components_keep_their_own_unit():
    X = PCA(30, random_state=0).fit_transform(load_digits().data[:300])
    units = DefaultUnits.of(X)
    features = units(5, random_state=0).fit(X)
    rows = scaled_rows(features, X)
    length = np.sqrt(np.mean(np.sum(X**2, axis=1)))
    assert_allclose(rows, X / length, rtol=1e-6, atol=1e-9)
    assert_allclose(comparable_rows(features, X), rows)


def test_words_keep_their_own_unit_and_other_columns_do_not():
    rng = np.random.default_rng(0)
    words = sp.random_array((60, 400), density=0.03, rng=rng, format="csr")
    rows = scaled_rows(DefaultUnits.of(words)(5, random_state=0).fit(words), words)
    ratio = rows.toarray()[words.toarray() > 0] / words.data
    assert_allclose(ratio, ratio[0])
    assert DefaultUnits.of(WINE).weights is None
    assert DefaultUnits.of(sp.csr_array(WINE)).weights is None


def test_few_columns_beside_noise_have_local_units():
    X, _ = make_moons(300, noise=0.05, random_state=0)
    noisy = np.hstack([X, np.random.default_rng(0).normal(size=(300, 20))])
    assert DefaultUnits.of(noisy).local
    assert DefaultUnits.of(noisy).n_columns == 2
    assert not DefaultUnits.of(WINE).local


@pytest.mark.parametrize("cls", [ELMKMeans, ELMNMF])
def test_units_of_a_hidden_layer_see_no_columns_of_noise(cls):
    noise = np.random.default_rng(0).normal(size=(len(WINE), 130))
    model = cls(3, random_state=0).fit(np.hstack([WINE, noise]))
    assert sorted(model.candidates_["kind"]) == ["local units", "sigmoid units"]
    assert clustering_accuracy(KINDS, model.labels_) > 0.9


def test_a_factorisation_of_sigmoid_units_starts_at_random():
    starts = {RandomFeatures: "random", RBFFeatures: None}
    for units, start in starts.items():
        model = ELMNMF(3, features=units(20), random_state=0).fit(WINE)
        assert model.nmf_.init == start
    model = ELMNMF(3, features=RandomFeatures(20), init="nndsvda", random_state=0).fit(WINE)
    assert model.nmf_.init == "nndsvda"
