"""A number of clusters that is chosen."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score

import ulmus
from ulmus import ELMNMF, ELMKMeans, ELMSpectralClustering, KNNGraph
from ulmus.estimators.cluster_defaults import number_of_clusters
from ulmus.exceptions import InvalidInputError, InvalidParameterError
from ulmus.plotting import ClusterNumberDisplay

BOTH = [ELMSpectralClustering, ELMKMeans]


@pytest.mark.parametrize("cls", BOTH)
@pytest.mark.parametrize("k", [2, 4, 7])
def test_blobs_are_counted(cls, k):
    X, y = make_blobs(25 * k, n_features=8, centers=k, random_state=k)
    model = cls("auto", n_hidden=40, random_state=0).fit(X)
    assert model.n_clusters_ == k
    assert adjusted_rand_score(y, model.labels_) == 1.0
    assert model.n_clusters == "auto"
    path = model.n_clusters_path_
    assert path["n_clusters"].tolist() == list(range(2, 13))
    assert path["score"][k - 2] > path["score"].max() - 0.02


def test_moons_and_irises_are_counted():
    X, _ = make_moons(200, noise=0.05, random_state=0)
    assert ELMSpectralClustering("auto", random_state=0).fit(X).n_clusters_ == 2
    X, _ = load_iris(return_X_y=True)
    assert ELMSpectralClustering("auto", random_state=0).fit(X).n_clusters_ == 3


def test_the_smallest_of_equals_is_taken():
    path = {"n_clusters": np.arange(2, 6), "score": np.array([0.5, 0.79, 0.8, 0.6])}
    model, X = ELMKMeans("auto"), np.eye(20)
    assert number_of_clusters(model, X, lambda *_: path) == 3
    assert number_of_clusters(model, X, lambda *_: path, largest=True) == 4
    assert model.n_clusters_path_ is path


def test_a_number_of_columns_that_is_given_is_kept_for_every_number():
    X, _ = make_blobs(90, n_features=5, centers=3, random_state=0)
    model = ELMSpectralClustering("auto", n_components=2, n_hidden=30, random_state=0).fit(X)
    assert model.n_clusters_ == 3
    assert model.embedding_.n_components == 2


@pytest.mark.parametrize("cls", BOTH)
def test_a_number_that_is_given_is_used(cls):
    X, _ = make_blobs(60, n_features=5, centers=3, random_state=0)
    model = cls(4, n_hidden=20, random_state=0).fit(X)
    assert model.n_clusters_ == 4
    assert not hasattr(model, "n_clusters_path_")


@pytest.mark.parametrize("cls", BOTH)
def test_a_model_that_counted_is_saved_and_drawn(cls, tmp_path):
    X, _ = make_blobs(60, n_features=5, centers=3, random_state=0)
    model = cls("auto", n_hidden=20, random_state=0).fit(X)
    ulmus.save(model, tmp_path / "model.ulmus")
    again = ulmus.load(tmp_path / "model.ulmus")
    assert again.n_clusters_ == 3
    assert (again.predict(X) == model.predict(X)).all()
    display = ClusterNumberDisplay.from_estimator(again)
    assert display.chosen_.get_xdata()[0] == 3
    assert display.line_.get_ydata().tolist() == model.n_clusters_path_["score"].tolist()
    with pytest.raises(InvalidInputError, match="has compared no numbers of clusters"):
        ClusterNumberDisplay.from_estimator(model.set_params(n_clusters=3).fit(X))


@pytest.mark.parametrize("cls", BOTH)
def test_too_few_different_rows_cannot_be_counted(cls):
    with pytest.raises(InvalidInputError, match="three different rows"):
        cls("auto", n_hidden=5).fit(np.repeat(np.eye(2), 20, axis=0))


def test_what_cannot_be_counted_is_named():
    X, _ = make_blobs(600, n_features=5, centers=3, random_state=0)
    with pytest.raises(InvalidParameterError, match="n_clusters='auto' must be a whole number"):
        ELMNMF("auto").fit(X)
    with pytest.raises(InvalidParameterError, match="'some' must be .* or 'auto'"):
        ELMKMeans("some").fit(X)
    with pytest.raises(InvalidParameterError, match="edges between all rows"):
        ELMSpectralClustering("auto", graph=KNNGraph(5).affinity(X)).fit(X)
