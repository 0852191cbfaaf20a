"""Rows that wait to be fitted: a model answers as if each had been fitted when it came."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from copy import copy, deepcopy
from threading import Barrier

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis.strategies import booleans, integers, lists
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

import ulmus
from ulmus import (
    ELMClassifier,
    ELMRegressor,
    GraphELMClassifier,
    RandomFeatures,
    RBFFeatures,
    reservoir,
)
from ulmus.exceptions import InvalidInputError
from ulmus.sources import waiting
from ulmus.sources.waiting import Waiting

MODELS = {
    "classifier": ELMClassifier(n_hidden=12, random_state=3),
    "one C": ELMClassifier(RandomFeatures(12), C=2.0, random_state=3),
    # The choice of a layer is the same work for every kind of target: the classifier makes it.
    "regressor": ELMRegressor(RandomFeatures(12), random_state=3),
    "regressor, one C": ELMRegressor(RBFFeatures(12), C=2.0, random_state=3),
    "GELM": GraphELMClassifier(n_hidden=12, C=1.0, lam=1.0, random_state=3),
}
STAGES = {"first": {}, "refitted": {"_NEW": 4}, "sampled": {"_BYTES": 0}}


def begin(monkeypatch, stage):
    """All rows kept without sums; kept beside sums; or a sample beside sums."""
    for name, value in STAGES[stage].items():
        monkeypatch.setattr(reservoir, name, value)
    if stage != "first":
        monkeypatch.setattr(reservoir, "_LEAST", 25)
    monkeypatch.setattr(waiting, "_TOGETHER", 7)


def world(seed, n, model, drifts=True):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4))
    X = X * np.linspace(1, 5, n)[:, None] if drifts else X
    z = X[:, 0] - X[:, 1] + 0.3 * rng.standard_normal(n)
    return X, z if isinstance(model, ELMRegressor) else np.digitize(z, [-1.0, 1.0])


def streamed(model, X, y, weight, cuts, asked):
    """A model after batches; ``asked`` says after which of these it is asked."""
    model = clone(model).partial_fit(X[:40], y[:40], sample_weight=weight[:40])
    ends = sorted({min(40 + cut, len(y)) for cut in cuts} | {len(y)})
    for start, stop, ask in zip([40, *ends], ends, asked, strict=False):
        rows = slice(start, stop)
        model.partial_fit(X[rows], y[rows], sample_weight=weight[rows])
        if ask:
            model.predict(X[:1])
    return model


def outputs(model, X):
    return model.predict(X) if isinstance(model, ELMRegressor) else model.decision_function(X)


def waits(model):
    return "_waiting" in vars(model)


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("name", MODELS)
@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seed=integers(0, 10**6),
    cuts=lists(integers(1, 60), max_size=25),
    asked=lists(booleans(), min_size=30, max_size=30),
    sparse=booleans(),
    weighted=booleans(),
    drifts=booleans(),
)
def test_asking_changes_nothing(
    monkeypatch, stage, name, seed, cuts, asked, sparse, weighted, drifts
):
    begin(monkeypatch, stage)
    X, y = world(seed, 100, MODELS[name], drifts)
    weight = np.random.default_rng(seed).uniform(0.5, 2.0, 100) if weighted else np.ones(100)
    rows = sp.csr_array(X) if sparse else X
    always = streamed(MODELS[name], rows, y, weight, cuts, [True] * 30)
    for times in ([False] * 30, asked):
        found = streamed(MODELS[name], rows, y, weight, cuts, times)
        assert found.C_ == always.C_
        assert found.selection_ == always.selection_
        assert found._kept.seen == always._kept.seen == 100
        assert_allclose(outputs(found, X), outputs(always, X), rtol=1e-8, atol=1e-8)
        if hasattr(always, "temperature_"):
            assert_allclose(found.temperature_, always.temperature_, rtol=1e-4)


@pytest.mark.parametrize("stage", STAGES)
def test_a_row_that_is_added_is_not_fitted_before_something_is_asked(monkeypatch, stage):
    begin(monkeypatch, stage)
    X, y = world(0, 100, None)
    model = ELMClassifier(n_hidden=12, random_state=0).partial_fit(X[:40], y[:40])
    solved = []
    fit = Waiting.fit
    monkeypatch.setattr(Waiting, "fit", lambda self, model: solved.append(1) or fit(self, model))
    for i in range(40, 100):
        model.partial_fit(X[i : i + 1], y[i : i + 1], classes=[0, 1, 2] if i > 40 else None)
    model.predict(X[:1])
    assert len(solved) <= 2  # once for the classes that are declared late, once for the answer
    model.predict(X[:1])
    model.partial_fit(X[:1], y[:1])
    assert waits(model)
    assert len(solved) <= 2


def test_rows_in_float32_wait_as_others_do():
    X, y = world(0, 60, None)
    X = X.astype(np.float32)
    model = ELMClassifier(n_hidden=12, random_state=0).partial_fit(X[:50], y[:50])
    assert waits(model.partial_fit(X[50:], y[50:]))


@pytest.mark.parametrize("name", ["one C", "regressor, one C"])
@pytest.mark.parametrize("weighted", [False, True])
def test_outputs_after_every_row_take_no_factorisation(monkeypatch, name, weighted):
    begin(monkeypatch, "sampled")
    monkeypatch.setattr(waiting, "_TOGETHER", 30)
    X, y = world(0, 920, MODELS[name])
    weight = np.random.default_rng(0).uniform(0.5, 2.0, 920) if weighted else np.ones(920)
    model = clone(MODELS[name]).partial_fit(X[:900], y[:900], sample_weight=weight[:900])
    factor = None
    for i in range(900, 920):
        part = slice(i, i + 1)
        model.partial_fit(X[part], y[part], sample_weight=weight[part])
        assert waits(model)
        found = outputs(model, X)
        if hasattr(model, "predict_proba"):
            model.predict_proba(X)  # reads what a model of two classes has not
        assert factor is None or model._growing.factor is factor
        factor = model._growing.factor
        whole = clone(MODELS[name]).set_params(features=FrozenEstimator(model.features_))
        whole.fit(X[: i + 1], y[: i + 1], sample_weight=weight[: i + 1])
        assert_allclose(found, outputs(whole, X), rtol=1e-9, atol=1e-9)
        assert_allclose(model.beta_, whole.beta_, rtol=1e-7, atol=1e-9)
    assert model._moments.rows == 920
    model.set_params(C=0.5).partial_fit(X[:1], y[:1])
    assert_allclose(model._growing.C, 0.5)  # and not the factor from before


READERS = {
    "an attribute": lambda model: model.beta_,
    "another attribute": lambda model: model.loo_score_,
    "what is asked for in vain": lambda model: hasattr(model, "lam_"),
    "importances": lambda model: model.feature_importances_,
    "a copy": copy,
    "a deep copy": deepcopy,
    "a pickle": lambda model: pickle.loads(pickle.dumps(model)),
    "the host": ulmus.to_host,
    "a summary": lambda model: model._repr_mimebundle_(),
    "sets": lambda model: model.predict_set(X_SOME),
}
X_SOME = world(1, 5, None)[0]


@pytest.mark.parametrize("reader", READERS)
def test_whatever_reads_a_model_sees_the_rows_that_wait(reader):
    X, y = world(0, 60, None)
    model = ELMClassifier(n_hidden=12, random_state=0).partial_fit(X[:50], y[:50])
    model.partial_fit(X[50:], y[50:])
    assert waits(model)
    found = READERS[reader](model)
    assert not waits(model)
    expected = ELMClassifier(n_hidden=12, random_state=0).fit(X, y)
    assert_allclose(model.beta_, expected.beta_, rtol=1e-6, atol=1e-9)
    if isinstance(found, ELMClassifier):
        assert_array_equal(found.beta_, model.beta_)


def test_a_file_has_the_rows_that_wait(tmp_path):
    X, y = world(0, 60, None)
    model = ELMClassifier(n_hidden=12, random_state=0).partial_fit(X[:50], y[:50])
    model.partial_fit(X[50:], y[50:])
    ulmus.save(model, tmp_path / "model.ulmus")
    found = ulmus.load(tmp_path / "model.ulmus")
    assert_array_equal(found.beta_, model.beta_)
    assert found._kept.seen == 60


def test_rows_are_fitted_with_the_parameters_that_the_model_had_when_they_came():
    X, y = world(0, 60, None)
    one = ELMClassifier(n_hidden=12, C=1.0, random_state=0).partial_fit(X[:50], y[:50])
    one.partial_fit(X[50:55], y[50:55]).set_params(C=2.0)
    assert waits(one)
    expected = ELMClassifier(n_hidden=12, C=1.0, random_state=0).fit(X[:55], y[:55])
    assert_allclose(one.beta_, expected.beta_, rtol=1e-8)
    assert one.C == 2.0
    one.partial_fit(X[55:], y[55:])
    expected = ELMClassifier(n_hidden=12, C=2.0, random_state=0).fit(X, y)
    assert_allclose(one.beta_, expected.beta_, rtol=1e-8)


def test_rows_that_may_raise_an_error_are_fitted_at_once():
    X, y = world(0, 60, None)
    for features, rows in (
        (RandomFeatures(12, activation=np.tanh), X),
        (RandomFeatures(12), np.where(np.arange(60)[:, None] == 55, 1e60, X)),
    ):
        model = ELMClassifier(features, C=1.0, random_state=0).partial_fit(rows[:50], y[:50])
        model.partial_fit(rows[50:], y[50:])
        assert not waits(model)
    model = ELMClassifier(n_hidden=12, C=1.0, random_state=0).partial_fit(X[:50], y[:50])
    model.partial_fit(X[50:52], y[50:52])
    for broken in (
        lambda: model.partial_fit(X[:2], ["a", "b"]),
        lambda: model.partial_fit(X[:2, :3], y[:2]),
    ):
        with pytest.raises(ValueError, match="keep their kind|features"):
            broken()
    assert waits(model)
    assert model._kept.seen == 52


def test_rows_that_cannot_be_fitted_after_all_are_let_go_with_an_error(monkeypatch):
    X, y = world(0, 60, None)
    model = ELMClassifier(n_hidden=12, C=1.0, random_state=0).partial_fit(X[:50], y[:50])
    before = model.decision_function(X)
    model.partial_fit(X[50:], y[50:])

    def fail(self, model):
        raise InvalidInputError("no solution")

    monkeypatch.setattr(Waiting, "fit", fail)
    with pytest.raises(InvalidInputError, match="no solution") as error:
        model.predict(X)
    assert "since the last answer are left out" in error.value.__notes__[0]
    assert_array_equal(model.decision_function(X), before)
    assert model._kept.seen == 50


def test_several_threads_that_ask_at_once_have_the_rows_fitted_once(monkeypatch):
    X, y = world(0, 60, None)
    model = ELMClassifier(n_hidden=12, C=1.0, random_state=0).partial_fit(X[:50], y[:50])
    model.partial_fit(X[50:], y[50:])
    solved, meeting = [], Barrier(4)
    fit = Waiting.fit
    monkeypatch.setattr(Waiting, "fit", lambda self, model: solved.append(1) or fit(self, model))

    def ask(_):
        meeting.wait()
        return model.decision_function(X)

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(ask, range(4)))
    assert len(solved) == 1
    for answer in answers[1:]:
        assert_array_equal(answer, answers[0])


@pytest.mark.parametrize("stage", ["first", "sampled"])
def test_rows_that_come_while_an_answer_is_worked_out_are_not_lost(monkeypatch, stage):
    begin(monkeypatch, stage)
    X, y = world(0, 70, None, drifts=False)
    model = ELMClassifier(RandomFeatures(12), C=1.0, random_state=0).partial_fit(X[:60], y[:60])
    model.partial_fit(X[60:61], y[60:61])
    come = iter([slice(61, 62)])
    learn = Waiting.fit

    def more(work, *args):
        for rows in come:
            model.partial_fit(X[rows], y[rows])
        return work(*args)

    monkeypatch.setattr(Waiting, "fit", lambda self, of: more(learn, self, of))
    model.predict(X[:1])
    assert waits(model)
    assert model._kept.seen == 62


def test_a_model_that_waits_has_no_attribute_that_it_never_had():
    X, y = world(0, 60, None)
    model = ELMClassifier(n_hidden=12, C=1.0, random_state=0).partial_fit(X[:50], y[:50])
    model.partial_fit(X[50:], y[50:])
    for name in ("lam_", "nonsense", "nonsense_"):
        with pytest.raises(AttributeError, match=name):
            getattr(model, name)
