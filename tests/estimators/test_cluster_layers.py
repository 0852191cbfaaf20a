"""The hidden layer of a clusterer, chosen without a label."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris, load_wine, make_blobs
from sklearn.preprocessing import Normalizer, StandardScaler

import ulmus
from ulmus import ELMNMF, ELMKMeans, ELMSpectralClustering, RandomFeatures
from ulmus.estimators import cluster_layers
from ulmus.methods.clusters import Means
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


def test_layers_that_agree_and_are_stable_come_before_noise():
    X, _ = make_blobs(90, n_features=5, centers=3, random_state=0)
    noise = np.random.default_rng(0).uniform(size=(90, 5))
    found = cluster_layers.layer_scores([noise, X, 3.0 * X], [Means(3, 10)] * 3)
    assert found["stability"][0] < 0.7 < found["stability"][1]
    assert found["agreement"][0] < found["agreement"][1] == found["agreement"][2]
    assert_allclose(found["score"], found["agreement"].clip(0) * found["stability"] ** 2)
    assert found["score"].argmax() > 0
