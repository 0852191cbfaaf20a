"""The hidden layer of a clusterer, chosen without a label."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import pdist
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, load_iris, load_wine, make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import Normalizer, StandardScaler

import ulmus
from ulmus import ELMNMF, ELMKMeans, ELMSpectralClustering, KNNGraph, RandomFeatures
from ulmus.estimators import cluster_layers
from ulmus.methods.clusters import Means
from ulmus.methods.partitions import mean_affinity
from ulmus.metrics import clustering_accuracy

IRIS, KINDS = load_iris(return_X_y=True)
WINE, CELLARS = load_wine(return_X_y=True)


def test_iris_is_clustered_by_the_proportions_of_a_flower():
    model = ELMKMeans(3, random_state=0).fit(IRIS)
    assert isinstance(model.features_, Normalizer)
    assert clustering_accuracy(KINDS, model.labels_) > 0.95
    assert model.layer_reason_.startswith("unit rows: of 4 layers")


def test_columns_without_a_common_unit_are_scaled():
    open_layers = cluster_layers._open_layers(ELMKMeans(3), WINE, positive=False)
    rows = open_layers["plain rows"](10)
    assert isinstance(rows, StandardScaler)
    assert rows.with_std
    alike = cluster_layers._open_layers(ELMKMeans(3), IRIS[:, :2], positive=False)
    assert not alike["plain rows"](10).with_std
    model = ELMKMeans(3, random_state=0).fit(WINE)
    assert clustering_accuracy(CELLARS, model.labels_) > 0.9
    assert_array_equal(model.predict(WINE), model.labels_)


@pytest.mark.parametrize("cls", [ELMKMeans, ELMNMF])
def test_the_candidates_tell_what_was_weighed(cls):
    found = cls(3, random_state=0).fit(IRIS[::2]).candidates_
    kinds = {"sigmoid units", "local units", "plain rows", "unit rows"}
    assert set(found["kind"].tolist()) == kinds
    assert found["score"].argmax() == 0
    width = cls(3, n_hidden=10, random_state=0).fit(IRIS[::2])
    assert set(width.candidates_["kind"].tolist()) == {"sigmoid units", "local units"}
    assert width.n_hidden_ == 10


@pytest.mark.parametrize("cls", [ELMKMeans, ELMNMF])
def test_a_layer_that_is_given_is_not_chosen(cls):
    model = cls(3, features=RandomFeatures(10), random_state=0).fit(IRIS[::2])
    assert not hasattr(model, "candidates_")
    assert not hasattr(cls(20, random_state=0).fit(IRIS[:40]), "candidates_")


def test_the_layer_does_not_depend_on_the_seed():
    a, b = (ELMKMeans(3, random_state=seed).fit(IRIS).candidates_ for seed in range(2))
    assert all((a[name] == b[name]).all() for name in a)


def test_a_factorisation_takes_rows_below_those_it_was_fitted_to():
    model = ELMNMF(3, random_state=0).fit(WINE)
    assert np.isfinite(model.transform(WINE - 100.0)).all()


@pytest.mark.parametrize("cls", [ELMSpectralClustering, ELMKMeans, ELMNMF])
def test_truth_values_are_clustered_as_zeros_and_ones(cls):
    X = np.random.default_rng(0).random((40, 4)) > 0.5
    X[:, 3] = X[:, 2]
    labels, same = (cls(2, n_hidden=20, random_state=0).fit_predict(Z) for Z in (X, 1.0 * X))
    assert_array_equal(labels, same)


def test_sparse_rows_are_clustered_alike():
    dense, sparse = (ELMKMeans(3, random_state=0).fit(X) for X in (IRIS, sp.csr_array(IRIS)))
    assert_array_equal(dense.labels_, sparse.labels_)
    assert ELMNMF(3, random_state=0).fit(sp.csr_array(IRIS)).labels_.max() == 2


def test_a_chosen_layer_is_saved_with_the_model(tmp_path):
    model = ELMKMeans(3, random_state=0).fit(WINE)
    ulmus.save(model, tmp_path / "model.ulmus")
    again = ulmus.load(tmp_path / "model.ulmus")
    assert_array_equal(again.predict(WINE), model.labels_)
    assert again.layer_reason_ == model.layer_reason_


def test_columns_of_one_unit_are_shifted_to_zero_together():
    unlike = np.random.default_rng(0).uniform(-1.0, 1.0, (50, 4)) * [1.0, 1.0, 0.9, 0.8]
    open_layers = cluster_layers._open_layers(ELMNMF(3), unlike, positive=True)
    rows = open_layers["plain rows"](10).transform(unlike)
    assert rows.min() == 0.0
    assert_allclose(pdist(rows) / pdist(unlike), 1.0 / np.ptp(unlike, axis=0).max())
    wine = cluster_layers._open_layers(ELMNMF(3), WINE, positive=True)["plain rows"](10)
    assert_allclose(wine.transform(WINE).max(axis=0), 1.0)


def test_rows_of_unit_length_keep_their_angles_unless_some_are_negative():
    def unit_rows(X):
        layer = cluster_layers._open_layers(ELMNMF(3), X, positive=True)["unit rows"](10)
        return layer.fit(X).transform(X)

    assert_allclose(unit_rows(IRIS), Normalizer().transform(IRIS))
    assert_allclose(unit_rows(IRIS - 1.0), unit_rows(IRIS - 2.0))
    assert unit_rows(IRIS - 1.0).min() == 0.0


@pytest.mark.parametrize("cls", [ELMKMeans, ELMNMF])
def test_in_few_columns_angles_are_no_layer(cls):
    # Their thirds of a circle are stable, whatever lies there.
    centers = [[0, 0], [4, 0], [0, 4]]
    X, y = make_blobs([500, 100, 40], centers=centers, cluster_std=[1.2, 0.8, 0.5], random_state=0)
    model = cls(3, random_state=0).fit(X)
    assert "unit rows" not in model.candidates_["kind"]
    plain = KMeans(3, n_init=10, random_state=0).fit(X)
    own, other = (adjusted_rand_score(y, each.labels_) for each in (model, plain))
    assert own > other - 0.1


def test_layers_that_are_stable_and_tell_of_neighbours_come_before_noise():
    X, _ = make_blobs(90, n_features=5, centers=3, random_state=0)
    edges = mean_affinity([KNNGraph(10, width="local").laplacian(X)])
    noise = np.random.default_rng(0).uniform(size=(90, 5))
    # One row apart: stable, but it tells nothing of neighbours.
    alike = np.vstack([np.eye(3)[:2] * 99.0, np.zeros((88, 3))])
    methods = [Means(3, 10)] * 3 + [Means(2, 10)]
    scores = cluster_layers.layer_scores([noise, X, 3.0 * X, alike], methods, edges)
    assert scores["stability"][0] < 0.7 < scores["stability"][1]
    assert_allclose(scores["information"][1:3], np.log(3), atol=0.01)
    assert scores["information"][3] < 0.1
    assert_allclose(scores["score"][1:3], scores["information"][1:3] * scores["stability"][1:3])
    assert scores["score"].argmax() == 1


def test_a_layer_that_differs_from_all_others_is_not_taken():
    same = {"n_samples": 90, "n_features": 5, "centers": 4, "shuffle": False}
    (X, _), (other, _) = (make_blobs(**same, random_state=seed) for seed in (0, 1))
    # Its clusters are stable and have neighbours in a graph of its own, but few are the others'.
    apart = other.copy()
    apart[:70] = np.random.default_rng(0).permutation(other[:70])
    own = mean_affinity([KNNGraph(10, width="local").laplacian(apart)])
    scores = cluster_layers.layer_scores([X, apart, 2.0 * X], [Means(4, 10)] * 3, own)
    agreed, told = scores["agreement"], scores["information"] * scores["stability"]
    assert 0.0 < agreed[1] < 0.6 * agreed[0]
    assert told.argmax() == 1
    assert scores["score"][1] == 0.0 < scores["score"][0]


@pytest.mark.parametrize("cls", [ELMKMeans, ELMNMF])
def test_images_are_clustered_as_well_as_by_k_means_on_their_pixels(cls):
    X, digits = load_digits(return_X_y=True)
    X, digits = X[:900], digits[:900]
    plain = KMeans(10, n_init=10, random_state=0).fit(X)
    model = cls(10, random_state=0).fit(X)
    own, other = (clustering_accuracy(digits, each.labels_) for each in (model, plain))
    assert own > other - 0.02
