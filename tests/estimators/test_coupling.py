"""Labels that are spread over the graph first: coupling="free"."""

import pickle
import warnings
from copy import copy, deepcopy

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs, make_moons

from ulmus import (
    ELMClassifier,
    KNNGraph,
    RBFFeatures,
    SemiSupervisedELMClassifier,
    SemiSupervisedELMRegressor,
)
from ulmus.exceptions import InvalidParameterError, UnreachedRowsWarning
from ulmus.features.hidden_layer import comparable_rows, scaled_rows

MOONS, SIDE = make_moons(800, noise=0.08, random_state=0)
NAMES = np.array(["left", "right"])


def few(y, count, seed=0, unknown=-1):
    known = np.random.default_rng(seed).choice(len(y), count, replace=False)
    found = np.full(len(y), unknown, dtype=y.dtype)
    found[known] = y[known]
    return found


def free(**parameters):
    return SemiSupervisedELMClassifier(
        RBFFeatures(60, width=0.5, random_state=0), coupling="free", **parameters
    )


@pytest.mark.parametrize(
    "given",
    [{"lam": 0.1}, {"lam": np.logspace(-2, 2, 3)}, {"solver": "spectral"}],
    ids=["lam", "several lam", "solver"],
)
def test_what_belongs_to_the_published_form_asks_for_it(given):
    model = SemiSupervisedELMClassifier(n_hidden=50, random_state=0, **given)
    assert model.fit(MOONS, few(SIDE, 30)).coupling_ == "published"


def test_the_graph_holds_what_few_units_cannot():
    labels = few(SIDE, 12, seed=1)
    model = free().fit(MOONS, labels)
    assert np.mean(model.transduction_ == SIDE) > 0.97
    new, side = make_moons(500, noise=0.08, random_state=1)
    assert model.score(new, side) > 0.97
    assert_array_equal(model.transduction_[labels >= 0], labels[labels >= 0])
    assert_array_equal(
        model.label_distributions_.argmax(axis=1)[labels < 0], model.transduction_[labels < 0]
    )
    assert_allclose(model.label_distributions_.sum(axis=1), 1, rtol=1e-5)
    assert model.selection_ == "loo"
    kinds, weights = (model.candidates_[name] for name in ("kind", "weight"))
    assert weights[kinds == "free"].sum() > 0.999  # the others stand by
    assert model.coupling_ == "free"


def test_beta_is_the_supervised_fit_to_the_classes_the_graph_gave():
    model = free(C=3.0).fit(MOONS, few(SIDE, 12, seed=1))
    alone = ELMClassifier(RBFFeatures(60, width=0.5, random_state=0), C=3.0)
    alone.fit(MOONS, model.transduction_)
    assert_allclose(model.beta_, alone.beta_, rtol=1e-6, atol=1e-9)


def test_rows_apart_from_every_label_are_told_of():
    far = MOONS[:50] + np.array([100.0, 0.0])
    X, y = np.vstack([MOONS, far]), np.concatenate([few(SIDE, 20), np.full(50, -1)])
    with pytest.warns(UnreachedRowsWarning, match=r"50 of 850 rows are joined to no labelled row"):
        model = free(graph=KNNGraph(5)).fit(X, y)
    assert_allclose(model.label_distributions_.sum(axis=1), 1.0, rtol=1e-5)


def test_a_row_without_neighbours():
    W = KNNGraph(6, width="local").affinity(MOONS).tolil()
    W[5, :] = 0
    W[:, 5] = 0
    labels = few(SIDE, 20)
    labels[5] = -1
    with pytest.warns(UnreachedRowsWarning, match=r"1 of 800"):
        model = free(graph=sp.csr_array(W)).fit(MOONS, labels)
    assert model.transduction_[5] == SIDE[5]


def test_a_class_that_no_label_has_is_not_there():
    X, y = make_blobs(600, centers=3, random_state=0)
    labels = few(y, 30)
    labels[labels == 2] = -1
    model = free().fit(X, labels)
    assert_array_equal(model.classes_, [0, 1])


def test_one_label_a_class():
    labels = np.full(800, -1)
    for side in (0, 1):
        labels[np.flatnonzero(side == SIDE)[0]] = side
    model = free().fit(MOONS, labels)
    assert model.selection_ == "prior"
    assert np.mean(model.transduction_ == SIDE) > 0.9


def test_a_few_wrong_labels_do_little_harm():
    labels = few(SIDE, 60)
    wrong = np.flatnonzero(labels >= 0)[:6]
    labels[wrong] = 1 - labels[wrong]
    model = free().fit(MOONS, labels)
    unknown = labels < 0
    assert np.mean(model.transduction_[unknown] == SIDE[unknown]) > 0.93


def test_columns_of_one_unit_keep_it_and_others_are_scaled():
    rng = np.random.default_rng(0)
    pixels = rng.uniform(0, 255, size=(50, 8))
    pixels[:, 0] /= 100  # one that hardly varies
    features = RBFFeatures(5, random_state=0).fit(pixels)
    assert_array_equal(comparable_rows(features, pixels), pixels)
    mixed = pixels * np.logspace(0, 4, 8)
    features = RBFFeatures(5, random_state=0).fit(mixed)
    assert_array_equal(comparable_rows(features, mixed), scaled_rows(features, mixed))
    sparse = sp.csr_array(pixels)
    assert comparable_rows(features, sparse) is sparse


def test_names_for_classes():
    labels = few(SIDE, 20)
    named = np.where(labels >= 0, NAMES[labels], None)
    a, b = free().fit(MOONS, named), free().fit(MOONS, labels)
    assert_array_equal(a.transduction_, NAMES[b.transduction_])


@pytest.mark.parametrize("more", [1, 40])
def test_other_labels_give_the_model_of_a_fit(more):
    labels = few(SIDE, 20)
    model = free().fit(MOONS, labels)
    before = model.beta_.copy()
    other = labels.copy()
    unknown = np.flatnonzero(labels < 0)[:more]
    other[unknown] = SIDE[unknown]
    warm, cold = model.relabel(other), free(C=model.C_).fit(MOONS, other)
    assert_array_equal(warm.transduction_, cold.transduction_)
    assert_allclose(warm.beta_, cold.beta_, rtol=1e-6, atol=1e-8)
    assert_array_equal(model.beta_, before)
    assert_allclose(warm.loo_score_, cold.loo_score_, rtol=1e-4)


def test_what_other_labels_start_from_is_not_copied():
    model = free().fit(MOONS, few(SIDE, 20))
    again = model.relabel(few(SIDE, 25, seed=2))
    assert again._prepared is model._prepared
    for copied in (pickle.loads(pickle.dumps(model)), deepcopy(model), copy(model)):
        assert not hasattr(copied, "_prepared")
        assert_array_equal(copied.relabel(few(SIDE, 25, seed=2)).beta_, again.beta_)


def test_other_labels_where_units_outnumber_the_rows():
    X, y = make_blobs(60, centers=3, random_state=0)
    labels = few(y, 20)
    model = SemiSupervisedELMClassifier(n_hidden=100, coupling="free", random_state=0)
    model.fit(X, labels)
    labels[:10] = y[:10]
    cold = SemiSupervisedELMClassifier(n_hidden=100, coupling="free", C=model.C_, random_state=0)
    warm = model.relabel(labels)
    assert_array_equal(warm.transduction_, cold.fit(X, labels).transduction_)


def test_a_new_class_among_other_labels():
    X, y = make_blobs(600, centers=3, random_state=0)
    labels = few(y, 30)
    two = np.where(labels == 2, -1, labels)
    model = free(lam=24.0, C=1.0).fit(X, two)
    assert_allclose(
        model.relabel(labels).beta_, free(lam=24.0, C=1.0).fit(X, labels).beta_, atol=1e-6
    )


def test_numbers_follow_the_graph_too():
    t = np.linspace(3, 14, 900)
    X = np.column_stack([t * np.cos(t), t * np.sin(t)])
    y = few(t, 60, unknown=np.nan)
    model = SemiSupervisedELMRegressor(RBFFeatures(80, width=0.3, random_state=0), coupling="free")
    model.fit(X, y)
    assert np.abs(model.transduction_ - t).mean() < 0.3
    assert_array_equal(model.transduction_[~np.isnan(y)], y[~np.isnan(y)])
    other = y.copy()
    other[7] = t[7]
    assert np.abs(model.relabel(other).transduction_ - t).mean() < 0.3


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"coupling": "loose"}, "coupling='loose' is unknown"),
        ({"coupling": 2.0}, "coupling=2.0 is unknown"),
        ({"coupling": "free", "lam": 0.0}, "lam=0.0"),
    ],
)
def test_couplings_that_cannot_be(given, message):
    with pytest.raises(InvalidParameterError, match=message):
        SemiSupervisedELMClassifier(n_hidden=20, **given).fit(MOONS, few(SIDE, 20))


def test_validation_belongs_to_the_published_form():
    with pytest.raises(InvalidParameterError, match="validation"):
        free().fit(MOONS, few(SIDE, 20), validation=(MOONS[:5], SIDE[:5]))


def test_nothing_is_said_of_a_graph_that_reaches_every_row():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        free().fit(MOONS, few(SIDE, 20))
