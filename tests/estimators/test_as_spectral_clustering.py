"""What scikit-learn promises of SpectralClustering, held by ELMSpectralClustering."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.cluster import SpectralClustering
from sklearn.datasets import make_blobs
from sklearn.feature_extraction import img_to_graph
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import kernel_metrics, pairwise_kernels, rbf_kernel
from sklearn.neighbors import KNeighborsTransformer, kneighbors_graph

from ulmus import ELMSpectralClustering

# scikit-learn's own: seven rows of which three and four are alike, and three blobs.
SEVEN = np.ones((7, 7))
SEVEN[:3, 3:] = SEVEN[3:, :3] = 0.0
SEVEN[3, :3] = SEVEN[:3, 3] = 0.2
CENTERS = np.array([[1, 1], [-1, -1], [1, -1]]) + 10
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


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("coupling", ["auto", "tight", "free"])
def test_seven_rows_fall_into_the_two_groups_of_their_affinities(coupling, seed):
    graph = sp.csr_array(SEVEN)
    given = {"graph": graph, "coupling": coupling, "n_hidden": 20, "random_state": seed}
    # The hidden layer sees each row by its affinities to all.
    model = ELMSpectralClustering(2, **given).fit(SEVEN)
    assert adjusted_rand_score([1, 1, 1, 0, 0, 0, 0], model.labels_) == 1.0
    again = pickle.loads(pickle.dumps(model))
    assert again.n_clusters == model.n_clusters
    assert_array_equal(again.labels_, model.labels_)


@pytest.mark.parametrize("seed", range(3))
def test_three_blobs_of_sixty_rows_come_out_as_scikit_learn_has_them(seed):
    X, y = make_blobs(60, n_features=2, centers=CENTERS, cluster_std=0.4, random_state=seed)
    other = SpectralClustering(3, random_state=0).fit_predict(X)
    for dtype in (np.float64, np.float32):
        labels = ELMSpectralClustering(3, random_state=seed).fit_predict(X.astype(dtype))
        assert adjusted_rand_score(y, labels) >= adjusted_rand_score(y, other) > 0.9


@pytest.mark.parametrize("seed", range(3))
def test_faint_affinities_that_are_set_to_zero_change_nothing(seed):
    X, y = make_blobs(20, centers=[[1, 1], [-1, -1]], cluster_std=0.01, random_state=seed)
    graph = sp.coo_array(np.maximum(rbf_kernel(X, gamma=1) - 1e-4, 0.0))
    model = ELMSpectralClustering(2, graph=graph, n_hidden=20, random_state=seed).fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1.0


def test_distances_to_more_neighbours_than_are_needed_change_nothing():
    X, _ = make_blobs(300, centers=[[5, 5, 5], [-5, -5, -5]], cluster_std=0.01, random_state=0)
    found = []
    for n_neighbors in (10, 20):
        graph = KNeighborsTransformer(n_neighbors=n_neighbors)
        model = ELMSpectralClustering(2, graph=graph, n_hidden=20, random_state=0)
        found.append(model.fit_predict(X))
    assert adjusted_rand_score(*found) == 1.0


def test_two_coins_of_an_image_are_two_parts_of_its_graph():
    x, y = np.indices((40, 40))
    coins = [(x - a) ** 2 + (y - b) ** 2 < r**2 for a, b, r in ((14, 12, 8), (20, 25, 7))]
    image = (coins[0] | coins[1]).astype(float)
    graph = img_to_graph(image, mask=image > 0)
    graph.data = np.exp(-graph.data / graph.data.std())
    rows = np.argwhere(image > 0)
    model = ELMSpectralClustering(2, graph=graph, n_hidden=50, random_state=0).fit(rows)
    assert adjusted_rand_score(coins[0][image > 0], model.labels_) > 0.95


@pytest.mark.parametrize("kernel", sorted(set(kernel_metrics()) - {"additive_chi2"}))
def test_any_kernel_of_scikit_learns_gives_affinities(kernel):
    X = np.random.RandomState(10).rand(10, 5) * 10
    W = np.maximum(pairwise_kernels(X, metric=kernel), 0.0)
    graph = sp.csr_array((W + W.T) / 2)
    labels = ELMSpectralClustering(2, graph=graph, n_hidden=20, random_state=0).fit_predict(X)
    assert labels.shape == (10,)
    assert set(labels) == {0, 1}


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_the_matrix_class_of_numpy_is_refused_by_name():
    with pytest.raises(TypeError, match="np.matrix is not supported"):
        ELMSpectralClustering(2, n_hidden=20).fit(np.matrix([[0.0, 2.0], [2.0, 0.0]]))


@pytest.mark.parametrize("coupling", ["auto", "tight", "free"])
@pytest.mark.parametrize("n_clusters", [2, 3, 4])
def test_parts_of_a_given_graph_are_never_cut_while_clusters_are_fewer(coupling, n_clusters):
    X, part = make_blobs(80, centers=9.0 * np.eye(4), cluster_std=0.3, random_state=0)
    graph = sp.csr_array((part[:, None] == part).astype(float))
    model = ELMSpectralClustering(
        n_clusters, graph=graph, coupling=coupling, n_hidden=20, random_state=0
    )
    labels = model.fit_predict(X)
    assert len(set(labels)) == n_clusters
    assert all(len(set(labels[part == each])) == 1 for each in range(4))
