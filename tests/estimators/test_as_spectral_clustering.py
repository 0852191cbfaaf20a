"""What scikit-learn promises of SpectralClustering, held by ELMSpectralClustering."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import kneighbors_graph

from ulmus import ELMSpectralClustering

BLOBS = make_blobs(20, centers=[[1, 1], [-1, -1]], cluster_std=0.01, random_state=0)


@pytest.mark.parametrize("seed", range(3))
def test_two_tight_blobs_are_found_and_a_pickle_has_them_too(seed):
    X, y = BLOBS
    model = ELMSpectralClustering(2, n_hidden=20, random_state=seed).fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1.0
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.labels_, model.labels_)
    assert_array_equal(again.predict(X), model.labels_)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array, sp.coo_array, sp.csc_array])
def test_affinities_that_are_known_beforehand(container):
    X, y = BLOBS
    distances = np.sqrt(((X[:, None, :] - X) ** 2).sum(axis=2))
    W = np.exp(-distances)
    np.fill_diagonal(W, 0.0)
    graph = sp.csr_array(container(W))
    labels = ELMSpectralClustering(2, graph=graph, n_hidden=20, random_state=0).fit_predict(X)
    assert adjusted_rand_score(y, labels) == 1.0


def test_neighbours_that_are_known_beforehand():
    X, y = make_blobs(60, centers=3, cluster_std=0.4, random_state=3)
    graph = kneighbors_graph(X, 10, mode="connectivity", include_self=False)
    graph = graph.maximum(graph.T)
    labels = ELMSpectralClustering(3, graph=graph, n_hidden=20, random_state=0).fit_predict(X)
    assert adjusted_rand_score(y, labels) == 1.0


def test_fit_predict_gives_the_labels_and_the_same_seed_the_same():
    X, _ = make_blobs(50, random_state=1)
    model = ELMSpectralClustering(3, n_hidden=20, random_state=0)
    labels = model.fit_predict(X)
    assert_array_equal(labels, model.labels_)
    assert labels.shape == (50,)
    assert labels.dtype.kind == "i"
    assert set(labels) == {0, 1, 2}
    assert_array_equal(model.fit_predict(X), labels)


def test_more_columns_than_clusters_serve_as_well():
    X, y = make_blobs(60, n_features=5, centers=3, random_state=0)
    model = ELMSpectralClustering(3, n_components=5, n_hidden=20, random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1.0
    assert set(model.candidates_["n_components"].tolist()) == {5}


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_the_unit_of_the_columns_is_of_no_account(scale):
    X, y = BLOBS
    labels = ELMSpectralClustering(2, n_hidden=20, random_state=0).fit_predict(scale * X)
    assert adjusted_rand_score(y, labels) == 1.0
