"""What the unsupervised estimators promise."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, load_iris, make_blobs, make_moons

from ulmus import ELMEmbedding, ELMSpectralClustering, KNNGraph, RandomFeatures, RBFFeatures
from ulmus.exceptions import InvalidInputError, InvalidParameterError
from ulmus.metrics import clustering_accuracy

X, y = load_iris(return_X_y=True)


@pytest.mark.parametrize("h", [40, 300])
def test_columns_are_orthonormal_over_the_training_rows(h):
    E = ELMEmbedding(n_components=4, n_hidden=h, random_state=0).fit_transform(X)
    assert_allclose(E.T @ E, np.eye(4), atol=1e-6)


@pytest.mark.parametrize("h", [40, 300])
def test_the_same_data_give_the_same_signs(h):
    a, b = (ELMEmbedding(n_hidden=h, random_state=0).fit(X) for _ in range(2))
    assert_array_equal(a.beta_, b.beta_)
    order = np.random.default_rng(0).permutation(len(X))
    shuffled = ELMEmbedding(n_hidden=h, random_state=0).fit(X[order])
    assert_allclose(shuffled.transform(X), a.transform(X), atol=1e-5)


def test_new_rows_land_among_their_neighbours():
    rows, truth = load_digits(return_X_y=True)
    model = ELMEmbedding(n_components=10, n_hidden=500, row_normalize=True, random_state=0)
    old = model.fit_transform(rows[:1200])
    new = model.transform(rows[1200:])
    nearest = np.argmin(((new[:, None, :] - old[None, :, :]) ** 2).sum(axis=2), axis=1)
    assert np.mean(truth[:1200][nearest] == truth[1200:]) > 0.8
    assert_allclose(np.linalg.norm(new, axis=1), 1.0)


def test_names_sparse_rows_and_float32():
    model = ELMEmbedding(n_components=3, n_hidden=30, random_state=0).fit(X)
    assert list(model.get_feature_names_out()) == [
        "elmembedding0",
        "elmembedding1",
        "elmembedding2",
    ]
    # Some flowers are equally far from two others, and rounding would choose their neighbours.
    rows = X + np.random.default_rng(0).normal(scale=1e-3, size=X.shape)
    E = model.fit(rows).transform(rows)
    sparse = ELMEmbedding(n_components=3, n_hidden=30, random_state=0).fit(sp.csr_array(rows))
    assert_allclose(np.abs(sparse.transform(sp.csr_array(rows))), np.abs(E), atol=1e-6)
    narrow = ELMEmbedding(n_components=3, n_hidden=30, random_state=0).fit(X.astype(np.float32))
    assert narrow.transform(X.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize("features", [RandomFeatures(50), RBFFeatures(50)], ids=repr)
def test_clusters_of_any_map(features):
    rows, truth = make_blobs(150, centers=4, cluster_std=0.5, random_state=3)
    model = ELMSpectralClustering(4, features=features, random_state=0).fit(rows)
    assert clustering_accuracy(truth, model.labels_) > 0.8
    assert_array_equal(model.predict(rows), model.labels_)


def test_moons_that_k_means_cannot_tell_apart():
    rows, truth = make_moons(300, noise=0.05, random_state=0)
    model = ELMSpectralClustering(
        2, lam=1000.0, n_components=1, row_normalize=False, random_state=0
    )
    plain = clustering_accuracy(truth, KMeans(2, n_init=10, random_state=0).fit(rows).labels_)
    assert clustering_accuracy(truth, model.fit(rows).labels_) > plain


def test_digits_without_labels():
    rows, truth = load_digits(return_X_y=True)
    model = ELMSpectralClustering(10, n_hidden=1000, random_state=0).fit(rows)
    plain = KMeans(10, n_init=10, random_state=0).fit(rows).labels_
    assert clustering_accuracy(truth, model.labels_) > clustering_accuracy(truth, plain)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"n_components": 0}, "n_components=0 must be"),
        ({"n_components": 30, "n_hidden": 20}, "at most 19"),
        ({"n_components": 150}, "at most 149"),
        ({"lam": -1.0}, "lam=-1.0 must be"),
        ({"graph": "knn"}, "is not a graph"),
    ],
    ids=str,
)
def test_parameters_that_cannot_be_used(parameters, words):
    with pytest.raises(ValueError, match=words):
        ELMEmbedding(**parameters).fit(X)


def test_clusters_that_cannot_be_had():
    with pytest.raises(InvalidParameterError, match="n_clusters=151"):
        ELMSpectralClustering(151).fit(X)
    with pytest.raises(InvalidParameterError, match="n_clusters=0"):
        ELMSpectralClustering(0).fit(X)


def test_duplicate_rows_and_disconnected_graphs():
    twice = np.vstack([X, X])
    assert ELMEmbedding(n_hidden=50, random_state=0).fit_transform(twice).shape == (300, 2)
    far = np.vstack([X, X + 1000.0])
    E = ELMEmbedding(n_hidden=50, graph=KNNGraph(3), random_state=0).fit_transform(far)
    assert np.isfinite(E).all()
    alone = ELMEmbedding(n_hidden=50, graph=sp.csr_array((150, 150)), random_state=0)
    assert np.isfinite(alone.fit_transform(X)).all()


@pytest.mark.parametrize("h", [10, 100])
def test_no_more_components_than_the_rows_differ_in(h):
    rows = np.repeat(X[::30], 6, axis=0)  # five that differ
    E = ELMEmbedding(n_components=4, n_hidden=h, random_state=0).fit_transform(rows)
    assert_allclose(E.T @ E, np.eye(4), atol=1e-6)
    with pytest.raises(InvalidInputError, match="n_components=5 .* differ in 4 components"):
        ELMEmbedding(n_components=5, n_hidden=h, random_state=0).fit(rows)
    with pytest.raises(InvalidInputError, match="are all the same"):
        ELMSpectralClustering(3, n_hidden=h, random_state=0).fit(np.ones((20, 3)))


def test_a_failed_fit_leaves_the_model_as_it_was():
    model = ELMEmbedding(n_hidden=30, random_state=0).fit(X)
    names = set(vars(model))
    with pytest.raises(InvalidInputError):
        model.set_params(n_components=29 + 1).fit(X[:, :2])
    assert set(vars(model)) == names
    assert model.n_features_in_ == 4


@pytest.mark.parametrize("coupling", ["tight", "free"])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("value", [0.0, 0.1, 7.0])
def test_rows_that_are_all_the_same_have_no_embedding_and_no_clusters(coupling, sparse, value):
    rows = np.full((40, 3), value)
    rows = sp.csr_array(rows) if sparse else rows
    for model in (ELMEmbedding(coupling=coupling), ELMSpectralClustering(2, coupling=coupling)):
        with pytest.raises(InvalidInputError, match="rows (of X are all the same|that differ)"):
            model.fit(rows)


@pytest.mark.parametrize("coupling", ["tight", "free"])
def test_two_kinds_of_rows_are_two_clusters(coupling):
    rows = np.repeat([[0.0, 1.0], [2.0, 5.0]], 30, axis=0)
    columns = 1 if coupling == "tight" else 2
    model = ELMSpectralClustering(2, n_components=columns, coupling=coupling, random_state=0).fit(
        rows
    )
    assert len(set(model.labels_[:30])) == len(set(model.labels_[30:])) == 1
    assert model.labels_[0] != model.labels_[30]
