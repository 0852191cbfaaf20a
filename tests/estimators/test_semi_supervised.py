"""What the semi-supervised estimators promise."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import KNeighborsTransformer

import oracles
from ulmus import (
    ConjugateGradients,
    ELMClassifier,
    KNNGraph,
    RandomFeatures,
    SemiSupervisedELMClassifier,
    SemiSupervisedELMRegressor,
)
from ulmus.exceptions import InvalidInputError, InvalidParameterError

X, y = make_moons(200, noise=0.08, random_state=0)
FEW = np.full(200, -1)
FEW[:20] = y[:20]


def small(**parameters):
    return SemiSupervisedELMClassifier(**{"n_hidden": 60, "random_state": 0} | parameters)


def test_twenty_labels_are_enough_for_two_moons():
    model = small(n_hidden=300).fit(X, FEW)
    assert model.selection_ == "loo"
    assert np.mean(model.transduction_ == y) > 0.93
    new, truth = make_moons(300, noise=0.08, random_state=1)
    assert model.score(new, truth) > 0.9


def test_the_weights_are_equation_16_in_the_maps_own_scale():
    model = small(C=3.0, lam=0.2, graph=KNNGraph(4)).fit(X, FEW)
    H = model.features_.transform(X)
    scaled = (X - model.features_.scaling_.center) * model.features_.scaling_.factor
    L = oracles.laplacian(oracles.knn_affinity(scaled, 4, heat=True), normalized=True)
    known = FEW >= 0
    counts = np.bincount(FEW[known])
    c = np.where(known, 3.0 * known.sum() / (2 * counts[np.maximum(FEW, 0)]), 0.0)
    T = np.where(known, 2.0 * FEW - 1.0, 0.0)[:, None]
    assert_allclose(model.beta_, oracles.semi_supervised(H, L, T, c, 0.2), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("h", [50, 400])
def test_every_solver_gives_the_same(h):
    settings = {"n_hidden": h, "C": 10.0, "lam": 0.5}
    spectral = small(**settings, solver="spectral").fit(X, FEW)
    direct = small(**settings, solver="direct").fit(X, FEW)
    iterated = small(**settings, solver=ConjugateGradients(1e-10, 2000)).fit(X, FEW)
    assert (spectral.solver_, direct.solver_, iterated.solver_) == ("spectral", "direct", "cg")
    for other in (direct, iterated):
        assert_allclose(other.decision_function(X), spectral.decision_function(X), atol=1e-5)
    assert iterated.n_iter_ > 1
    assert direct.temperature_ == pytest.approx(spectral.temperature_, rel=1e-4)


def test_auto_says_what_it_does_and_why():
    assert small().fit(X, FEW).solver_ == "pool"
    assert small(coupling="published").fit(X, FEW).solver_ == "spectral"
    one = small(C=1.0, lam=1.0).fit(X, FEW)
    assert (one.solver_, one.selection_) == ("direct", "fixed")
    assert "one Cholesky" in one.solver_reason_
    assert small(C=1.0, lam=1.0, n_hidden=500).fit(X, FEW).solver_ == "spectral"


def test_the_surface_is_kept_and_the_choice_is_on_it():
    model = small(C=[0.1, 10.0], lam=[0.0, 1.0, 100.0]).fit(X, FEW)
    assert model.surface_["error_rate"].shape == (3, 2)
    assert model.C_ in (0.1, 10.0)
    assert model.lam_ in (0.0, 1.0, 100.0)
    best = model.surface_["error_rate"].min()
    at = model.surface_["error_rate"][
        list(model.surface_["lam"]).index(model.lam_), list(model.surface_["C"]).index(model.C_)
    ]
    assert at <= best + 1e-9


def test_a_validation_set_is_used():
    held = (X[100:140], y[100:140])
    model = small().fit(X, FEW, validation=held)
    assert model.selection_ == "validation"
    assert model.score(X, y) > 0.9
    with pytest.raises(InvalidInputError, match=r"labels that no labelled row has: \[5\]"):
        small().fit(X, FEW, validation=(X[:2], [0, 5]))
    with pytest.raises(InvalidInputError, match="a pair"):
        small().fit(X, FEW, validation=X)


def test_relabelling_is_a_fit_with_other_labels():
    model = small(coupling="published").fit(X, FEW)
    before = model.beta_.copy()
    other = np.full(200, -1)
    other[50:70] = y[50:70]
    again = model.relabel(other)
    fresh = small(coupling="published").fit(X, other)
    assert_allclose(again.beta_, fresh.beta_, rtol=1e-6, atol=1e-8)
    assert_array_equal(again.transduction_, fresh.transduction_)
    assert_array_equal(model.beta_, before)
    assert (again.C_, again.lam_) == (fresh.C_, fresh.lam_)
    direct = small(C=1.0, lam=1.0).fit(X, FEW)  # no eigendecomposition yet
    assert_allclose(
        direct.relabel(other).beta_, small(C=1.0, lam=1.0).fit(X, other).beta_, atol=1e-6
    )
    with pytest.raises(InvalidInputError, match="call fit first"):
        small().relabel(other)


def test_given_labels_stay_and_distributions_agree():
    wrong = FEW.copy()
    wrong[0] = 1 - wrong[0]
    model = small(coupling="published").fit(X, wrong)
    assert_array_equal(model.transduction_[wrong >= 0], wrong[wrong >= 0])
    P = model.label_distributions_
    assert P.shape == (200, 2)
    assert_array_equal(model.classes_[P.argmax(axis=1)], model.predict(X))


@pytest.mark.parametrize(
    ("labels", "mark"),
    [(["left", "right"], None), (["left", "right"], -1), ([7, 3], -1), (["a", 2], np.nan)],
    ids=str,
)
def test_labels_of_any_kind(labels, mark):
    target = np.array([labels[k] if k >= 0 else mark for k in FEW], dtype=object)
    model = small().fit(X, target)
    assert set(model.classes_.tolist()) == set(labels)
    plain = small().fit(X, FEW)
    named = np.array([labels[k] for k in plain.transduction_], dtype=object)
    assert np.mean(model.transduction_ == named) > 0.97


def test_sparse_rows_float32_and_graphs_of_other_origin():
    rows = sp.csr_array(np.where(np.abs(X) < 0.05, 0.0, X))
    assert small().fit(rows, FEW).score(rows, y) > 0.9
    narrow = small().fit(X.astype(np.float32), FEW)
    assert narrow.decision_function(X.astype(np.float32)).dtype == np.float32
    assert narrow.score(X.astype(np.float32), y) > 0.9
    for graph in (KNeighborsTransformer(n_neighbors=5), KNNGraph(5).affinity(X)):
        assert small(graph=graph).fit(X, FEW).score(X, y) > 0.9


def test_all_rows_labelled_and_a_class_with_one_label():
    assert small().fit(X, y).score(X, y) > 0.97
    lone = np.full(200, -1)
    lone[np.flatnonzero(y == 0)[:5]] = 0
    lone[np.flatnonzero(y == 1)[0]] = 1
    assert small().fit(X, lone).score(X, y) > 0.8


@pytest.mark.parametrize("solver", ["spectral", "direct", "cg"])
def test_many_labels_are_calibrated_too(solver):
    # With more labels than units, a sample of them is left out.
    rows = np.random.default_rng(0).standard_normal((800, 3))
    truth = (rows[:, 0] > 0).astype(int)
    model = small(n_hidden=50, C=1.0, lam=0.1, solver=solver).fit(rows, truth)
    P = model.predict_proba(rows)
    assert_array_equal(P.argmax(axis=1), model.predict(rows))


def test_digits_with_five_labels_a_class():
    rows, truth = load_digits(return_X_y=True)
    scores, plain = [], []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        few = np.full(len(truth), -1)
        for label in range(10):
            few[rng.choice(np.flatnonzero(truth == label), 5, replace=False)] = label
        model = SemiSupervisedELMClassifier(n_hidden=300, random_state=seed).fit(rows, few)
        scores.append(np.mean(model.transduction_[few < 0] == truth[few < 0]))
        supervised = ELMClassifier(random_state=seed).fit(rows[few >= 0], truth[few >= 0])
        plain.append(supervised.score(rows[few < 0], truth[few < 0]))
    assert np.mean(scores) > 0.92
    assert np.mean(scores) > np.mean(plain) + 0.08


# ---------------------------------------------------------------- numbers
def test_numbers_on_a_spiral():
    t = np.linspace(3, 14, 300)
    rows = np.column_stack([t * np.cos(t), t * np.sin(t)])
    values = np.full(300, np.nan)
    values[::20] = t[::20]
    model = SemiSupervisedELMRegressor(n_hidden=500, random_state=0).fit(rows, values)
    assert np.abs(model.transduction_ - t).mean() < 0.2
    assert_allclose(model.transduction_[::20], t[::20])
    both = SemiSupervisedELMRegressor(n_hidden=500, random_state=0)
    both.fit(rows, np.column_stack([values, 2 * values + 1]))
    assert both.predict(rows).shape == (300, 2)
    shifted = SemiSupervisedELMRegressor(n_hidden=500, random_state=0).fit(rows, values + 1e4)
    assert_allclose(shifted.predict(rows) - 1e4, model.predict(rows), atol=1e-3)
    again = model.relabel(np.where(np.isnan(values), np.nan, -values))
    assert_allclose(again.predict(rows), -model.predict(rows), atol=1e-3)
    held = (rows[5::20], t[5::20])
    assert (
        SemiSupervisedELMRegressor(n_hidden=500).fit(rows, values, validation=held).selection_
        == "validation"
    )


def test_numbers_that_cannot_be_used():
    model = SemiSupervisedELMRegressor(n_hidden=20)
    with pytest.raises(InvalidInputError, match="every y is NaN"):
        model.fit(X, np.full(200, np.nan))
    with pytest.raises(InvalidInputError, match="NaN in part"):
        model.fit(X, np.column_stack([y, np.where(y == 0, np.nan, 1.0)]))
    with pytest.raises(InvalidInputError, match="infinity"):
        model.fit(X, np.where(y == 0, np.inf, 1.0))
    with pytest.raises(InvalidInputError, match="must be numbers"):
        model.fit(X, np.array(["a"] * 200))


# ---------------------------------------------------------------- bad input
@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (np.where(y == 0, -1, 1), "If −1 is one of your classes"),
        (np.full(200, -1), "No row has a label"),
        (np.where(np.arange(200) < 5, 3, -1), "Only one class is left, 3"),
        (FEW[:-1], "inconsistent numbers of samples"),
        (X[:, 0], "continuous"),
        (np.where(FEW < 0, np.inf, FEW), "infinity; −1 or NaN marks"),
    ],
)
def test_labels_that_cannot_be_used(labels, words):
    with pytest.raises(ValueError, match=words):
        small().fit(X, labels)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"lam": -1.0}, "lam=-1.0 must be"),
        ({"C": 0.0}, "C=0.0 must be"),
        ({"C": []}, r"C=\[\] must be"),
        ({"lam": "auto"}, "lam='auto' must be"),
        ({"solver": "magic"}, "solver='magic' is unknown"),
        ({"solver": "cg"}, "solves for one C and one lam"),
        ({"graph": "knn"}, "is not a graph"),
        ({"graph": sp.eye_array(7).tocsr()}, "The graph has 7 rows, and X has 200"),
        ({"graph": sp.csr_array(-np.ones((200, 200)))}, "negative weights"),
        ({"class_weight": "fair"}, "a dict, 'balanced' or None"),
        ({"features": RandomFeatures(5, activation="swish"), "n_hidden": None}, "swish"),
    ],
    ids=str,
)
def test_parameters_that_cannot_be_used(parameters, words):
    with pytest.raises(ValueError, match=words):
        small(**parameters).fit(X, FEW)


def test_neighbours_beyond_the_rows_and_a_graph_in_pieces():
    assert small(graph=KNNGraph(500)).fit(X, FEW).score(X, y) > 0.6
    pieces = sp.block_diag([np.ones((2, 2))] * 100, format="csr")
    model = small(graph=sp.csr_array(pieces)).fit(X, FEW)
    assert np.isfinite(model.decision_function(X)).all()


def test_a_failed_fit_leaves_the_model_as_it_was():
    model = small().fit(X, FEW)
    before, names = model.predict(X), set(vars(model))
    for bad in (lambda: model.fit(X[:, :1], np.full(200, -1)), lambda: model.fit(X * np.nan, FEW)):
        with pytest.raises(ValueError):  # noqa: PT011
            bad()
        assert set(vars(model)) == names
        assert_array_equal(model.predict(X), before)


def test_conjugate_gradients_that_do_not_arrive_say_so():
    with pytest.warns(ConvergenceWarning, match="raise max_iter or tol"):
        small(C=1e6, lam=1e3, solver=ConjugateGradients(1e-12, 1)).fit(X, FEW)


def test_parameters_may_be_wrong_in_kind():
    with pytest.raises(InvalidParameterError, match="give the width to the map"):
        small(features=RandomFeatures(5), n_hidden=6).fit(X, FEW)


def test_left_out_outputs_are_those_of_labelled_rows_and_notice_a_wrong_label():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)) + np.repeat([[0.0], [7.0]], 30, axis=0)
    y = np.full(60, -1)
    y[:6], y[30:36] = 0, 1
    y[5] = 1  # wrong
    model = SemiSupervisedELMClassifier(n_hidden=50, random_state=0).fit(X, y)
    rows, P = model.left_out_["rows"], model.left_out_["outputs"]
    assert rows.tolist() == np.flatnonzero(y >= 0).tolist()
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    found = P.argmax(axis=1)
    assert rows[found != y[rows]].tolist() == [5]
    assert "left_out_" not in vars(SemiSupervisedELMClassifier(coupling="published").fit(X, y))
