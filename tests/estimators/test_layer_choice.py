"""The default layer of an ELM: columns weighed by leave-one-out, the same however rows come."""

import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_friedman1

import ulmus
from ulmus import ELMClassifier, ELMRegressor, GraphELMClassifier, RandomFeatures, RowFeatures
from ulmus.estimators.layer_choice import weighing_factor

X, y = make_friedman1(200, n_features=9, noise=0.1, random_state=0)
LABELS = (y > np.median(y)).astype(int)
MODELS = {
    "numbers": (ELMRegressor(n_hidden=150, random_state=0), y),
    "classes": (ELMClassifier(n_hidden=150, random_state=0), LABELS),
}


def weights_of(model):
    return model.features_.column_weights


@pytest.mark.parametrize("name", MODELS)
def test_columns_of_noise_weigh_less(name):
    model, targets = MODELS[name]
    model = clone(model).fit(X, targets)
    assert isinstance(model.features_, RowFeatures)
    weights = weights_of(model)
    # The third column matters least.
    assert weights[[0, 1, 3, 4]].min() > weights[5:].max()
    assert_allclose(np.mean(weights**2), 1.0)
    node = {"numbers": "gaussian", "classes": "exponential"}[name]
    assert model.features_.selection_.startswith(f"{node} units, columns weighed in ")
    assert " of 200 left-out rows " in model.features_.selection_


def test_it_is_better_than_units_that_do_not_follow_the_rows():
    A, b = make_friedman1(600, n_features=30, noise=0.5, random_state=1)
    chosen, plain = (
        ELMRegressor(features, random_state=0).fit(A[:400], b[:400]).score(A[400:], b[400:])
        for features in (None, RandomFeatures())
    )
    assert chosen > plain + 0.05


@pytest.mark.parametrize("name", MODELS)
def test_a_row_of_weight_two_is_two_rows_and_their_order_does_not_matter(name):
    model, targets = MODELS[name]
    model, count = clone(model).set_params(C=1.0), 1 + np.arange(200) % 2
    weighted = clone(model).fit(X, targets, sample_weight=count)
    rows = np.random.default_rng(0).permutation(np.repeat(np.arange(200), count))
    repeated = clone(model).fit(X[rows], targets[rows])
    assert_allclose(weights_of(repeated), weights_of(weighted), rtol=1e-5)
    assert_allclose(repeated.predict(X), weighted.predict(X), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", MODELS)
def test_rows_of_every_kind_and_source_have_the_same_layer(name):
    model, targets = MODELS[name]
    whole = clone(model).fit(X, targets)
    halves = [(X[:90], targets[:90]), (X[90:], targets[90:])]
    others = {
        "sparse": clone(model).fit(sp.csr_array(X), targets),
        "batches": clone(model).fit(iter(halves)),
        "stream": clone(model).partial_fit(*halves[0]).partial_fit(*halves[1]),
        "Dask": clone(model).fit(da.from_array(X, chunks=(70, 9)), da.from_array(targets, 70)),
    }
    for other in others.values():
        assert_allclose(weights_of(other), weights_of(whole), rtol=1e-6)
        assert_allclose(other.predict(X), whole.predict(X), rtol=1e-6, atol=1e-8)
    single = clone(model).fit(X.astype(np.float32), targets)
    assert_allclose(weights_of(single), weights_of(whole), rtol=1e-3)


def test_columns_are_weighed_by_a_thousand_rows_or_four_for_each():
    A, b = make_friedman1(1300, n_features=300, random_state=0)
    for columns, rows in ((6, 1000), (300, 1200)):
        model = ELMRegressor(n_hidden=20, C=1.0, random_state=0).fit(A[:, :columns], b)
        assert f" {rows} " in model.features_.selection_


def test_many_rows_on_dask_have_the_layer_that_memory_gives():
    A, b = make_friedman1(2500, n_features=6, random_state=0)
    model = ELMRegressor(n_hidden=20, C=[0.1, 1.0], random_state=0)
    whole = clone(model).fit(A, b)
    blocks = clone(model).fit(da.from_array(A, chunks=(700, 6)), da.from_array(b, 700))
    assert_allclose(weights_of(blocks), weights_of(whole), rtol=1e-6)
    assert_allclose(blocks.predict(A), whole.predict(A), rtol=1e-6)


@pytest.mark.parametrize("C", [0.01, "loo", [1.0, 2.0]])
def test_the_layer_does_not_depend_on_the_given_C(C):
    model = ELMRegressor(n_hidden=30, random_state=0)
    expected = weights_of(clone(model).fit(X, y))
    assert_array_equal(weights_of(model.set_params(C=C).fit(X, y)), expected)


@pytest.mark.parametrize(
    "rows",
    [
        X[:12, :3],
        X[:5, :1],
        np.column_stack([X[:40], np.ones(40), X[:40, 0]]),
        np.random.default_rng(0).standard_normal((40, 3)),
        np.eye(3)[np.arange(40) % 3],
        np.zeros((9, 2)),
    ],
    ids=["few rows", "one column", "constant and duplicate", "noise", "one-hot", "all equal"],
)
def test_weights_neither_explode_nor_vanish(rows):
    targets = y[: len(rows)]
    for model, target in ((ELMRegressor, targets), (ELMClassifier, np.arange(len(rows)) % 2)):
        fitted = model(n_hidden=20, random_state=0).fit(rows, target)
        weights = weights_of(fitted)
        assert np.isfinite(fitted.predict(rows)).all()
        if weights is not None:
            assert_allclose(np.mean(weights**2), 1.0)
            assert weights.min() >= 0.9e-3 * weights.max()


def test_few_rows_of_many_columns_are_not_weighed():
    model = ELMClassifier(n_hidden=20, random_state=0).fit(X[:8], LABELS[:8])
    assert weights_of(model) is None
    assert model.features_.selection_ == (
        "gaussian units, columns as they are scaled: they outnumber the rows to weigh them by"
    )


@pytest.mark.parametrize(("columns", "node"), [(1, "exponential"), (6, "gaussian")])
def test_the_kind_of_units_follows_what_is_to_be_learnt(columns, node):
    """A staircase has corners, and a sum of six waves is smooth."""
    rng = np.random.default_rng(0)
    A = rng.uniform(-1, 1, (300, columns))
    b = np.floor(6 * A[:, 0]) if columns == 1 else np.sin(2 * A).sum(axis=1)
    model = ELMRegressor(n_hidden=100, random_state=0).fit(A, b)
    assert model.features_.node == node
    assert model.features_.selection_.startswith(f"{node} units, ")
    other = {"exponential": "gaussian", "gaussian": "exponential"}[node]
    wrong = ELMRegressor(RowFeatures(100, node=other), random_state=0).fit(A, b)
    plain = ELMRegressor(RowFeatures(100, node=node), random_state=0).fit(A, b)
    assert plain.loo_score_ > wrong.loo_score_


def test_a_layer_that_is_chosen_is_saved_and_loaded(tmp_path):
    model = clone(MODELS["classes"][0]).fit(X, LABELS)
    ulmus.save(model, tmp_path / "model.ulmus")
    again = ulmus.load(tmp_path / "model.ulmus")
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.features_.selection_ == model.features_.selection_
    assert_array_equal(again.partial_fit(X[:20], LABELS[:20]).classes_, [0, 1])


def test_left_out_errors_are_wider_where_columns_were_weighed():
    model = clone(MODELS["numbers"][0]).fit(X, y)
    for weights, numbers in (
        (np.ones(9), 9.0),
        (np.r_[3.0, np.zeros(8)], 1.0 + 2.0 * np.log(9.0)),
        (np.r_[1.0, 1.0, 1.0, np.zeros(6)], 9.0),  # 3 (1 + 2 log 3) are more than all
    ):
        model.features_.column_weights = weights
        assert_allclose(weighing_factor(model, np.ones(200)), np.sqrt(1.0 + numbers / 200.0))
        assert_allclose(weighing_factor(model, np.full(200, 1e-3)), np.sqrt(1.0 + numbers / 200.0))
    given = ELMRegressor(model.features_, C=1.0).fit(X, y)
    assert weighing_factor(given, np.ones(200)) == 1.0
    plain = ELMRegressor(RowFeatures(150, random_state=0), C=1.0).fit(X, y)
    assert weighing_factor(plain, np.ones(200)) == 1.0


def test_the_papers_layer_stays_where_it_was():
    assert isinstance(GraphELMClassifier(n_hidden=5).fit(X, LABELS).features_, RandomFeatures)


def test_widths_are_chosen_from_two_thousand_down():
    model = ELMRegressor(n_hidden="loo", C=[0.1, 1.0], random_state=0).fit(X[:60], y[:60])
    assert model.n_hidden_ in (2000, 1000, 500, 250, 125, 62, 31)
    assert model.features_.transform(X).shape == (200, model.n_hidden_)


def test_rows_in_single_precision_are_fitted_as_those_in_double_precision():
    rng = np.random.default_rng(0)
    # Rows along a line: every unit sees nearly the same.
    X = rng.normal(size=(3000, 1)) * np.ones(20) + 0.01 * rng.normal(size=(3000, 20))
    X, y = X.astype(np.float32), np.sin(3 * X[:, 0]) + X[:, 1]
    narrow, wide = (ELMRegressor(C=1e4, random_state=0).fit(Z, y) for Z in (X, X.astype(float)))
    np.testing.assert_allclose(narrow.predict(X), wide.predict(X.astype(float)), atol=1e-3)
    asked = ELMRegressor(C=1.0, dtype="float32", random_state=0).fit(X, y)
    assert asked.predict(X).dtype == np.float32


def test_one_far_value_costs_the_default_layer_little(tmp_path):
    A, b = make_friedman1(600, noise=0.3, random_state=0)
    far = A.copy()
    far[4, 0], far[9, 3] = 100.0, -1e6
    plain, model = (ELMRegressor(random_state=0).fit(rows[:300], b[:300]) for rows in (A, far))
    assert model.score(A[300:], b[300:]) > plain.score(A[300:], b[300:]) - 0.01
    assert model.feature_importances_[:5].sum() > 0.9
    ulmus.save(model, tmp_path / "model")
    assert_array_equal(ulmus.load(tmp_path / "model").predict(50.0 * A), model.predict(50.0 * A))
    # Far values beyond the rows that units are drawn from count as well.
    many = np.repeat(A, 5, axis=0)
    many[17, 0] = 1e5
    stream = ELMRegressor(random_state=0, n_hidden=100).fit(many, np.repeat(b, 5))
    assert stream.score(A, b) > 0.9
