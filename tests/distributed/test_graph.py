"""SS-ELM and US-ELM over blocks: the graph and the model of one process."""

import pickle
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.neighbors import KNeighborsTransformer

from conditioning import EPS, STEPS, assert_within
from ulmus import (
    ELMEmbedding,
    ELMSpectralClustering,
    KNNGraph,
    RandomFeatures,
    SemiSupervisedELMClassifier,
    SemiSupervisedELMRegressor,
)
from ulmus.distributed import BlockRows
from ulmus.estimators import row_graphs
from ulmus.estimators.row_graphs import laplacians
from ulmus.exceptions import BatchError, InvalidInputError, InvalidParameterError
from ulmus.features.base import column_statistics
from ulmus.features.hidden_layer import scaled_rows
from ulmus.sources.hidden_rows import HiddenBlocks

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

rng = np.random.default_rng(0)
N = 500
X = rng.standard_normal((N, 3)) * [4.0, 1.0, 1.0]
TRUE = np.array(["near", "far"])[(X[:, 0] + X[:, 1] ** 2 > 1).astype(int)]
SOME = rng.permutation(N)[:40]
CODES = np.full(N, -1)
CODES[SOME] = (TRUE == "far")[SOME]
VALUES = np.full(N, np.nan)
VALUES[SOME] = np.sin(X[SOME, 0])


@pytest.fixture(autouse=True)
def one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def blocks(A, cut=(150, 1, 149, 200)):
    return da.from_array(A, chunks=(cut, *A.shape[1:]))


@settings(max_examples=15, deadline=None)
@given(
    cut=st.lists(st.integers(1, 60), min_size=1, max_size=5),
    k=st.integers(1, 8),
    normalized=st.booleans(),
    offset=st.booleans(),
)
def test_the_sum_over_edges_is_the_product(cut, k, normalized, offset):
    rows = X[: sum(cut)]
    if len(rows) < 2:
        return
    # Sigmoid units leave a constant out of their rows, tanh units do not.
    features = RandomFeatures(12, activation="sigmoid" if offset else "tanh", random_state=0)
    features.fit(rows)
    graph = KNNGraph(k, normalized=normalized)
    scaled = (rows - features.scaling_.center) * features.scaling_.factor
    expected = graph.laplacian(scaled)
    with dask.config.set(scheduler="synchronous"):
        lazy = BlockRows(features, blocks(rows, tuple(cut)))
        lazy.survey(column_statistics)
        (found,) = laplacians(graph, "published", lazy, partial(scaled_rows, features))
        M = HiddenBlocks(lazy, features, None).smoothed_gram(found)
    L, H = expected.matrix.toarray(), features.transform(rows)
    size = max(1.0, np.linalg.norm(L, 2))
    assert_within(found.matrix.toarray(), L, STEPS * EPS * size)
    assert_within(M, H.T @ (expected @ H), STEPS * EPS * size * np.linalg.norm(H) ** 2)


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"C": 1.0},
        {"C": 1.0, "lam": 0.1},
        {"coupling": "published"},
        {"coupling": "tight"},
        {"coupling": "free"},
    ],
    ids=str,
)
@pytest.mark.parametrize("rows", [X, np.abs(X) * [1.0, 4.0, 4.0]], ids=["scaled", "alike"])
def test_a_classifier_is_the_one_fitted_in_memory(arguments, rows):
    arguments = {"n_hidden": 60, "random_state": 0, **arguments}
    in_memory = {"solver": "spectral"} if "lam" in arguments else {}
    a = SemiSupervisedELMClassifier(**arguments, **in_memory).fit(rows, CODES)
    b = SemiSupervisedELMClassifier(**arguments).fit(blocks(rows), blocks(CODES))
    assert (a.coupling_, a.C_, a.selection_) == (b.coupling_, b.C_, b.selection_)
    assert a.lam_ == pytest.approx(b.lam_)
    # C may be so large that β is known to a few digits; what it says is known to more.
    assert_allclose(b.decision_function(rows), a.decision_function(rows), atol=1e-5)
    assert_array_equal(b.predict(blocks(rows)).compute(), a.predict(rows))
    assert_array_equal(b.transduction_, a.transduction_)
    assert_allclose(b.label_distributions_, a.label_distributions_, atol=1e-5)
    other = np.where(CODES >= 0, 1 - CODES, -1)
    other[:5] = CODES[SOME[0]]
    assert_array_equal(b.relabel(other).predict(rows), a.relabel(other).predict(rows))


@pytest.mark.parametrize("width", [20, 1100])
def test_candidates_are_those_in_memory(width):
    # More units than the candidates have, and than there are rows.
    a = SemiSupervisedELMClassifier(n_hidden=width, C=1.0, random_state=0).fit(X, CODES)
    b = SemiSupervisedELMClassifier(n_hidden=width, C=1.0, random_state=0)
    b.fit(blocks(X), blocks(CODES))
    assert b.coupling_ == "pool"
    assert set(b.candidates_["kind"]) == {"alone", "tight", "free", "clusters"}
    for name, column in a.candidates_.items():
        if column.dtype.kind == "f":
            assert_allclose(b.candidates_[name], column, rtol=1e-4, atol=1e-6)
        else:
            assert_array_equal(b.candidates_[name], column)


def test_a_list_of_graphs_is_weighed_over_blocks():
    graphs = [KNNGraph(4), KNNGraph(8, weights="binary"), KNNGraph(3).affinity(X)]
    a = SemiSupervisedELMClassifier(n_hidden=30, C=1.0, graph=graphs, random_state=0).fit(X, CODES)
    b = sklearn.clone(a).fit(blocks(X), blocks(CODES))
    assert_allclose(b.label_distributions_, a.label_distributions_, atol=1e-5)


@pytest.mark.parametrize(
    "arguments",
    [
        {"n_hidden": 30},
        {"n_hidden": 30, "coupling": "published"},
        {"features": RandomFeatures(30, random_state=0)},
    ],
    ids=str,
)
@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
def test_rows_of_words_are_known_over_blocks(arguments, make):
    kind = np.random.default_rng(2).integers(2, size=N)
    often = np.where(np.arange(250) % 2 == kind[:, None], 0.06, 0.01)
    # Of whole counts many rows would be equally far apart, and either a neighbour.
    counts = np.random.default_rng(3).poisson(often) * np.random.default_rng(4).random(often.shape)
    few = np.where(CODES >= 0, kind, -1)
    a = SemiSupervisedELMClassifier(C=1.0, random_state=0, **arguments).fit(make(counts), few)
    lazy = blocks(counts).map_blocks(make)
    b = sklearn.clone(a).fit(lazy, blocks(few))
    assert_allclose(b.decision_function(make(counts)), a.decision_function(make(counts)), atol=1e-5)
    assert type(b.features_) is type(a.features_)
    assert_array_equal(b.transduction_, a.transduction_)


@pytest.mark.parametrize("coupling", ["auto", "free"])
def test_values_are_those_found_in_memory(coupling):
    a = SemiSupervisedELMRegressor(n_hidden=60, coupling=coupling, random_state=0).fit(X, VALUES)
    b = sklearn.clone(a).fit(blocks(X), blocks(VALUES))
    assert_allclose(b.transduction_, a.transduction_, atol=1e-5)
    assert_allclose(b.predict(blocks(X)).compute(), a.predict(X), atol=1e-5)


def test_a_regressor_is_the_one_fitted_in_memory():
    a = SemiSupervisedELMRegressor(n_hidden=60, C=10.0, lam=0.1, random_state=0).fit(X, VALUES)
    b = SemiSupervisedELMRegressor(n_hidden=60, C=10.0, lam=0.1, random_state=0)
    b.fit(blocks(X), blocks(VALUES))
    assert_allclose(b.predict(blocks(X)).compute(), a.predict(X), atol=1e-8)


def test_a_graph_that_is_given():
    W = KNNGraph(4).affinity(X)
    a = SemiSupervisedELMClassifier(n_hidden=60, graph=W, C=1.0, lam=1.0, random_state=0)
    expected = a.fit(X, CODES).decision_function(X)
    found = a.fit(blocks(X), blocks(CODES)).decision_function(X)
    assert_allclose(found, expected, atol=1e-8)


def test_an_embedding_is_the_one_found_in_memory():
    a = ELMEmbedding(n_components=3, n_hidden=60, random_state=0).fit(X)
    b = ELMEmbedding(n_components=3, n_hidden=60, random_state=0).fit(blocks(X))
    assert_allclose(b.eigenvalues_, a.eigenvalues_)
    assert_allclose(b.transform(blocks(X)).compute(), a.transform(X), atol=1e-7)


def test_clusters_are_those_found_in_memory():
    form = {"coupling": "tight", "graph": KNNGraph(5), "n_components": 3, "row_normalize": True}
    a = ELMSpectralClustering(3, n_hidden=60, random_state=0, **form).fit(X)
    b = ELMSpectralClustering(3, n_hidden=60, random_state=0).fit(blocks(X))
    assert b.coupling_reason_ == "the rows lie in blocks"
    assert_array_equal(b.labels_, a.labels_)
    assert_array_equal(b.predict(blocks(X)).compute(), a.labels_)


def test_what_travels_with_a_prediction_is_light():
    model = SemiSupervisedELMClassifier(n_hidden=300, C=1.0, lam=0.1, random_state=0)
    model.fit(blocks(X), blocks(CODES))
    bare = len(pickle.dumps(blocks(X)))
    assert len(pickle.dumps(model.predict(blocks(X)))) - bare < model._reused.basis.nbytes / 4


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"solver": "cg", "C": 1.0, "lam": 1.0}, "all rows at once"),
        ({"graph": KNeighborsTransformer()}, "KNeighborsTransformer cannot be fitted over"),
        ({"graph": KNNGraph(power=2)}, "power=1"),
        ({"graph": KNNGraph(method="pynndescent")}, "found exactly"),
        ({"C": -1.0}, "positive"),
    ],
    ids=str,
)
def test_what_cannot_be_used(arguments, words):
    with pytest.raises(InvalidParameterError, match=words):
        SemiSupervisedELMClassifier(n_hidden=20, **arguments).fit(blocks(X), blocks(CODES))


@pytest.mark.parametrize("coupling", ["auto", "published", "tight", "free"])
def test_graphs_of_blocks_that_cannot_be_used(monkeypatch, coupling):
    model = SemiSupervisedELMClassifier(n_hidden=20, coupling=coupling)
    with pytest.raises(InvalidInputError, match="The graph has 20 rows, and X has 500"):
        model.set_params(graph=KNNGraph(3).affinity(X[:20])).fit(blocks(X), blocks(CODES))
    with pytest.raises(InvalidInputError, match="Only one class is left, 1"):
        model.fit(blocks(X), blocks(np.where(CODES < 0, CODES, 1)))
    monkeypatch.setattr(row_graphs, "available_memory", lambda: 1e5)
    with pytest.raises(InvalidParameterError, match=r"of 500 rows needs? about .* MB .* 100 kB"):
        model.set_params(graph=KNNGraph(40)).fit(blocks(X), blocks(CODES))


def test_what_is_wrong_is_named():
    spoiled = X.copy()
    spoiled[160] = np.nan
    model = SemiSupervisedELMClassifier(n_hidden=20)
    with pytest.raises(BatchError, match="Block 2 .*NaN"):
        model.fit(blocks(spoiled), blocks(CODES))
    with pytest.raises(BatchError, match="Block 2 .*NaN"):
        ELMEmbedding(n_hidden=20).fit(blocks(spoiled))
    with pytest.raises(InvalidInputError, match="No row has a label"):
        model.fit(blocks(X), blocks(np.full(N, -1)))
    with pytest.raises(InvalidInputError, match="requires y"):
        model.fit(blocks(X), None)
