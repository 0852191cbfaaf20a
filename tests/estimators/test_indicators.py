"""Several labels for each row, as scikit-learn has them: y is a matrix of zeros and ones."""

import array_api_strict
import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.metrics import accuracy_score
from sklearn.model_selection import cross_val_score
from sklearn.utils import get_tags

import oracles
import ulmus
from exporting.runtime import results, session_of
from ulmus import (
    ELMClassifier,
    GraphELMClassifier,
    KernelELMClassifier,
    ManifoldELMClassifier,
    RandomFeatures,
    SemiSupervisedELMClassifier,
    SparseELMClassifier,
)
from ulmus.exceptions import InvalidInputError, InvalidParameterError
from ulmus.kernels import RBF

X, Y = make_multilabel_classification(300, 8, n_classes=4, n_labels=2, random_state=0)
X = (X - X.mean(axis=0)) / X.std(axis=0)
FITTED, NEW = slice(0, 200), slice(200, None)
MODELS = {
    "ELM": ELMClassifier(n_hidden=50, random_state=0),
    "wide ELM": ELMClassifier(n_hidden=400, random_state=0),
    "kernel ELM": KernelELMClassifier("rbf", random_state=0),
    "kernel by loo": KernelELMClassifier(random_state=0),
    "low rank": KernelELMClassifier("rbf", rank=30, random_state=0),
}


@pytest.mark.parametrize("name", MODELS)
def test_labels_are_predicted_and_have_probabilities(name):
    model = clone(MODELS[name]).fit(X[FITTED], Y[FITTED])
    predicted, P, F = (
        method(X[NEW]) for method in (model.predict, model.predict_proba, model.decision_function)
    )
    assert predicted.shape == P.shape == F.shape == (100, 4)
    assert_array_equal(predicted, (F > 0).astype(int))
    assert_array_equal(predicted, (P > 0.5).astype(int))
    assert_allclose(model.predict_log_proba(X[NEW]), np.log(P))
    assert model.score(X[NEW], Y[NEW]) == accuracy_score(Y[NEW], predicted)
    assert (predicted == Y[NEW]).mean() > 0.72
    assert_array_equal(model.classes_, [0, 1, 2, 3])
    assert model.temperature_.shape == (4,)
    # Calibrated: the mean probability of a label is about how often it is there.
    assert np.abs(P.mean(axis=0) - Y[NEW].mean(axis=0)).max() < 0.12


@pytest.mark.parametrize(
    "model",
    [
        ELMClassifier(RandomFeatures(50), C=2.0, random_state=0),
        ELMClassifier(RandomFeatures(400), C=2.0, random_state=0),
        KernelELMClassifier("rbf", C=2.0, random_state=0),
    ],
    ids=["ELM", "wide ELM", "kernel ELM"],
)
def test_each_label_is_a_classifier_of_its_own(model):
    model = clone(model).fit(X[FITTED], Y[FITTED])
    for j in range(4):
        one = clone(model).fit(X[FITTED], Y[FITTED, j])
        assert_allclose(model.decision_function(X)[:, j], one.decision_function(X), atol=1e-8)
        assert_allclose(model.predict_proba(X)[:, j], one.predict_proba(X)[:, 1], atol=1e-6)


@pytest.mark.parametrize("h", [20, 400])
def test_errors_over_the_values_of_C_are_those_of_refits(h):
    model = ELMClassifier(n_hidden=h, C=[0.01, 1.0, 100.0], random_state=0).fit(X[:60], Y[:60])
    H, T = model.features_.transform(X[:60]), 2.0 * Y[:60] - 1.0
    for k, C in enumerate([0.01, 1.0, 100.0]):
        F = oracles.left_out(H, T, C)
        wrong = ((F > 0) != (T > 0)).any(axis=1).mean()
        assert_allclose(model.loo_path_["error_rate"][k], wrong)
        squared = ((T - F) ** 2).sum(axis=1).mean()
        assert_allclose(model.loo_path_["squared_error"][k], squared, rtol=1e-6)
    assert_allclose(model.loo_score_, 1.0 - model.loo_path_["error_rate"].min(), atol=1 / 59)


def test_errors_of_a_kernel_are_those_of_refits():
    model = KernelELMClassifier(RBF(0.05), C=[0.1, 10.0]).fit(X[:50], Y[:50])
    K, T = oracles.kernel_values("rbf", X[:50], X[:50], 0.05), 2.0 * Y[:50] - 1.0
    for k, C in enumerate([0.1, 10.0]):
        F = oracles.kernel_left_out(K, T, C)
        wrong = ((F > 0) != (T > 0)).any(axis=1).mean()
        assert_allclose(model.loo_path_["error_rate"][k], wrong)


@pytest.mark.parametrize("name", ["ELM", "wide ELM", "kernel ELM"])
def test_a_weight_of_two_is_a_row_twice(name):
    count = np.random.RandomState(0).randint(1, 4, 200)
    again = np.repeat(np.arange(200), count)
    model = clone(MODELS[name]).set_params(C=1.0)
    weighted = model.fit(X[FITTED], Y[FITTED], count.astype(float)).predict_proba(X[NEW])
    repeated = clone(model).fit(X[again], Y[again]).predict_proba(X[NEW])
    # Temperatures are of 500 rows, all of them here.
    assert_allclose(weighted, repeated, atol=2e-2 if name == "ELM" else 1e-5)


@pytest.mark.parametrize("classes", [None, np.arange(4)])
def test_a_stream_and_batches_are_a_fit(classes):
    expected = clone(MODELS["ELM"]).fit(X[FITTED], Y[FITTED]).predict_proba(X[NEW])
    stream = clone(MODELS["ELM"])
    for rows in (slice(0, 60), slice(60, 200)):
        stream.partial_fit(X[rows], Y[rows], classes=classes)
    assert_allclose(stream.predict_proba(X[NEW]), expected, atol=1e-8)
    stream.partial_fit(X[NEW], Y[NEW]).partial_fit(X[NEW], Y[NEW], forget=True)
    assert_allclose(stream.predict_proba(X[NEW]), expected, atol=1e-6)
    batches = clone(MODELS["ELM"]).fit(iter([(X[:60], Y[:60]), (X[60:200], Y[60:200])]))
    assert_allclose(batches.predict_proba(X[NEW]), expected, atol=1e-8)


def test_a_stream_of_which_sums_are_kept_goes_on():
    rows, y = make_multilabel_classification(3000, 8, n_classes=3, random_state=0)
    model = ELMClassifier(n_hidden=40, random_state=0)
    for start in range(0, 3000, 500):
        model.partial_fit(rows[start : start + 500], y[start : start + 500])
    assert hasattr(model, "_moments")
    whole = ELMClassifier(n_hidden=40, random_state=0).fit(rows, y)
    assert abs(model.score(rows, y) - whole.score(rows, y)) < 0.03


@pytest.mark.parametrize("name", ["ELM", "kernel ELM", "low rank"])
def test_dask_blocks_are_a_fit(name):
    da = pytest.importorskip("dask.array")
    expected = clone(MODELS[name]).fit(X[FITTED], Y[FITTED])
    blocks = da.from_array(X[FITTED], chunks=(70, 8)), da.from_array(Y[FITTED], chunks=(70, 4))
    model = clone(MODELS[name]).fit(*blocks)
    found = model.predict(da.from_array(X[NEW], chunks=(30, 8))).compute()
    assert (found == expected.predict(X[NEW])).mean() > (0.9 if name == "low rank" else 0.999)


@pytest.mark.parametrize("name", MODELS)
def test_files_predict_the_same(name, tmp_path):
    model = clone(MODELS[name]).fit(X[FITTED], Y[FITTED])
    ulmus.save(model, tmp_path / "model")
    loaded = ulmus.load(tmp_path / "model")
    assert_array_equal(loaded.predict(X), model.predict(X))
    assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("name", ["ELM", "kernel ELM"])
def test_onnx_gives_labels_and_probabilities(name):
    model = clone(MODELS[name]).fit(X[FITTED], Y[FITTED])
    rows = X[NEW].copy()
    rows[3, 2] = np.nan
    found = results(session_of(ulmus.to_onnx(model, dtype=float)), rows, float)
    label, P, F = (found[key] for key in ("label", "probabilities", "scores"))
    sound = np.arange(100) != 3
    assert_array_equal(label[sound], model.predict(X[NEW])[sound])
    assert_allclose(P[sound], model.predict_proba(X[NEW])[sound], atol=1e-6)
    assert_allclose(F[sound], model.decision_function(X[NEW])[sound], atol=1e-6)
    assert (label[3] == -1).all()
    assert np.isnan(P[3]).all()


def test_arrays_elsewhere_are_told_there():
    move, model = array_api_strict.asarray, clone(MODELS["ELM"])
    expected = clone(model).fit(X[FITTED], Y[FITTED])
    with config_context(array_api_dispatch=True):
        model.fit(move(X[FITTED].copy()), move(Y[FITTED].copy()))
        predicted, P = model.predict(move(X[NEW].copy())), model.predict_proba(move(X[NEW].copy()))
    assert_array_equal(np.asarray(predicted), expected.predict(X[NEW]))
    assert_allclose(np.asarray(P), expected.predict_proba(X[NEW]), rtol=1e-6)


@pytest.mark.parametrize("form", [sp.csr_matrix, sp.csr_array, np.asfortranarray, list])
def test_any_form_of_indicators_will_do(form):
    model = clone(MODELS["ELM"]).fit(X[FITTED], form(Y[FITTED]))
    assert_array_equal(model.predict(X), clone(model).fit(X[FITTED], Y[FITTED]).predict(X))
    assert model.score(X, form(Y)) == model.score(X, Y)
    assert_array_equal(model.predict(X), clone(model).fit(X[FITTED], Y[FITTED] > 0).predict(X))


def test_two_labels_are_not_two_classes():
    model = clone(MODELS["ELM"]).fit(X[FITTED], Y[FITTED, :2])
    assert model.predict(X).shape == model.decision_function(X).shape == (300, 2)


def test_a_label_that_no_row_has_is_never_predicted():
    y = Y.copy()
    y[:, 2] = 0
    model = clone(MODELS["ELM"]).fit(X[FITTED], y[FITTED])
    assert not model.predict(X)[:, 2].any()
    assert (model.predict_proba(X)[:, 2] < 0.5).all()


def test_scikit_learn_selects_with_several_labels():
    assert cross_val_score(MODELS["ELM"], X, Y, cv=3).mean() > 0.3
    assert get_tags(MODELS["ELM"]).classifier_tags.multi_label
    assert not get_tags(GraphELMClassifier()).classifier_tags.multi_label


@pytest.mark.parametrize(
    "model",
    [
        GraphELMClassifier(n_hidden=9),
        ManifoldELMClassifier(n_hidden=9),
        SparseELMClassifier(n_hidden=9),
        SemiSupervisedELMClassifier(n_hidden=9),
    ],
    ids=lambda model: type(model).__name__,
)
def test_models_of_one_label_name_those_of_several(model):
    with pytest.raises(InvalidInputError, match="ELMClassifier and KernelELMClassifier take"):
        model.fit(X, Y)


def test_what_is_no_indicator_is_refused():
    model = clone(MODELS["ELM"])
    with pytest.raises(InvalidInputError, match="not 0 or 1"):
        model.fit(X, Y + 1)
    with pytest.raises(InvalidInputError, match="missing"):
        model.fit(X, np.where(Y == 1, np.nan, 0.0))
    with pytest.raises(InvalidParameterError, match="sample_weight"):
        clone(model).set_params(class_weight="balanced").fit(X, Y)
    with pytest.raises(InvalidInputError, match="predict_set"):
        clone(model).fit(X, Y).predict_set(X)


def test_batches_keep_their_labels():
    model = clone(MODELS["ELM"]).partial_fit(X, Y)
    with pytest.raises(InvalidInputError, match="3 columns"):
        model.partial_fit(X, Y[:, :3])
    with pytest.raises(InvalidInputError, match="one label for each row"):
        model.partial_fit(X, Y[:, 0])
    with pytest.raises(InvalidInputError, match="from before"):
        clone(model).partial_fit(X, Y[:, 0]).partial_fit(X, Y)
    with pytest.raises(InvalidInputError, match="from before"):
        clone(model).partial_fit(X, Y[:, 0], classes=np.arange(4)).partial_fit(X, Y)
    with pytest.raises(InvalidInputError, match="from before"):
        clone(model).partial_fit(X, Y, classes=["a", "b", "c", "d"])
