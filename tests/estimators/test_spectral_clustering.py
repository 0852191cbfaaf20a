"""The form of US-ELM that clusters rows, chosen without a label."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.datasets import load_breast_cancer, make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import KNeighborsTransformer

from ulmus import ELMSpectralClustering, KNNGraph
from ulmus.estimators import cluster_forms
from ulmus.exceptions import InvalidInputError, InvalidParameterError

APART = make_blobs(60, centers=[[1, 1], [-1, -1]], cluster_std=0.3, random_state=0)


def spirals(seed, n=400):
    rng = np.random.default_rng(seed)
    angle, arm = 2 * np.pi * np.sqrt(rng.random(n)), np.arange(n) % 2
    X = np.column_stack([angle * np.cos(angle + np.pi * arm), angle * np.sin(angle + np.pi * arm)])
    return X + rng.normal(0, 0.1, (n, 2)), arm


SHAPES = {
    "two blobs": lambda seed: make_blobs(
        60, centers=[[1, 1], [-1, -1]], cluster_std=0.3, random_state=seed
    ),
    "three in ten columns": lambda seed: make_blobs(
        150, n_features=10, centers=3, random_state=seed
    ),
    "five in ten columns": lambda seed: make_blobs(
        200, n_features=10, centers=5, random_state=seed
    ),
    "moons": lambda seed: make_moons(300, noise=0.05, random_state=seed),
    "circles": lambda seed: make_circles(300, factor=0.5, noise=0.04, random_state=seed),
    "spirals": spirals,
}


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("shape", SHAPES)
def test_shapes_that_leave_no_doubt_are_found_with_any_seed(shape, seed):
    X, y = SHAPES[shape](seed)
    model = ELMSpectralClustering(y.max() + 1, n_hidden=200, random_state=10 + seed).fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1.0
    assert adjusted_rand_score(y, model.predict(X)) > 0.97


def test_the_form_does_not_depend_on_the_seed():
    X, _ = load_breast_cancer(return_X_y=True)
    models = [ELMSpectralClustering(2, n_hidden=50, random_state=s).fit(X[:200]) for s in range(2)]
    a, b = (model.candidates_ for model in models)
    assert all((a[name] == b[name]).all() for name in a)
    assert models[0].coupling_reason_ == models[1].coupling_reason_


def test_the_candidates_tell_what_was_weighed():
    X, _ = make_blobs(80, n_features=35, centers=3, random_state=0)
    model = ELMSpectralClustering(3, n_hidden=40, random_state=0).fit(X)
    found = model.candidates_
    assert len(found["kind"]) == 7 * 2 * 3 * 2
    assert set(found["graph"].tolist()) == set(cluster_forms.CANDIDATES)
    assert set(found["n_components"].tolist()) == {2, 3, 6}
    assert model.coupling_ == found["kind"][0]
    assert model.embedding_.n_components == found["n_components"][0]
    assert model.embedding_.row_normalize == found["row_normalize"][0]
    chosen = cluster_forms.CANDIDATES[found["graph"][0]]
    assert model.embedding_.graph.get_params() == chosen.get_params()
    assert found["graph"][0] in model.coupling_reason_


def test_what_is_given_is_not_chosen():
    X, _ = APART
    given = {"coupling": "tight", "row_normalize": False, "n_hidden": 30, "random_state": 0}
    model = ELMSpectralClustering(2, n_components=1, lam=3.0, **given).fit(X)
    found = model.candidates_
    assert set(found["kind"].tolist()) == {"tight"}
    assert set(found["lam"].tolist()) == {3.0}
    assert set(found["n_components"].tolist()) == {1}
    assert not found["row_normalize"].any()
    assert len(set(found["graph"].tolist())) == 4
    one = ELMSpectralClustering(2, n_components=1, graph=KNNGraph(5), **given).fit(X)
    assert not hasattr(one, "candidates_")
    assert one.coupling_reason_ == "asked for"


@pytest.mark.parametrize("graph", ["matrix", "neighbours"])
def test_a_graph_that_is_given_serves_all_forms(graph):
    X, y = APART
    given = {
        "matrix": KNNGraph(10).affinity(X),
        "neighbours": KNeighborsTransformer(n_neighbors=8),
    }[graph]
    model = ELMSpectralClustering(2, graph=given, n_hidden=30, random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1.0
    assert set(model.candidates_["graph"].tolist()) == {"the graph that is given"}


def test_forms_are_compared_on_a_sample(monkeypatch):
    monkeypatch.setattr(cluster_forms, "SAMPLE", 50)
    X, _ = make_moons(240, noise=0.04, random_state=0)
    model = ELMSpectralClustering(2, n_hidden=60, random_state=0).fit(X)
    assert len(model.labels_) == 240
    assert hasattr(model, "candidates_")
    # Edges between all rows say nothing of a sample: the published form is fitted.
    whole = ELMSpectralClustering(2, n_hidden=60, graph=KNNGraph(10).affinity(X), random_state=0)
    assert not hasattr(whole.fit(X), "candidates_")


def test_sparse_and_single_precision_rows_are_clustered_alike():
    X, y = make_blobs(90, n_features=6, centers=3, random_state=1)
    for rows in (sp.csr_array(X), X.astype(np.float32)):
        model = ELMSpectralClustering(3, n_hidden=40, random_state=0).fit(rows)
        assert adjusted_rand_score(y, model.labels_) == 1.0


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"row_normalize": "yes"}, "row_normalize='yes' must be True or False"),
        ({"lam": -1.0}, "lam=-1.0 must be a number that is zero or more, or None"),
        ({"n_components": 0}, "n_components=0 must be a whole number"),
        ({"n_hidden": 0}, "n_hidden=0 must be a whole number"),
        ({"coupling": "loose"}, "coupling='loose'"),
    ],
)
def test_wrong_parameters_are_named(wrong, words):
    with pytest.raises(InvalidParameterError, match=words):
        ELMSpectralClustering(2, **wrong).fit(APART[0])


def test_one_cluster_is_everything():
    model = ELMSpectralClustering(1, n_hidden=20, random_state=0).fit(APART[0])
    assert_array_equal(model.labels_, 0)
    assert_array_equal(model.predict(APART[0]), 0)


def test_more_clusters_than_different_rows_are_refused():
    X = np.repeat(np.eye(4), 10, axis=0)
    with pytest.raises(InvalidInputError, match="4 different rows, and n_clusters=5"):
        ELMSpectralClustering(5, n_hidden=20, random_state=0).fit(X)
    model = ELMSpectralClustering(4, n_hidden=20, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert adjusted_rand_score(np.repeat(range(4), 10), model.fit(X).labels_) == 1.0


def test_identical_rows_are_refused_and_leave_the_model_as_it_was():
    model = ELMSpectralClustering(2, n_hidden=20, random_state=0).fit(APART[0])
    labels = model.labels_
    with pytest.raises(InvalidInputError, match="all the same"):
        model.fit(np.ones((30, 2)))
    assert model.labels_ is labels


def test_more_parts_of_the_graph_than_clusters_have_an_answer():
    X, y = make_blobs(120, centers=np.eye(4) * 99, cluster_std=0.5, random_state=0)
    model = ELMSpectralClustering(2, n_hidden=30, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels = model.fit(X).labels_
    # Blobs stay whole.
    assert all(len(set(labels[y == each])) == 1 for each in range(4))
    assert len(set(labels)) == 2


def test_noise_alone_is_divided_and_says_how_little_forms_agree():
    X = np.random.default_rng(0).uniform(size=(150, 6))
    model = ELMSpectralClustering(4, n_hidden=40, random_state=0).fit(X)
    assert set(model.labels_) == set(range(4))
    assert model.candidates_["agreement"][0] < 0.6
