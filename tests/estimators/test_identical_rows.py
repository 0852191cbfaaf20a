"""Rows that are the same: a sound answer or an error of ours, from every estimator with a graph."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from ulmus import (
    ELMNMF,
    ELMEmbedding,
    ELMKMeans,
    ELMSpectralClustering,
    KNNGraph,
    ManifoldELMClassifier,
    SemiSupervisedELMClassifier,
    SemiSupervisedELMRegressor,
)
from ulmus.exceptions import InvalidInputError, UlmusError, UlmusWarning

rng = np.random.default_rng(0)
APART = rng.standard_normal((12, 4))
ROWS = {
    "all": np.ones((40, 4)),
    "all, and many": np.ones((700, 4)),
    "two groups": np.repeat(APART[:2], 30, axis=0),
    "two groups, and many": np.repeat(APART[:2], 400, axis=0),
    "groups larger than neighbourhoods": np.repeat(APART, 15, axis=0),
    "the same, and many": np.repeat(APART, 60, axis=0),
    "one group among others": np.vstack([np.ones((40, 4)), rng.standard_normal((40, 4))]),
    "a few that differ": np.vstack([np.ones((60, 4)), APART[:3]]),
    "columns of zeros": np.zeros((40, 4)),
    "sparse": sp.csr_array(np.repeat(np.abs(APART) > 0.8, 15, axis=0).astype(float)),
    "float32": np.repeat(APART.astype(np.float32), 15, axis=0),
}
MODELS = {
    "embedding": ELMEmbedding(n_hidden=30, random_state=0),
    "embedding, free": ELMEmbedding(n_hidden=30, coupling="free", random_state=0),
    "clusters": ELMSpectralClustering(2, n_hidden=30, random_state=0),
    "clusters, free": ELMSpectralClustering(2, n_hidden=30, coupling="free", random_state=0),
    "more clusters": ELMSpectralClustering(5, n_hidden=30, random_state=0),
    "more clusters, free": ELMSpectralClustering(5, n_hidden=30, coupling="free", random_state=0),
    "SS-ELM": SemiSupervisedELMClassifier(n_hidden=30, random_state=0),
    "SS-ELM, free": SemiSupervisedELMClassifier(n_hidden=30, coupling="free", random_state=0),
    "SS-ELM of values": SemiSupervisedELMRegressor(n_hidden=30, random_state=0),
    "SS-ELM of values, free": SemiSupervisedELMRegressor(
        n_hidden=30, coupling="free", random_state=0
    ),
    "MELM": ManifoldELMClassifier(n_hidden=30, random_state=0),
    "k-means": ELMKMeans(3, n_hidden=30, random_state=0),
    "NMF": ELMNMF(3, n_hidden=30, random_state=0),
}


def targets(model, n):
    """Targets that contradict each other in every group, of which some models see a few."""
    y = np.arange(n) % 2
    if isinstance(model, SemiSupervisedELMRegressor):
        return np.where(np.arange(n) % 7 < 2, y, np.nan)
    if isinstance(model, SemiSupervisedELMClassifier):
        return np.where(np.arange(n) % 7 < 2, y, -1)
    return y


def answers(model, X):
    """All that the model says of the rows."""
    names = ("labels_", "beta_", "eigenvalues_", "transduction_")
    found = {name: getattr(model, name) for name in names if hasattr(model, name)}
    methods = ("transform", "predict", "decision_function", "predict_proba")
    return found | {name: getattr(model, name)(X) for name in methods if hasattr(model, name)}


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("name", MODELS)
def test_rows_that_are_the_same_have_a_sound_answer_or_an_error_of_ours(name, rows):
    model, X = clone(MODELS[name]), ROWS[rows]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UlmusWarning)
        # Of scikit-learn's k-means, where rows differ in fewer ways than there are clusters.
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            model.fit(X, targets(model, X.shape[0]))
        except UlmusError:
            few = ("all", "columns of zeros", "two", "a few")
            assert rows.startswith(few) or "more" in name
            return
        for what, found in answers(model, X).items():
            assert np.isfinite(found).all(), what


@pytest.mark.parametrize("rows", ["two groups", "two groups, and many"])
def test_two_groups_differ_in_one_component_and_no_column_is_rounding(rows):
    with pytest.raises(InvalidInputError, match="rows differ in 1 components"):
        ELMEmbedding(n_components=2, n_hidden=30, random_state=0).fit(ROWS[rows])
    model = ELMSpectralClustering(2, n_hidden=30, random_state=0).fit(ROWS[rows])
    assert model.embedding_.beta_.shape == (30, 1)


@pytest.mark.parametrize("n_clusters", [2, 5])
@pytest.mark.parametrize("rows", ["two groups", "a few that differ", "the same, and many"])
def test_rows_that_are_the_same_are_in_the_same_cluster_of_the_graph(rows, n_clusters):
    X = ROWS[rows]
    model = ELMSpectralClustering(n_clusters, n_hidden=30, coupling="free", random_state=0)
    if len(np.unique(X, axis=0)) < n_clusters:
        with pytest.raises(InvalidInputError, match="different rows, and n_clusters=5"):
            model.fit(X)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UlmusWarning)
        labels = model.fit(X).labels_
    for row in np.unique(X, axis=0):
        assert len(set(labels[(row == X).all(axis=1)])) == 1


@pytest.mark.parametrize("coupling", ["tight", "free"])
@pytest.mark.parametrize("rows", ["two groups", "two groups, and many"])
def test_two_groups_of_identical_rows_are_two_clusters(rows, coupling):
    model = ELMSpectralClustering(2, n_hidden=30, coupling=coupling, random_state=0)
    labels = model.fit(ROWS[rows]).labels_
    half = len(labels) // 2
    assert set(labels[:half]) != set(labels[half:])
    assert len(set(labels[:half])) == len(set(labels[half:])) == 1
    assert (model.predict(ROWS[rows]) == labels).all()


def test_local_widths_keep_far_rows_apart_from_a_group_of_identical_ones():
    near, far = np.zeros((20, 1)), np.arange(1.0, 11.0)[:, None] * 100.0
    W = KNNGraph(5, width="local").affinity(np.vstack([near, far])).toarray()
    assert (W[:20, :20].max(axis=1) == 1.0).all()
    # Rows 20 and 21 name rows of the group; t is their own, a quarter of how far their last is.
    assert 0.0 < W[:20, 20:].max() < 0.75
