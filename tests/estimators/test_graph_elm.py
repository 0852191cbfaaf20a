"""What GraphELMClassifier promises."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_classification
from sklearn.frozen import FrozenEstimator

import oracles
from ulmus import ELMClassifier, GraphELMClassifier, RandomFeatures, RBFFeatures
from ulmus.exceptions import InvalidInputError, InvalidParameterError

X, y = make_classification(300, 8, n_informative=5, n_classes=3, random_state=0)
SETTLED = FrozenEstimator(RandomFeatures(25, random_state=0).fit(X))
CUTS = [40, 41, 200]


def batches():
    return zip(np.split(X, CUTS), np.split(y, CUTS), strict=True)


@pytest.mark.parametrize("h", [40, 400])
def test_the_weights_are_the_formula(h):
    model = GraphELMClassifier(n_hidden=h, C=2.0, lam=3.0, random_state=0).fit(X, y)
    H = RandomFeatures(h, random_state=0).fit_transform(X)
    expected = oracles.graph_elm(H, y, oracles.one_vs_rest(y, np.arange(3)), 3.0, 2.0)
    assert_allclose(model.decision_function(X), H @ expected, rtol=1e-6, atol=1e-8)
    assert (model.C_, model.lam_, model.selection_) == (2.0, 3.0, "fixed")
    assert not hasattr(model, "loo_path_")


@pytest.mark.parametrize("h", [40, 400])
def test_lam_and_C_are_those_that_leave_out_best(h):
    model = GraphELMClassifier(n_hidden=h, random_state=0).fit(X, y)
    path = model.loo_path_
    assert len(path["C"]) == len(path["lam"]) == 6 * 25
    best = np.flatnonzero((path["C"] == model.C_) & (path["lam"] == model.lam_))[0]
    assert path["error_rate"][best] <= path["error_rate"].min() + 1.001 / len(y)
    assert model.selection_ == "loo"
    assert model.loo_score_ == pytest.approx(1 - path["error_rate"][best])
    plain = ELMClassifier(RandomFeatures(h), random_state=0).fit(X, y)
    # Past C = 10⁶ a fit through every row leaves little but rounding to divide by.
    ours, theirs = path["squared_error"][:21], plain.loo_path_["squared_error"][:21]
    assert_allclose(ours, theirs, rtol=1e-4)


def test_lists_and_numbers_mix():
    model = GraphELMClassifier(n_hidden=40, C=[0.5, 5.0], lam=1.0, random_state=0).fit(X, y)
    assert_array_equal(model.loo_path_["C"], [0.5, 5.0])
    assert model.lam_ == 1.0
    model = GraphELMClassifier(n_hidden=40, C=1.0, lam=[0.0, 2.0], random_state=0).fit(X, y)
    assert_array_equal(model.loo_path_["lam"], [0.0, 2.0])
    assert GraphELMClassifier(n_hidden=40, C=[1.0], lam=2.0).fit(X, y).selection_ == "loo"


def test_the_number_of_units_can_be_chosen():
    model = GraphELMClassifier(RandomFeatures(128, random_state=0), n_hidden="loo", C=1.0, lam=1.0)
    assert model.fit(X, y).n_hidden_ in (128, 64, 32, 16)


@pytest.mark.parametrize("C", [1.0, "loo"])
def test_partial_fit_is_one_fit_on_all_batches(C):
    lam = 2.0 if C == 1.0 else "loo"
    parts = GraphELMClassifier(SETTLED, C=C, lam=lam)
    for rows, labels in batches():
        parts.partial_fit(rows, labels, classes=[0, 1, 2])
    stream = GraphELMClassifier(SETTLED, C=C, lam=lam).fit(batches())
    rewound = GraphELMClassifier(SETTLED, C=C, lam=lam).fit(batches)
    whole = GraphELMClassifier(SETTLED, C=parts.C_, lam=parts.lam_).fit(X, y)
    for model in (parts, stream, rewound):
        assert_allclose(model.beta_, whole.beta_, rtol=1e-5, atol=1e-7)
        assert model.selection_ == ("fixed" if C == 1.0 else "loo")


def test_rows_can_be_added_forgotten_and_faded():
    settings = {"C": 1.0, "lam": 2.0}
    whole = GraphELMClassifier(SETTLED, **settings).fit(X, y)
    for rows in (200, 20):
        model = GraphELMClassifier(SETTLED, **settings).fit(X[:rows], y[:rows])
        model.partial_fit(X[rows:], y[rows:])
        assert_allclose(model.beta_, whole.beta_, rtol=1e-6, atol=1e-9)
    model.partial_fit(X[200:], y[200:], forget=True)
    without = GraphELMClassifier(SETTLED, **settings).fit(X[:200], y[:200])
    assert_allclose(model.beta_, without.beta_, rtol=1e-5, atol=1e-7)
    faded = GraphELMClassifier(SETTLED, **settings).partial_fit(X[:150], y[:150])
    faded.partial_fit(X[150:], y[150:], decay=0.25)
    weight = np.where(np.arange(300) < 150, 0.25, 1.0)
    weighted = GraphELMClassifier(SETTLED, **settings).fit(X, y, sample_weight=weight)
    assert_allclose(faded.beta_, weighted.beta_, rtol=1e-6, atol=1e-8)


def test_a_class_may_turn_up_late():
    order = np.argsort(y == 1, kind="stable")
    model = GraphELMClassifier(SETTLED, C=1.0, lam=2.0)
    for rows in np.split(order, [100, 200]):
        model.partial_fit(X[rows], y[rows])
    whole = GraphELMClassifier(SETTLED, C=1.0, lam=2.0).fit(X, y)
    assert_allclose(model.beta_, whole.beta_, rtol=1e-6, atol=1e-8)


def test_sparse_rows_float32_weights_and_other_maps():
    settings = {"C": 1.0, "lam": 2.0, "random_state": 0}
    dense = GraphELMClassifier(n_hidden=30, **settings).fit(X, y)
    thin = GraphELMClassifier(n_hidden=30, **settings).fit(sp.csr_array(X), y)
    assert_allclose(thin.decision_function(X), dense.decision_function(X), rtol=1e-8)
    narrow = GraphELMClassifier(n_hidden=30, **settings).fit(X.astype(np.float32), y)
    assert narrow.decision_function(X.astype(np.float32)).dtype == np.float32
    assert_allclose(narrow.decision_function(X), dense.decision_function(X), atol=1e-3)
    fair = GraphELMClassifier(RBFFeatures(30), class_weight="balanced", random_state=0).fit(X, y)
    assert fair.score(X, y) > 0.8
    assert_array_equal(fair.classes_[fair.predict_proba(X).argmax(axis=1)], fair.predict(X))


@pytest.mark.parametrize("lam", [-1.0, np.nan, np.inf, "auto", [], [[1.0]]])
def test_lam_that_is_no_strength(lam):
    with pytest.raises(InvalidParameterError, match="lam="):
        GraphELMClassifier(lam=lam).fit(X, y)


def test_classes_that_are_too_few():
    with pytest.raises(InvalidInputError, match="only one class"):
        GraphELMClassifier().fit(X, np.zeros(300))
    model = GraphELMClassifier(n_hidden=20, random_state=0)
    lone = np.where(np.arange(300) == 7, 3, y)  # one row has a class of its own
    assert np.isfinite(model.fit(X, lone).predict_proba(X)).all()
    assert model.fit(X[[0, 1]], ["a", "b"]).score(X[[0, 1]], ["a", "b"]) == 1.0


@pytest.mark.parametrize("value", [0.0, 7.0])
def test_constant_features(value):
    same = np.full((60, 4), value)
    model = GraphELMClassifier(n_hidden=15, random_state=0).fit(same, np.arange(60) % 3 == 0)
    assert not model.predict(same).any()  # the majority


def test_a_failed_fit_leaves_the_model_as_it_was():
    model = GraphELMClassifier(n_hidden=15, random_state=0).fit(X, y)
    before, names = model.predict(X), set(vars(model))
    for call in (
        lambda: model.fit(np.full_like(X, np.nan), y),
        lambda: model.set_params(lam=-1.0).fit(X[:, :3], y),
    ):
        with pytest.raises(ValueError, match="NaN|lam="):
            call()
    assert set(vars(model)) == names
    assert_array_equal(model.predict(X), before)
