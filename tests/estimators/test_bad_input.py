"""Whatever is wrong with the input: a right answer, or an error that says what to do."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris

from ulmus import ELMClassifier, ELMRegressor, RandomFeatures, Randomized, RBFFeatures
from ulmus.exceptions import BatchError, InvalidInputError, InvalidParameterError, UlmusError

rng = np.random.default_rng(0)
X = rng.standard_normal((60, 4))
y = (X[:, 0] + X[:, 1] > 0).astype(int)


def fitted(cls, **parameters):
    return cls(n_hidden=15, random_state=0, **parameters).fit(X, y)


# ---------------------------------------------------------------- what cannot be used
@pytest.mark.parametrize("cls", [ELMClassifier, ELMRegressor])
@pytest.mark.parametrize(
    ("bad_X", "bad_y", "words"),
    [
        (np.where(X > 2, np.nan, X), y, "NaN"),
        (np.where(X > 2, np.inf, X), y, "infinity"),
        (np.empty((0, 4)), np.empty(0), "0 sample"),
        (np.empty((60, 0)), y, "0 feature"),
        (X[0], y[:1], "Expected 2D array"),
        (np.full((60, 4), "text"), y, "numeric|convert string"),
        (X, y[:-1], "inconsistent numbers of samples"),
    ],
    ids=["nan", "inf", "empty", "no columns", "one dimension", "text", "lengths"],
)
def test_rows_that_cannot_be_used(cls, bad_X, bad_y, words):
    with pytest.raises(ValueError, match=words):
        cls(n_hidden=15).fit(bad_X, bad_y)


def test_one_class_is_an_error_that_names_it():
    with pytest.raises(InvalidInputError, match="only one class, 'a'.*at least two"):
        ELMClassifier().fit(X, ["a"] * 60)


def test_one_row():
    with pytest.raises(InvalidInputError, match="only one class"):
        ELMClassifier().fit(X[:1], y[:1])
    model = ELMRegressor(random_state=0, C=1e6).fit(X[:1], [3.0])
    assert_allclose(model.predict(X[:1]), 3.0, rtol=1e-4)


def test_numbers_are_no_labels():
    with pytest.raises(ValueError, match="continuous"):
        ELMClassifier().fit(X, X[:, 0])


@pytest.mark.parametrize("cls", [ELMClassifier, ELMRegressor])
def test_wrong_width_at_predict(cls):
    with pytest.raises(ValueError, match="X has 3 features, but .* is expecting 4"):
        fitted(cls).predict(X[:, :3])


@pytest.mark.parametrize("cls", [ELMClassifier, ELMRegressor])
@pytest.mark.parametrize("C", [0, -1.0, np.nan, -np.inf, [], [1.0, -1.0], "auto", None, [[1.0]]])
def test_C_that_is_no_positive_number(cls, C):
    with pytest.raises(InvalidParameterError, match="positive number"):
        cls(C=C).fit(X, y)


@pytest.mark.parametrize(
    ("features", "words"),
    [
        (RandomFeatures(activation="swish"), "'swish' is unknown; use one of 'sigmoid'"),
        (RandomFeatures(activation=lambda Z: Z.sum()), "must act on each element"),
        (RandomFeatures(weights="cauchy"), "weights='cauchy' is unknown"),
        (RandomFeatures(n_hidden=0), "whole number of at least 1"),
        (RandomFeatures(n_hidden=2.5), "whole number of at least 1"),
        (RandomFeatures(scaling="minmax"), "scaling='minmax' is unknown"),
        (RBFFeatures(node="step"), "node='step' is unknown"),
        (RBFFeatures(centers="grid"), "centers='grid' is unknown"),
        (RBFFeatures(width=-1.0), "width=-1.0 must be"),
        ("sigmoid", "has no transform"),
        (500, "write n_hidden=500 for so many hidden units"),
    ],
)
def test_features_that_cannot_be_used(features, words):
    with pytest.raises(InvalidParameterError, match=words):
        ELMClassifier(features).fit(X, y)
    if hasattr(features, "fit") and "each element" not in words:
        with pytest.raises(InvalidParameterError, match=words):
            features.fit(X)


def test_width_given_twice():
    with pytest.raises(InvalidParameterError, match="give the width to the map"):
        ELMClassifier(RandomFeatures(10), n_hidden=20).fit(X, y)


def test_weights():
    with pytest.raises(ValueError, match="(?i)sample weights .*zero"):
        ELMClassifier().fit(X, y, sample_weight=np.zeros(60))
    with pytest.raises(ValueError, match="[Nn]egative"):
        ELMClassifier().fit(X, y, sample_weight=-np.ones(60))
    with pytest.raises(InvalidParameterError, match="positive numbers"):
        ELMClassifier(class_weight={0: -1.0}).fit(X, y)
    with pytest.raises(InvalidParameterError, match="a dict, 'balanced' or None"):
        ELMClassifier(class_weight="fair").fit(X, y)


def test_only_rows_with_a_weight_count():
    weight = (np.arange(60) < 40).astype(float)
    noisy = np.where(np.arange(60) < 40, y, 1 - y)
    a = ELMClassifier(n_hidden=15, random_state=0).fit(X, noisy, sample_weight=weight)
    b = ELMClassifier(n_hidden=15, random_state=0).fit(X[:40], y[:40])
    assert_allclose(a.beta_, b.beta_, rtol=1e-8)


# ---------------------------------------------------------------- what can, though odd
@pytest.mark.parametrize("features", [RandomFeatures(15), RBFFeatures(15)], ids=repr)
@pytest.mark.parametrize("value", [0.0, 7.0, 0.1, 1e300, -1e-300])
def test_a_constant_column_changes_nothing(features, value):
    wide = np.column_stack([X[:, :2], np.full(60, value), X[:, 2:]])
    model = ELMClassifier(features, C=1.0, random_state=0).fit(wide, y)
    other = wide.copy()
    other[:, 2] = 0.5
    assert np.isfinite(model.decision_function(wide)).all()
    assert_array_equal(model.predict(wide), model.predict(other))


@pytest.mark.parametrize("features", [RandomFeatures(15), RBFFeatures(15)], ids=repr)
@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1e30, 1e300])
def test_the_scale_of_a_column_changes_nothing(features, scale):
    factors = np.array([1.0, scale, 1.0, 1.0])
    a = ELMClassifier(features, C=1.0, random_state=0).fit(X, y)
    b = ELMClassifier(features, C=1.0, random_state=0).fit(X * factors, y)
    assert_allclose(b.decision_function(X * factors), a.decision_function(X), atol=1e-9)


def test_a_huge_column_survives_float32():
    factors = np.array([1.0, 1e300, 1e-300, 1.0])
    a = ELMClassifier(n_hidden=15, C=1.0, dtype="float32", random_state=0).fit(X * factors, y)
    b = ELMClassifier(n_hidden=15, C=1.0, random_state=0).fit(X, y)
    assert_allclose(a.decision_function(X * factors), b.decision_function(X), atol=1e-4)


@pytest.mark.parametrize("features", [RandomFeatures(15), RBFFeatures(15)], ids=repr)
def test_rows_that_are_all_equal(features):
    same = np.ones((60, 4))
    model = ELMClassifier(features, random_state=0).fit(same, np.arange(60) % 3 == 0)
    assert not model.predict(same).any()  # the majority
    proba = model.predict_proba(same)[0, 1]
    assert 0.1 < proba < 0.5
    value = ELMRegressor(features, random_state=0).fit(same, np.arange(60.0)).predict(same)
    assert_allclose(value, 29.5, rtol=0.05)


def test_duplicated_rows():
    twice, labels = np.vstack([X, X]), np.r_[y, y]
    a = ELMClassifier(n_hidden=200, random_state=0).fit(twice, labels)
    assert a.score(X, y) > 0.9
    contradicted = ELMClassifier(n_hidden=200, random_state=0).fit(twice, np.r_[y, 1 - y])
    assert np.isfinite(contradicted.predict_proba(X)).all()


@pytest.mark.parametrize("h", [59, 60, 61, 300])
def test_as_many_units_as_rows(h):
    for C in ("loo", 1.0, 1e10):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = ELMClassifier(n_hidden=h, C=C, random_state=0).fit(X, y)
        assert model.score(X, y) > 0.9
        assert model.n_hidden_ == h


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, bool, np.float16])
def test_other_types_of_number(dtype):
    whole = np.abs(3 * X).astype(dtype)
    a = ELMClassifier(n_hidden=15, C=1.0, random_state=0).fit(whole, y)
    b = ELMClassifier(n_hidden=15, C=1.0, random_state=0).fit(whole.astype(float), y)
    assert_allclose(a.beta_, b.beta_, rtol=1e-6)


# ---------------------------------------------------------------- streams
def test_batches_of_different_widths():
    batches = [(X[:30], y[:30]), (X[30:, :3], y[30:])]
    for stream in (iter(batches), lambda: iter(batches)):
        with pytest.raises(BatchError, match="Batch 2 cannot be used. X has 3 features"):
            ELMClassifier(n_hidden=15).fit(stream)
    model = ELMClassifier(n_hidden=15).partial_fit(*batches[0])
    with pytest.raises(ValueError, match="X has 3 features"):
        model.partial_fit(*batches[1])


@pytest.mark.parametrize("cls", [ELMClassifier, ELMRegressor])
def test_streams_that_cannot_be_used(cls):
    with pytest.raises(InvalidInputError, match="no batch to fit"):
        cls().fit(iter([]))
    with pytest.raises(BatchError, match="Batch 1 is not a pair"):
        cls().fit(iter([X]))
    spoiled = np.where(X > 2, np.nan, X)
    with pytest.raises(BatchError, match="Batch 2 cannot be used.*NaN"):
        cls(n_hidden=15).fit(iter([(X, y), (spoiled, y)]))
    with pytest.raises(ValueError, match="requires y"):
        cls().fit(X, None)


def test_forgetting_what_was_never_learned():
    with pytest.raises(InvalidInputError, match="nothing to forget"):
        ELMClassifier().partial_fit(X, y, forget=True)
    model = ELMClassifier(n_hidden=15).partial_fit(X[:30], y[:30])
    with pytest.raises(InvalidInputError, match="leaves none"):
        model.partial_fit(X, y, forget=True)
    with pytest.raises(InvalidParameterError, match="decay=0"):
        model.partial_fit(X, y, decay=0)


def test_labels_that_were_not_declared():
    model = ELMClassifier(n_hidden=15).partial_fit(X, y, classes=[0, 1])
    with pytest.raises(InvalidInputError, match=r"not among the classes: \[2\]"):
        model.partial_fit(X, y + 1)
    with pytest.raises(InvalidInputError, match="not what the earlier calls had"):
        model.partial_fit(X, y, classes=[0, 1, 2])


def test_balancing_a_stream_needs_all_labels():
    with pytest.raises(InvalidParameterError, match="needs all the labels at once"):
        ELMClassifier(class_weight="balanced").partial_fit(X, y)


# ---------------------------------------------------------------- nothing is lost
@pytest.mark.parametrize("cls", [ELMClassifier, ELMRegressor])
@pytest.mark.parametrize(
    "call",
    [
        lambda model: model.fit(np.full_like(X, np.nan), y),
        lambda model: model.fit(X[:, :2], y[:-1]),
        lambda model: model.set_params(C=-1.0).fit(X[:, :3], y),
        lambda model: model.fit(iter([(X[:, :3], y), (X, y)])),
        lambda model: model.partial_fit(np.full_like(X, np.nan), y),
    ],
)
def test_a_failed_fit_leaves_the_model_as_it_was(cls, call):
    model = fitted(cls, C=1.0)
    before, names = model.predict(X), set(vars(model))
    with pytest.raises((ValueError, UlmusError)):
        call(model)
    assert set(vars(model)) == names
    assert_array_equal(model.predict(X), before)
    assert model.n_features_in_ == 4


def test_a_fit_that_is_interrupted_leaves_the_model_as_it_was():
    model = fitted(ELMClassifier)
    before = model.predict(X)

    def stream():
        yield X[:, :2], y
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.fit(stream())
    assert_array_equal(model.predict(X), before)


def test_a_sketch_needs_all_rows_at_once():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(InvalidParameterError, match="solver='svd' is unknown"):
        ELMClassifier(solver="svd").fit(X, y)
    with pytest.raises(InvalidParameterError, match="rank=0 must be a whole number"):
        ELMClassifier(solver=Randomized(0)).fit(X, y)
    with pytest.raises(InvalidParameterError, match="needs all rows at once"):
        ELMClassifier(solver=Randomized()).partial_fit(X, y)
    with pytest.raises(InvalidParameterError, match="needs all rows at once"):
        ELMClassifier(solver=Randomized()).fit(iter([(X, y)]))
    many = np.tile(X, (7, 1)), np.tile(y, 7)
    model = ELMClassifier(solver=Randomized(50), random_state=0).fit(*many)
    with pytest.raises(InvalidInputError, match="no sums to go on from"):
        model.set_params(solver="auto").partial_fit(X, y)
