"""Rows that come one batch after the other, and go again."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.frozen import FrozenEstimator

from ulmus import (
    ELMClassifier,
    ELMRegressor,
    GraphELMClassifier,
    KernelFeatures,
    RandomFeatures,
    reservoir,
)
from ulmus.exceptions import BatchError, InvalidInputError

X, y = make_classification(300, 6, n_informative=4, n_classes=3, random_state=0)
TEXT = y.astype(str)
CLASSIFIERS = [ELMClassifier, GraphELMClassifier]


@pytest.fixture
def few(monkeypatch):
    """Few rows are kept, so that sums begin soon."""
    monkeypatch.setattr(reservoir, "_LEAST", 25)
    monkeypatch.setattr(reservoir, "_BYTES", 0)


# ---------------------------------------------------------------- labels
@pytest.mark.parametrize("model", CLASSIFIERS)
@pytest.mark.parametrize(
    ("first", "then"), [(y, TEXT), (TEXT, y), (y, TEXT.astype(object)), (TEXT, y.astype(float))]
)
def test_labels_that_change_their_kind_between_batches_are_refused(model, first, then):
    model = model(n_hidden=12, C=1.0, random_state=0).partial_fit(X[:100], first[:100])
    before = model.predict(X)
    with pytest.raises(InvalidInputError, match="'0'.*keep their kind"):
        model.partial_fit(X[100:], then[100:])
    assert model.classes_.tolist() == np.unique(first).tolist()
    assert_array_equal(model.predict(X), before)


@pytest.mark.parametrize("rewind", [False, True])
def test_labels_that_change_their_kind_within_a_stream_are_refused(rewind):
    parts = [(X[:100], y[:100]), (X[100:], TEXT[100:])]
    with pytest.raises(BatchError, match=r"Batch 2 cannot be used.*keep their kind"):
        ELMClassifier(n_hidden=12, C=1.0).fit((lambda: iter(parts)) if rewind else iter(parts))


def test_equal_numbers_are_one_class_whatever_their_type():
    model = ELMClassifier(n_hidden=12, C=1.0, random_state=0)
    for labels in (y.astype(np.int8), y.astype(float), y.astype(object)):
        model.partial_fit(X, labels)
    assert model.classes_.tolist() == [0, 1, 2]


def test_labels_of_several_kinds_stay_what_they_are():
    mixed = np.array([0, "0", 1], dtype=object)[y]
    model = ELMClassifier(n_hidden=12, C=1.0, random_state=0).partial_fit(X, mixed)
    model.partial_fit(X[y == 1], np.full((y == 1).sum(), "0"))
    model.partial_fit(X[y == 0], y[y == 0])
    assert model.classes_.tolist() == [0, 1, "0"]


# ---------------------------------------------------------------- the first rows
MODELS = {
    "classifier": ELMClassifier(n_hidden=40, random_state=0),
    "regressor": ELMRegressor(n_hidden=40, random_state=0),
    "GELM": GraphELMClassifier(n_hidden=40, random_state=0),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("first", [1, 2, 10, 50])
def test_a_stream_may_begin_with_any_number_of_rows(name, first):
    model = clone(MODELS[name])
    target = y.astype(float) if name == "regressor" else y
    model.partial_fit(X[:first], target[:first])
    assert np.isfinite(model.beta_).all()
    model.partial_fit(X[first:], target[first:])
    whole = clone(MODELS[name]).fit(X, target)
    assert model.C_ == whole.C_
    assert_allclose(model.beta_, whole.beta_, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("model", CLASSIFIERS)
@pytest.mark.parametrize("rows", [1, 5, 60])
@pytest.mark.parametrize("C", [1.0, "loo"])
def test_one_class_is_a_start(model, rows, C):
    words = np.array(["a", "b", "c"])[y]
    model = model(n_hidden=30, C=C, random_state=0)
    model.partial_fit(X[y == 1][:rows], words[y == 1][:rows])
    far = 100 * X
    assert_array_equal(model.predict(far), "b")
    assert_array_equal(model.predict_proba(far), np.ones((300, 1)))
    assert_array_equal(model.predict_log_proba(far), np.zeros((300, 1)))
    assert model.decision_function(far).shape == (300, 1)
    assert model.score(X[y == 1], words[y == 1]) == 1.0
    model.partial_fit(X, words)
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert model.score(X, words) > 0.6


def test_one_class_goes_on_through_the_sums(few):
    model = ELMClassifier(n_hidden=10, random_state=0)
    for rows in np.split(np.flatnonzero(y == 1), [10, 40]):
        model.partial_fit(X[rows], y[rows])
    assert not model._kept.complete
    assert_array_equal(model.predict(X), 1)
    model.partial_fit(X, y)
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.score(X, y) > 0.6


def test_fit_still_asks_for_two_classes():
    for call in (
        lambda model: model.fit(X, np.zeros(300)),
        lambda model: model.fit(iter([(X, np.zeros(300))])),
        lambda model: model.fit(lambda: iter([(X, np.zeros(300))])),
    ):
        with pytest.raises(InvalidInputError, match="only one class"):
            call(ELMClassifier(n_hidden=5))


def test_what_was_fitted_may_change_afterwards():
    rows = X.copy()
    model = ELMClassifier(n_hidden=20, random_state=0).fit(rows[:200], y[:200])
    rows[:200] = 0
    model.partial_fit(rows[200:], y[200:])
    assert_allclose(model.beta_, ELMClassifier(n_hidden=20, random_state=0).fit(X, y).beta_)


def test_a_kernel_matrix_keeps_the_rows_that_it_is_with():
    K = X @ X.T
    model = ELMClassifier(KernelFeatures("precomputed", rank=4), C=1.0, random_state=0)
    model.fit(K[:100, :100], y[:100])
    landmarks = model.features_.landmarks_
    model.partial_fit(K[100:, :100], y[100:])
    assert_array_equal(model.features_.landmarks_, landmarks)
    settled = FrozenEstimator(model.features_)
    whole = ELMClassifier(settled, C=1.0).fit(K[:, :100], y)
    assert_allclose(model.beta_, whole.beta_, rtol=1e-6)


def test_a_class_that_comes_late_ends_the_scales_of_the_others(few):
    labels = np.arange(len(y)) % 3
    model = ELMClassifier(n_hidden=10, random_state=0).fit(X[:200], labels[:200])
    scaling = model.class_scaling_
    model.partial_fit(X[200:203], labels[200:203])
    assert_array_equal(model.class_scaling_, scaling)
    model.partial_fit(X[203:206], np.full(3, 7))
    assert model.predict_proba(X).shape == (len(X), 4)
    assert getattr(model, "class_scaling_", np.empty((2, 4))).shape == (2, 4)


def test_c_stays_until_enough_rows_are_new(few):
    model = ELMClassifier(n_hidden=10, random_state=0).fit(X[:200], y[:200])
    path, temperature = model.loo_path_, model.temperature_
    model.partial_fit(X[200:205], y[200:205])
    assert model.loo_path_ is path
    assert model.temperature_ == temperature
    assert model.selection_ == "loo"  # as it was chosen
    assert_allclose(model.beta_, settled_fit(model, X[:205], y[:205]).beta_, rtol=1e-6)
    model.partial_fit(X[205:220], y[205:220])
    assert model.loo_path_ is not path
    assert model.selection_ == "loo-sample"


def settled_fit(model, rows, labels):
    return ELMClassifier(FrozenEstimator(model.features_), C=model.C_).fit(rows, labels)


def test_a_width_may_be_chosen_in_a_stream(few):
    model = ELMClassifier(RandomFeatures(64), n_hidden="loo", random_state=0)
    parts = [(X[a : a + 50], y[a : a + 50]) for a in range(0, 300, 50)]
    widths = {clone(model).fit(source).n_hidden_ for source in (iter(parts), lambda: iter(parts))}
    assert widths <= {16, 32, 64}
    for part in parts:
        model.partial_fit(*part)
    assert model.n_hidden_ in (16, 32, 64)
    assert model.beta_.shape[0] == model.n_hidden_


def test_batches_past_the_kept_rows_leave_balanced_weights_as_they_were_and_say_so(few):
    batches = lambda: ((X[i : i + 60], y[i : i + 60]) for i in range(0, 300, 60))  # noqa: E731
    model = ELMClassifier(n_hidden=20, C=[0.1, 1.0], class_weight="balanced", random_state=0)
    assert model.fit(batches).selection_ == "loo-sample-kept"
    assert model.fit(X, y).selection_ == "loo"


def test_balanced_classes_need_all_labels():
    model = ELMClassifier(n_hidden=10, class_weight="balanced", random_state=0)
    with pytest.raises(ValueError, match="needs all the labels at once"):
        clone(model).fit(iter([(X, y)]))
    for whole in (clone(model).fit(X, y), clone(model).fit(lambda: iter([(X, y)]))):
        with pytest.raises(ValueError, match="needs all the labels at once"):
            whole.partial_fit(X, y)


# ---------------------------------------------------------------- forgetting
@pytest.fixture(params=["kept", "summed"])
def how(request):
    if request.param == "summed":
        request.getfixturevalue("few")
    return request.param


REFUSED = {
    "labels that were never seen": (X[:5], y[:5] + 7, None, "never fitted: "),
    "labels of another kind": (X[:5], y[:5].astype(str), None, "keep their kind"),
    "more rows of a class than there were": (X[y == 0], y[y == 0], 2.0, "not (all )?fitted"),
    "other targets": (X[y == 0], np.ones((y == 0).sum(), int), None, "not (all )?fitted"),
    "other rows": (X[:5] + 3.0, y[:5], None, "not (all )?fitted"),
    "more weight": (X[:5], y[:5], 30.0, "not (all )?fitted"),
    "all rows": (X, y, None, "leaves none"),
    "all rows and more": (np.tile(X, (3, 1)), np.tile(y, 3), None, "leaves none"),
}


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.parametrize("model", CLASSIFIERS)
def test_rows_that_were_not_fitted_cannot_be_forgotten(case, model, how):
    rows, labels, weight, why = REFUSED[case]
    model = model(n_hidden=20, random_state=0)
    for part in np.split(np.arange(300), [20, 100]):
        model.partial_fit(X[part], y[part])
    before, state = model.decision_function(X), dict(vars(model))
    weight = None if weight is None else np.full(len(labels), weight)
    with pytest.raises(InvalidInputError, match=why):
        model.partial_fit(rows, labels, sample_weight=weight, forget=True)
    assert vars(model) == state
    assert_array_equal(model.decision_function(X), before)


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_values_that_were_not_fitted_cannot_be_forgotten(offset, how):
    values = X[:, 0] ** 2 + offset
    # At C = 1e8 the rounding of sums of 1e12 shows in the fourth digit for some units.
    model = ELMRegressor(n_hidden=20, C=np.logspace(-4, 4, 9), random_state=0)
    for part in np.split(np.arange(300), [20, 100]):
        model.partial_fit(X[part], values[part])
    before = model.predict(X)
    for rows, targets in (
        (X[:50], values[:50] + 10.0),
        (X[:50] + 3.0, values[:50]),
        (np.tile(X[:5], (9, 1)), np.tile(values[:5], 9)),
    ):
        with pytest.raises(InvalidInputError, match="not (all )?fitted"):
            model.partial_fit(rows, targets, forget=True)
        assert_array_equal(model.predict(X), before)
    model.partial_fit(X[:50], values[:50], forget=True)
    without = ELMRegressor(FrozenEstimator(model.features_), C=model.C_)
    without.fit(X[50:], values[50:])
    assert_allclose(model.predict(X) - offset, without.predict(X) - offset, atol=1e-4)


def test_the_message_says_how_many_rows_are_not_there():
    model = ELMClassifier(n_hidden=20, random_state=0).partial_fit(X[:100], y[:100])
    with pytest.raises(InvalidInputError, match="3 of the 10 rows to forget were not fitted"):
        model.partial_fit(X[93:103], y[93:103], forget=True)


def test_a_class_that_is_forgotten_is_gone():
    model = ELMClassifier(n_hidden=20, random_state=0).partial_fit(X, y)
    model.partial_fit(X[y == 2], y[y == 2], forget=True)
    assert model.classes_.tolist() == [0, 1]
    model = ELMClassifier(n_hidden=20, random_state=0).partial_fit(X, y, classes=[0, 1, 2])
    model.partial_fit(X[y == 2], y[y == 2], forget=True)
    assert model.classes_.tolist() == [0, 1, 2]


def test_faded_rows_are_forgotten_with_the_weight_they_have_left(how):
    model = ELMClassifier(n_hidden=20, C=1.0, random_state=0).partial_fit(X[:100], y[:100])
    model.partial_fit(X[100:], y[100:], decay=0.5)
    with pytest.raises(InvalidInputError, match="decay= has left them"):
        model.partial_fit(X[:90], y[:90], forget=True)
    model.partial_fit(X[:90], y[:90], sample_weight=np.full(90, 0.5), forget=True)
    weight = np.where(np.arange(90, 300) < 100, 0.5, 1.0)
    without = ELMClassifier(FrozenEstimator(model.features_), C=1.0)
    without.fit(X[90:], y[90:], sample_weight=weight)
    assert_allclose(model.decision_function(X), without.decision_function(X), atol=1e-6)
