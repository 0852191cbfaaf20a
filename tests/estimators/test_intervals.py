"""Intervals and sets wherever a model is: in a file, on a stream, on Dask blocks, on a device."""

import pickle

import array_api_strict
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis.strategies import floats, integers
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.exceptions import NotFittedError

import ulmus
from ulmus import (
    ELMClassifier,
    ELMRegressor,
    KernelELMClassifier,
    KernelELMRegressor,
    ManifoldELMClassifier,
    SemiSupervisedELMRegressor,
)
from ulmus.estimators import kernel_elm
from ulmus.estimators.intervals import LeftOut, intervals, label_sets, quantile
from ulmus.exceptions import InvalidInputError, InvalidParameterError, RowsGoneError

X, Y = load_diabetes(return_X_y=True)
LABELS = np.digitize(Y, [100, 200])
FITTED, NEW = slice(0, 300), slice(300, None)
MODELS = {
    "ELM": ELMRegressor(n_hidden=50, random_state=0),
    "wide ELM": ELMRegressor(n_hidden=500, random_state=0),
    "kernel ELM": KernelELMRegressor("rbf", random_state=0),
    "low rank": KernelELMRegressor("rbf", rank=40, random_state=0),
    "ELM classes": ELMClassifier(n_hidden=50, random_state=0),
    "kernel classes": KernelELMClassifier("rbf", random_state=0),
}


def told(model, rows=X[NEW], coverage=0.9):
    name = "predict_set" if hasattr(model, "classes_") else "predict_interval"
    return getattr(model, name)(rows, coverage)


def fitted(name, rows=X[FITTED]):
    model = MODELS[name]
    return model.fit(rows, (LABELS if "classes" in name else Y)[FITTED])


def covered(model, rows=X[NEW], y=Y[NEW]):
    ends = model.predict_interval(rows)
    return np.mean((ends[:, 0] <= y) & (y <= ends[:, 1]))


@pytest.mark.parametrize("name", MODELS)
def test_more_coverage_is_wider(name):
    narrow, wide = (told(fitted(name), coverage=coverage) for coverage in (0.5, 0.9))
    if "classes" in name:
        assert (narrow <= wide).all()
        assert narrow.sum() < wide.sum()
    else:
        assert (narrow[:, 0] > wide[:, 0]).all()
        assert (narrow[:, 1] < wide[:, 1]).all()


@pytest.mark.parametrize("name", MODELS)
def test_a_file_and_a_copy_tell_the_same(name, tmp_path):
    model = fitted(name)
    expected = told(model)
    ulmus.save(model, tmp_path / "model")
    assert_array_equal(told(ulmus.load(tmp_path / "model")), expected)
    copied = pickle.loads(pickle.dumps(model))
    assert not hasattr(copied, "_jackknife")
    assert_array_equal(told(copied), expected)


def test_a_model_saved_without_rows_says_what_to_do(tmp_path):
    ulmus.save(fitted("ELM"), tmp_path / "model", for_update=False)
    with pytest.raises(RowsGoneError, match="for_update=True"):
        told(ulmus.load(tmp_path / "model"))
    ulmus.save(fitted("kernel ELM"), tmp_path / "kernel", for_update=False)
    assert told(ulmus.load(tmp_path / "kernel")).shape == (142, 2)


def test_a_solver_that_keeps_no_sums_says_what_to_do():
    rows, y = make_friedman1(1200, random_state=0)
    model = ELMRegressor(n_hidden=50, solver="dual", random_state=0).fit(rows, y)
    with pytest.raises(RowsGoneError, match="solver='auto'"):
        model.predict_interval(rows)


@pytest.mark.parametrize("model", [SemiSupervisedELMRegressor(), ManifoldELMClassifier()])
def test_a_model_that_leaves_no_rows_out_names_those_that_do(model):
    name = "predict_set" if isinstance(model, ManifoldELMClassifier) else "predict_interval"
    assert not hasattr(model, name)
    with pytest.raises(AttributeError) as caught:
        getattr(model, name)
    assert "use ELM" in str(caught.value.__cause__ or caught.value)


@pytest.mark.parametrize("coverage", [0.0, 1.0, 1.5, "much", None, True, np.nan])
def test_a_coverage_that_is_none_is_refused(coverage):
    with pytest.raises(InvalidParameterError, match="between 0 and 1"):
        told(fitted("ELM"), coverage=coverage)


def test_too_few_rows_for_a_coverage_are_refused():
    model = ELMRegressor(n_hidden=5, random_state=0).fit(X[:9], Y[:9])
    assert model.predict_interval(X).shape == (442, 2)
    with pytest.raises(InvalidInputError, match=r"coverage=0\.95 needs more rows.*at most 0\.9\b"):
        model.predict_interval(X, coverage=0.95)


def test_a_model_that_is_not_fitted_says_so():
    with pytest.raises(NotFittedError):
        ELMRegressor().predict_interval(X)


@pytest.mark.parametrize("name", ["ELM", "wide ELM", "ELM classes"])
def test_a_stream_tells_what_a_fit_tells(name):
    expected = told(fitted(name))
    model, y = MODELS[name], LABELS if "classes" in name else Y
    stream = type(model)(**model.get_params())
    for start in range(0, 300, 100):
        stream.partial_fit(X[start : start + 100], y[start : start + 100])
    assert_allclose(told(stream), expected, rtol=1e-6)


def test_an_update_is_told_of():
    model = ELMRegressor(n_hidden=30, C=1.0, random_state=0).partial_fit(X[FITTED], Y[FITTED])
    before = told(model)
    model.partial_fit(X[:150], Y[:150] + 500.0)
    assert (told(model)[:, 1] > before[:, 1]).all()
    again = ELMRegressor(n_hidden=30, C=1.0, random_state=0)
    again.partial_fit(np.r_[X[FITTED], X[:150]], np.r_[Y[FITTED], Y[:150] + 500.0])
    assert_allclose(told(model), told(again), rtol=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_stream_of_which_a_sample_is_kept_covers_new_rows(weighted):
    rows, y = make_friedman1(26_000, noise=1.0, random_state=0)
    weight = np.random.RandomState(0).uniform(0.1, 2.0, 26_000) if weighted else np.ones(26_000)
    batches = [
        (rows[s : s + 2000], y[s : s + 2000], weight[s : s + 2000]) for s in range(0, 24_000, 2000)
    ]
    model = ELMRegressor(n_hidden=50, random_state=0)
    for batch in batches:
        model.partial_fit(*batch)
    assert not model._kept.complete
    assert 0.87 < covered(model, rows[24_000:], y[24_000:]) < 0.93


def test_batches_tell_what_rows_tell():
    model = MODELS["ELM"]
    expected = told(fitted("ELM"))
    model.fit(iter([(X[:100], Y[:100]), (X[100:300], Y[100:300])]))
    assert_allclose(told(model), expected, rtol=1e-6)


@pytest.mark.parametrize("name", MODELS)
def test_dask_blocks_tell_what_rows_tell(name):
    da = pytest.importorskip("dask.array")
    model = fitted(name)
    found = told(model, da.from_array(X[NEW], chunks=(50, 10)))
    assert_allclose(found.compute(), told(model), rtol=1e-9)


@pytest.mark.parametrize("name", ["ELM", "low rank", "kernel classes"])
def test_a_model_of_dask_blocks_tells_too(name):
    da = pytest.importorskip("dask.array")
    expected = told(fitted(name))
    y = LABELS if "classes" in name else Y
    blocks = (da.from_array(each[FITTED], chunks=100) for each in (X, y))
    found = told(MODELS[name].fit(*blocks))
    assert found.shape == expected.shape
    assert name == "low rank" or np.allclose(found, expected)


@pytest.mark.parametrize("name", ["ELM", "wide ELM", "kernel ELM", "kernel classes"])
def test_arrays_elsewhere_are_told_there(name):
    expected = told(fitted(name))
    move = array_api_strict.asarray
    with config_context(array_api_dispatch=True):
        y = (LABELS if "classes" in name else Y)[FITTED]
        model = MODELS[name].fit(move(X[FITTED].copy()), move(y))
        found = told(model, move(X[NEW].copy()))
    assert type(found) is type(move(X))
    assert_allclose(np.asarray(found), expected, rtol=1e-6)


@pytest.mark.parametrize("name", MODELS)
def test_frames_and_sparse_rows_tell_what_arrays_tell(name):
    expected = told(fitted(name))
    frame = pd.DataFrame(X, columns=[f"column {j}" for j in range(X.shape[1])])
    assert_allclose(told(fitted(name, frame[FITTED]), frame[NEW]), expected, rtol=1e-9)
    sparse = sp.csr_array(X)
    assert_allclose(told(fitted(name, sparse[FITTED]), sparse[NEW]), expected, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("name", ["ELM", "kernel ELM", "low rank"])
def test_ends_have_the_precision_of_the_rows(name):
    expected = told(fitted(name))
    found = told(fitted(name, X[FITTED].astype(np.float32)), X[NEW].astype(np.float32))
    assert found.dtype == np.float32
    assert_allclose(found, expected, rtol=1e-2, atol=1.0)


def test_several_outputs_have_an_interval_each():
    both = np.column_stack([Y, -3.0 * Y])
    ends = ELMRegressor(n_hidden=50, C=1.0, random_state=0).fit(X, both).predict_interval(X)
    assert ends.shape == (442, 2, 2)
    assert_allclose(ends[:, 1, ::-1], -3.0 * ends[:, 0], rtol=1e-9, atol=1e-10)


def test_of_many_rows_a_kernel_has_intervals_around_its_outputs(monkeypatch):
    plus = told(fitted("kernel ELM"))
    monkeypatch.setattr(kernel_elm, "ALL_LEFT_OUT", 200)
    model = fitted("kernel ELM")
    ends = told(model)
    assert_allclose(ends.mean(axis=1), model.predict(X[NEW]))
    assert np.ptp(ends[:, 1] - ends[:, 0]) < 1e-9
    assert_allclose(ends, plus, atol=0.2 * (ends[0, 1] - ends[0, 0]))


@pytest.mark.parametrize("classes", [False, True])
def test_weights_of_many_columns_make_left_out_errors_larger(classes):
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((900, 60))
    y = np.sin(2.0 * rows[:, 0]) * rows[:, 1] + 0.1 * rng.standard_normal(900)
    y = np.digitize(y, [-0.3, 0.3]) if classes else y
    model = (KernelELMClassifier if classes else KernelELMRegressor)(random_state=0)
    model.fit(rows[:300], y[:300])
    assert np.ptp(model.column_weights_) > 0
    told(model, rows)
    left, own = model._jackknife.left, model._left_out
    T = 2.0 * np.eye(3)[own.targets] - 1.0 if classes else own.targets
    assert_allclose(T - left.outputs, np.sqrt(1 + 60 / 300) * (T - own.outputs))
    assert model.set_params(column_weights=None).fit(rows[:300], y[:300])
    told(model, rows)
    assert_allclose(model._jackknife.left.outputs, model._left_out.outputs)


def test_a_precomputed_kernel_has_intervals():
    K = X @ X.T + 1.0
    model = KernelELMRegressor("precomputed", C=1.0).fit(K[FITTED, FITTED], Y[FITTED])
    assert 0.8 < covered(model, K[NEW, FITTED]) < 1.0


def test_a_stream_of_one_class_has_it_in_every_set():
    model = ELMClassifier(n_hidden=5).partial_fit(X[:20], np.zeros(20, int))
    assert model.predict_set(X).all()


def test_a_set_holds_the_predicted_class_where_it_holds_any():
    model = fitted("ELM classes")
    sets, predicted = told(model), model.predict(X[NEW])
    place = np.searchsorted(model.classes_, predicted)
    assert (sets.any(axis=1) <= sets[np.arange(len(place)), place]).all()


@given(seed=integers(0, 10**6), n=integers(10, 40), coverage=floats(0.01, 0.9))
def test_weighted_quantiles_are_those_of_repeated_values(seed, n, coverage):
    rng = np.random.default_rng(seed)
    values, count = rng.standard_normal((3, n)).round(1), rng.integers(1, 4, n)
    count[0] = 1
    needed = LeftOut(values, values, count.astype(float)).needed(coverage)
    place = int(np.ceil(coverage * (count.sum() + 1) - 1e-9)) - 1
    expected = np.sort(np.repeat(values, count, axis=1), axis=1)[:, max(place, 0)]
    assert_allclose(quantile(values, count.astype(float), needed), expected)


def test_all_rows_are_needed_for_the_most_that_they_tell():
    nine = LeftOut(np.zeros((9, 1)), np.arange(9.0)[:, None], np.ones(9))
    assert_allclose(intervals(np.zeros((1, 1)), None, nine, 0.9), [[[-8.0, 8.0]]])
    with pytest.raises(InvalidInputError, match=r"9 left-out rows allow at most 0\.9\b"):
        nine.needed(0.91)


def test_effects_move_the_ends_by_the_errors():
    errors = np.array([[-1.0], [1.0], [2.0]])
    left = LeftOut(np.zeros((3, 1)), errors, np.ones(3))
    effects = np.array([[0.5, 0.25, 0.0]])
    # f₋ᵢ is 0.5, −0.25 and 0; upper ends 1.5, 0.75, 2 and lower ends −0.5, −1.25, −2.
    assert_allclose(intervals(np.zeros((1, 1)), effects, left, 0.5), [[[-1.25, 1.5]]])


def test_a_set_has_the_classes_that_are_as_likely_as_those_left_out():
    own = np.array([0.9, 0.8, 0.4])
    left = LeftOut(np.zeros((3, 2)), np.zeros(3, int), np.ones(3))
    P = np.array([[0.95, 0.05], [0.55, 0.45], [0.3, 0.7]])
    sets = label_sets(P, np.column_stack([own, 1 - own]), left, 0.75)
    assert sets.tolist() == [[True, False], [True, True], [False, True]]
    assert label_sets(P, np.column_stack([own, 1 - own]), left, 0.5).sum() == 1
