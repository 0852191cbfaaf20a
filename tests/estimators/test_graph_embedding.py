"""What the free coupling of the unsupervised estimators promises."""

import pickle

import array_api_strict as strict
import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, make_blobs, make_moons

from ulmus import (
    ELMEmbedding,
    ELMRegressor,
    ELMSpectralClustering,
    KNNGraph,
    RandomFeatures,
    to_device,
    to_host,
)
from ulmus.estimators import row_graphs
from ulmus.exceptions import GraphError, InvalidParameterError, UnreachedRowsWarning
from ulmus.features.hidden_layer import comparable_rows
from ulmus.fitted import without_rows
from ulmus.hidden import Hidden
from ulmus.methods.laplacian_eigenmaps import graph_spectrum
from ulmus.methods.ridge import DEFAULT_GRID, solve
from ulmus.methods.unsupervised import ridge_by_some
from ulmus.metrics import clustering_accuracy
from ulmus.problem import Problem
from ulmus.targets import ValueTargets

X, y = load_digits(return_X_y=True)
OLD, NEW, TRUE_OLD, TRUE_NEW = X[:1200], X[1200:], y[:1200], y[1200:]
free = {"coupling": "free", "n_hidden": 200, "random_state": 0}


@pytest.fixture(scope="module")
def model():
    return ELMEmbedding(n_components=10, **free).fit(OLD)


@pytest.fixture(scope="module")
def clusters():
    return one_form().fit(OLD)


@pytest.fixture
def few_rows_are_many(monkeypatch):
    """Shapes that take no time to fit are past the thresholds."""
    monkeypatch.setattr(row_graphs, "_ROWS", 500)


def test_training_rows_lie_where_the_graph_puts_them(model):
    laplacian = KNNGraph(10, width="local").laplacian(comparable_rows(model.features_, OLD))
    expected = graph_spectrum(laplacian, 10)
    assert_allclose(model.embedding_, expected.coordinates, atol=1e-6)
    assert_allclose(model.eigenvalues_, expected.values, atol=1e-8)
    again = ELMEmbedding(n_components=10, **free)
    assert_array_equal(again.fit_transform(OLD), model.embedding_)


def test_new_rows_are_placed_by_one_ridge_fit(model):
    ridge = ELMRegressor(RandomFeatures(200), random_state=0).fit(OLD, model.embedding_)
    assert_allclose(model.transform(NEW), ridge.predict(NEW), atol=1e-6)
    assert model.C_ == ridge.C_
    assert model.loo_score_ == pytest.approx(ridge.loo_score_, abs=0.05)
    H = model.features_.transform(NEW)
    assert_allclose(model.transform(NEW), H @ model.beta_ + model.intercept_, atol=1e-9)


def test_some_rows_choose_the_ridge_of_all():
    H = Hidden(RandomFeatures(50, random_state=0).fit(OLD).layer(OLD), OLD)
    problem = Problem(H, ValueTargets(OLD[:, :2] ** 2), intercept=True)
    every, few = ridge_by_some(problem, None), ridge_by_some(problem, 100)
    assert every.path.rows == len(OLD)
    assert few.path.rows == 100
    rows = np.sort(np.random.RandomState(0).permutation(len(OLD))[:100])
    assert few.C == solve(problem.take(rows), DEFAULT_GRID).C
    assert_allclose(few.coef, solve(problem, few.C).coef, rtol=1e-6)
    assert_array_equal(ridge_by_some(problem, len(OLD)).coef, every.coef)


def test_new_rows_land_among_their_neighbours(clusters):
    new, old = clusters.embedding_.transform(NEW), clusters.embedding_.embedding_
    nearest = np.argmin(((new[:, None, :] - old[None, :, :]) ** 2).sum(axis=2), axis=1)
    assert np.mean(TRUE_OLD[nearest] == TRUE_NEW) > 0.8


def test_clusters_beat_those_of_the_hidden_layer(clusters):
    tight = ELMSpectralClustering(10, coupling="tight", n_hidden=200, random_state=0).fit(OLD)
    plain = KMeans(10, n_init=10, random_state=0).fit(OLD).labels_
    score = clustering_accuracy(TRUE_OLD, clusters.labels_)
    assert score > clustering_accuracy(TRUE_OLD, tight.labels_) + 0.02
    assert score > clustering_accuracy(TRUE_OLD, plain) + 0.02
    assert clustering_accuracy(TRUE_NEW, clusters.predict(NEW)) > score - 0.06
    assert np.mean(clusters.predict(OLD) == clusters.labels_) > 0.95
    assert clusters.embedding_.n_components == clusters.embedding_.beta_.shape[1] == 20
    assert_allclose(np.linalg.norm(clusters.embedding_.embedding_, axis=1), 1.0)


def test_the_shape_chooses(few_rows_are_many):
    model = ELMEmbedding(12, n_hidden=50, random_state=0)
    many, few = clone(model).fit(X[:600]), clone(model).fit(X[:499])
    assert many.beta_.shape[1] == few.beta_.shape[1] == 12
    assert (many.coupling_, few.coupling_) == ("free", "tight")
    assert many.coupling_reason_ == "600 rows are more than 50 units can follow"
    assert few.coupling_reason_ == "50 units suffice for 499 rows"
    wide = ELMEmbedding(n_hidden=150, random_state=0).fit(X[:600])
    assert wide.coupling_ == "tight"
    assert not hasattr(wide, "embedding_")
    same = ELMEmbedding(n_hidden=150, coupling="tight", random_state=0).fit(X[:600])
    assert_array_equal(wide.beta_, same.beta_)


def test_a_graph_in_pieces_is_not_followed_unless_asked(few_rows_are_many):
    graph = sp.csr_array((600, 600))
    model = ELMEmbedding(graph=graph, n_hidden=50, random_state=0).fit(X[:600])
    assert model.coupling_ == "tight"
    assert "600 parts" in model.coupling_reason_
    with pytest.raises(GraphError, match="600 parts"):
        model.set_params(coupling="free").fit(X[:600])
    assert model.coupling_ == "tight"


def test_rows_in_small_parts_are_placed_by_the_model():
    far = np.vstack([OLD, OLD[:6] + 1e4])
    with pytest.warns(UnreachedRowsWarning, match="6 of 1206 rows lie in small parts"):
        model = ELMEmbedding(graph=KNNGraph(5), **free).fit(far)
    assert_allclose(model.embedding_[1200:], model.transform(far[1200:]), atol=1e-12)
    assert_array_equal(model.reached_, np.arange(1206) < 1200)
    assert np.abs(model.embedding_[:1200] - model.transform(OLD)).max() > 1e-3


def test_large_parts_are_told_apart_and_said_to_be_many():
    rows, truth = make_blobs([90, 80, 70, 60], centers=np.eye(4) * 99, random_state=0)
    found = ELMSpectralClustering(4, graph=KNNGraph(5), **free).fit(rows)
    assert clustering_accuracy(truth, found.labels_) == 1.0
    assert_array_equal(found.predict(rows), found.labels_)
    with pytest.warns(UnreachedRowsWarning, match="4 large parts, and 2 columns"):
        E = ELMEmbedding(n_components=2, graph=KNNGraph(5), **free).fit_transform(rows)
    assert np.isfinite(E).all()


def test_moons_and_two_clusters():
    rows, truth = make_moons(400, noise=0.05, random_state=0)
    found = ELMSpectralClustering(2, **free).fit(rows)
    assert clustering_accuracy(truth, found.labels_) > 0.98
    assert found.beta_.shape[1] == 1
    assert np.mean(found.predict(rows) == found.labels_) > 0.95
    one = ELMSpectralClustering(1, **free).fit(rows)
    assert_array_equal(one.predict(rows), 0)


def test_sparse_rows_float32_and_fewer_rows_than_units(model):
    sparse = ELMEmbedding(n_components=10, graph=model_graph(), **free).fit(sp.csr_array(OLD))
    dense = ELMEmbedding(n_components=10, graph=model_graph(), **free).fit(OLD)
    assert_allclose(sparse.embedding_, dense.embedding_)
    narrow = ELMEmbedding(n_components=10, graph=model_graph(), **free).fit(OLD.astype(np.float32))
    assert narrow.embedding_.dtype == narrow.transform(NEW.astype(np.float32)).dtype == np.float32
    assert_allclose(narrow.embedding_, dense.embedding_, atol=1e-6)
    wide = ELMEmbedding(coupling="free", n_hidden=300, random_state=0).fit(X[:150])
    assert_allclose(wide.transform(X[:150]), wide.embedding_, atol=0.2)


def one_form():
    """Nothing is left to choose."""
    graph = KNNGraph(10, width="local")
    return ELMSpectralClustering(10, n_components=20, graph=graph, row_normalize=True, **free)


def model_graph():
    """One graph for all precisions, whose ties are then broken alike."""
    return KNNGraph(10, width="local").affinity(OLD)


def test_the_same_seed_gives_the_same_model(clusters):
    again = one_form().fit(OLD)
    assert_array_equal(again.labels_, clusters.labels_)
    assert_array_equal(again.beta_, clusters.beta_)


def test_a_second_fit_leaves_nothing_of_the_first(clusters):
    model = pickle.loads(pickle.dumps(clusters))
    assert_array_equal(model.predict(NEW), clusters.predict(NEW))
    plane = clone(model.embedding_).fit(OLD)
    for estimator in (model, plane):
        estimator.set_params(coupling="tight").fit(OLD)
        assert not hasattr(estimator, "C_")
    assert not hasattr(model, "beta_")
    assert not hasattr(plane, "embedding_")
    assert_array_equal(model.predict(OLD), model.labels_)


def test_dask_rows_are_predicted_and_not_fitted(clusters, model):
    blocks = da.from_array(NEW, chunks=(200, -1))
    assert_array_equal(clusters.predict(blocks).compute(scheduler="sync"), clusters.predict(NEW))
    E = model.transform(blocks).compute(scheduler="sync")
    assert_allclose(E, model.transform(NEW), atol=1e-12)
    light = without_rows(clusters)
    assert not hasattr(light.embedding_, "embedding_")
    assert hasattr(clusters.embedding_, "embedding_")
    for estimator in (ELMEmbedding(**free), ELMSpectralClustering(10, **free)):
        with pytest.raises(InvalidParameterError, match="not a Dask collection; use 'tight'"):
            estimator.fit(blocks)


def test_a_model_is_moved_with_its_places(clusters):
    place = strict.zeros(1, device=strict.Device("device1"))
    moved = to_device(clusters, place)
    for array in (moved.beta_, moved.labels_, moved.embedding_.beta_, moved.embedding_.embedding_):
        assert array.device == place.device
    back = to_host(moved)
    assert_array_equal(back.predict(NEW), clusters.predict(NEW))


def test_couplings_that_are_not_there():
    for estimator in (ELMEmbedding(coupling="loose"), ELMSpectralClustering(3, coupling="loose")):
        with pytest.raises(InvalidParameterError, match="coupling='loose'"):
            estimator.fit(OLD[:100])
