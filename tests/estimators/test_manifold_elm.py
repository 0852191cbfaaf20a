"""What ManifoldELMClassifier promises, and the robust node of its paper."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits, load_iris, load_wine, make_classification
from sklearn.model_selection import StratifiedShuffleSplit

from ulmus import ELMRegressor, ManifoldELMClassifier, RandomFeatures, RBFFeatures
from ulmus.exceptions import InvalidInputError, InvalidParameterError

X, y = make_classification(300, 8, n_informative=5, n_classes=3, random_state=0)


@pytest.mark.parametrize("h", [40, 400])
def test_C_and_lam_are_those_that_hold_out_best(h):
    model = ManifoldELMClassifier(n_hidden=h, lam=[0.0, 0.5], random_state=0).fit(X, y)
    path = model.cv_path_
    assert len(path["C"]) == 42
    best = np.flatnonzero((path["C"] == model.C_) & (path["lam"] == model.lam_))[0]
    assert path["error_rate"][best] <= path["error_rate"].min() + 1.001 / len(y)
    assert model.selection_ == "cv"
    assert model.cv_score_ == pytest.approx(1 - path["error_rate"][best])
    fixed = ManifoldELMClassifier(n_hidden=h, lam=model.lam_, C=model.C_, random_state=0).fit(X, y)
    assert fixed.selection_ == "fixed"
    assert not hasattr(fixed, "cv_path_")
    assert_allclose(fixed.decision_function(X), model.decision_function(X), atol=1e-5)


def test_the_default_ridge_suits_rows_that_are_fewer_than_units():
    scores = []
    for load in (load_iris, load_wine):
        X, y = load(return_X_y=True)
        halves = StratifiedShuffleSplit(3, train_size=0.5, random_state=0).split(X, y)
        for train, test in halves:
            model = ManifoldELMClassifier(random_state=0).fit(X[train], y[train])
            scores.append(model.score(X[test], y[test]))
    assert np.mean(scores) > 0.965  # 0.935 with a hundredth of it


def test_probabilities_agree_with_predictions_and_are_not_too_sure():
    X, y = load_digits(return_X_y=True)
    for C in ("cv", 0.1):
        model = ManifoldELMClassifier(n_hidden=150, C=C, random_state=0).fit(X[:400], y[:400])
        P = model.predict_proba(X[400:])
        assert_array_equal(model.classes_[P.argmax(axis=1)], model.predict(X[400:]))
        assert abs(P.max(axis=1).mean() - model.score(X[400:], y[400:])) < 0.08


@pytest.mark.parametrize("form", ["positive", "bounded"])
def test_negative_eigenvalues_of_the_scatter_need_no_warning(form):
    model = ManifoldELMClassifier(n_hidden=400, lam=0.0, form=form, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # what is solved is positive definite
        assert model.fit(X[:40], y[:40]).score(X, y) > 0.5
    assert model.n_negative_ > 0


def test_sparse_rows_float32_weights_and_other_maps():
    settings = {"C": 1.0, "random_state": 0}
    dense = ManifoldELMClassifier(n_hidden=30, **settings).fit(X, y)
    thin = ManifoldELMClassifier(n_hidden=30, **settings).fit(sp.csr_array(X), y)
    # Sparse rows are scaled and not centred, which moves no two of them nearer.
    assert_allclose(thin.decision_function(X), dense.decision_function(X), rtol=1e-6, atol=1e-9)
    narrow = ManifoldELMClassifier(n_hidden=30, **settings).fit(X.astype(np.float32), y)
    assert narrow.decision_function(X.astype(np.float32)).dtype == np.float32
    assert_allclose(narrow.decision_function(X), dense.decision_function(X), atol=1e-2)
    rare = y == 0
    fair = ManifoldELMClassifier(RBFFeatures(30), class_weight="balanced", **settings)
    plain = ManifoldELMClassifier(RBFFeatures(30), **settings)
    rows = np.r_[np.flatnonzero(rare)[:15], np.flatnonzero(~rare)]
    few = [m.fit(X[rows], rare[rows]).predict(X).sum() for m in (fair, plain)]
    assert few[0] > few[1]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"lam": 1.5}, "lam=1.5 must be a number from 0 to 1"),
        ({"lam": [0.5, -0.1]}, "from 0 to 1"),
        ({"lam": "loo"}, "lam='loo'"),
        ({"lam": np.nan}, "from 0 to 1"),
        ({"C": 0.0}, "C=0.0 must be 'cv', a number that is positive"),
        ({"C": "loo"}, "must be 'cv'"),
        ({"C": []}, "that is positive"),
        ({"form": "negative"}, "use one of 'positive', 'bounded'"),
        ({"ridge": 0.0}, "ridge=0.0 must be a positive number"),
        ({"cv": 1}, "cv=1 must be a whole number of at least 2"),
        ({"n_neighbors": 0}, "n_neighbors=0"),
    ],
    ids=str,
)
def test_arguments_that_cannot_be_used(wrong, words):
    with pytest.raises(InvalidParameterError, match=words):
        ManifoldELMClassifier(**wrong).fit(X, y)


def test_classes_that_are_too_few():
    with pytest.raises(InvalidInputError, match="only one class"):
        ManifoldELMClassifier().fit(X, np.zeros(300))
    model = ManifoldELMClassifier(n_hidden=20, random_state=0)
    lone = np.where(np.arange(300) == 7, 3, y)  # one row has a class of its own
    assert np.isfinite(model.fit(X, lone).predict_proba(X)).all()
    for C in ("cv", 1.0):  # every class is one row: there is nothing to hold out
        assert model.set_params(C=C).fit(X[:2], ["a", "b"]).score(X[:2], ["a", "b"]) == 1.0


@pytest.mark.parametrize("value", [0.0, 7.0])
def test_constant_features(value):
    same = np.full((60, 4), value)
    model = ManifoldELMClassifier(n_hidden=15, random_state=0).fit(same, np.arange(60) % 3 == 0)
    assert not model.predict(same).any()  # the majority


def test_a_failed_fit_leaves_the_model_as_it_was():
    model = ManifoldELMClassifier(n_hidden=15, random_state=0).fit(X, y)
    before, names = model.predict(X), set(vars(model))
    for call in (
        lambda: model.fit(np.full_like(X, np.nan), y),
        lambda: model.set_params(lam=2.0).fit(X[:, :3], y),
        lambda: model.set_params(lam=0.5, n_neighbors=0).fit(X[:, :3], y),
    ):
        with pytest.raises(ValueError, match="NaN|lam=|n_neighbors="):
            call()
    assert set(vars(model)) == names
    assert_array_equal(model.predict(X), before)


def test_few_images_of_every_class_by_default():
    pixels, digit = load_digits(return_X_y=True)
    rng = np.random.default_rng(0)
    train = np.concatenate([rng.permutation(np.flatnonzero(digit == k))[:10] for k in range(10)])
    test = np.setdiff1d(np.arange(len(digit)), train)
    model = ManifoldELMClassifier(random_state=0).fit(pixels[train], digit[train])
    assert model.score(pixels[test], digit[test]) > 0.85


# ---------------------------------------------------------------- the robust node
@pytest.mark.parametrize("seed", range(3))
def test_a_far_outlier_moves_a_fit_with_robust_nodes_less(seed):
    # A row 100σ away is scaled so that the others crowd together; the inputs are left as they are.
    rng = np.random.default_rng(seed)
    clean = rng.standard_normal((200, 2))
    value = np.sin(clean[:, 0]) + 0.5 * clean[:, 1]
    far = np.vstack([clean, [[100.0, 100.0]]])
    moved = {}
    for node in ("gaussian", "robust"):
        features = RBFFeatures(50, node=node, scaling=None, random_state=seed)
        fits = [
            ELMRegressor(features, C=10.0).fit(rows, target).predict(clean)
            for rows, target in ((clean, value), (far, np.append(value, 30.0)))
        ]
        moved[node] = np.abs(fits[1] - fits[0]).mean()
    assert moved["robust"] < moved["gaussian"]


def test_robust_nodes_stay_away_from_zero():
    rows = np.array([[0.0, 0.0], [100.0, 100.0]])
    clean = np.random.default_rng(0).standard_normal((200, 2))
    settings = {"n_hidden": 50, "scaling": None, "random_state": 0}
    robust = RBFFeatures(node="robust", **settings).fit(clean).transform(rows)
    gauss = RBFFeatures(node="gaussian", **settings).fit(clean).transform(rows)
    assert robust.min() > 1e-3
    assert gauss[1].max() < 1e-9
    assert RandomFeatures(**settings).fit(clean).transform(rows).shape == (2, 50)
