"""What targets promise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis.strategies import booleans, integers, sampled_from
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit, log_softmax, softmax

import oracles
from ulmus import targets as module
from ulmus.exceptions import InvalidInputError, InvalidParameterError
from ulmus.targets import (
    ClassTargets,
    ValueTargets,
    check_labels,
    check_size,
    chosen,
    class_factors,
    coded,
    codes_of,
    distinct,
    joined_labels,
    known_labels,
    likelihoods,
    numeric,
    probabilities,
    temperature,
    temperature_for,
    temperatures,
    wrong,
)

CODES = np.array([2, 0, 1, 1, 0])


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_coded_classes_are_one_against_the_rest(n_classes):
    codes = CODES % n_classes
    T = coded(ClassTargets(codes, n_classes), slice(0, 5), float)
    assert_array_equal(T, oracles.one_vs_rest(codes, np.arange(n_classes)))
    assert len(ClassTargets(codes, n_classes)) == 5


def test_some_rows_are_coded_as_they_are_among_all():
    targets, rows = ClassTargets(CODES, 3), np.array([4, 0])
    assert_array_equal(targets.block(rows, float), [[1, 0, 0], [0, 0, 1]])
    assert targets.block(rows, np.float32).dtype == np.float32
    assert_array_equal(coded(targets, rows, float), coded(targets, slice(0, 5), float)[rows])


def test_values_are_their_own_code():
    Y = np.arange(6.0).reshape(3, 2)
    targets = ValueTargets(Y)
    assert len(targets) == 3
    assert_array_equal(coded(targets, slice(1, 3), float), Y[1:])
    assert targets.block(slice(0, 3), np.float32).dtype == np.float32
    assert targets.array is Y


def test_the_class_chosen_is_the_largest_value_or_the_sign():
    assert_array_equal(chosen(np.array([[0.1, 0.5, -1.0], [2.0, 0.5, 1.0]])), [1, 0])
    assert_array_equal(chosen(np.array([[-0.1], [0.0], [0.1]])), [0, 0, 1])
    F = np.array([[[0.1, 0.5], [2.0, 0.5]]])
    assert_array_equal(chosen(F), [[1, 0]])
    T = np.array([[-1.0], [1.0], [1.0]])
    assert_array_equal(wrong(T, np.array([[-0.5], [-0.5], [3.0]])), [False, True, False])


@pytest.mark.parametrize(
    "y", [np.array([3, 1, 3]), np.array(["b", "a", "b"]), np.array(["b", 1, "a"], object)]
)
def test_every_label_has_its_place_among_the_classes(y):
    classes = distinct(y)
    assert_array_equal(classes[codes_of(y, classes)], y)
    assert_array_equal(codes_of(y, classes[:1]) >= 0, y == classes[0])


def test_labels_that_are_no_class_have_no_place():
    classes = np.array([1, 3, 5])
    assert_array_equal(codes_of(np.array([0, 1, 2, 5, 6]), classes), [-1, 0, -1, 2, -1])


def test_many_labels_are_looked_up_in_parts(monkeypatch):
    monkeypatch.setattr(module, "_STEP", 4)
    y = np.arange(11) % 3
    assert_array_equal(codes_of(y, np.arange(3)), y)


def test_labels_of_one_kind_join_and_others_are_refused():
    assert_array_equal(joined_labels(np.array([1, 0]), np.array([2])), [1, 0, 2])
    assert_array_equal(joined_labels(np.array([0, 1]), np.array([1.0, 2.0])), [0, 1, 1, 2])
    assert_array_equal(joined_labels(np.array(["a"]), np.array(["b"])), ["a", "b"])
    mixed = np.array(["a", 0], object)
    assert joined_labels(mixed, np.array([3])).tolist() == ["a", 0, 3]
    with pytest.raises(InvalidInputError, match="text, such as '0', and .* numbers, such as 1"):
        joined_labels(np.array([1, 0]), np.array(["0"]))
    with pytest.raises(InvalidInputError, match="numbers, such as 7, and .* text, such as 'a'"):
        joined_labels(np.array(["a"]), np.array(["b", 7, 8], object))
    with pytest.raises(InvalidInputError, match="of the type tuple"):
        joined_labels(np.array([1]), np.array([(1, 2), None], object)[:1])


def test_labels_that_cannot_be_told_apart_are_refused():
    check_labels(np.array(["a", 2, (1, 2)], object))
    with pytest.raises(InvalidInputError, match=r"of the type list, \[1\]"):
        check_labels(np.array(["a", [1]], object))


def test_targets_that_are_no_numbers_are_refused_in_words():
    for fine in ([1, 2], [True, False], np.array([1, 2.5], object)):
        assert_array_equal(numeric(np.asarray(fine)), np.asarray(fine, float))
    single = np.ones(2, np.float32)
    assert numeric(single) is single
    for words in (["a"], np.array(["1", 2], object), np.array([b"1"], object)):
        with pytest.raises(InvalidInputError, match="y must be numbers, and is text"):
            numeric(np.asarray(words))
    for none in (np.array([1.0, {}], object), np.array([10**400], object)):
        with pytest.raises(InvalidInputError, match="some entries are none"):
            numeric(none)
    with pytest.raises(InvalidInputError, match="Complex data not supported: t is complex128"):
        numeric(np.array([1j]), "t")
    with pytest.raises(InvalidInputError, match="is of the type datetime64"):
        numeric(np.array(["2020"], "datetime64[D]"))


def test_minus_one_and_nothing_are_no_labels():
    assert_array_equal(known_labels(np.array([0, -1, 2])), [True, False, True])
    assert_array_equal(known_labels(np.array([0.0, np.nan, -1.0])), [True, False, False])
    assert_array_equal(known_labels(np.array(["a", None, -1], object)), [True, False, False])
    assert_array_equal(known_labels(np.array(["a", "-1"])), [True, True])


def test_balanced_classes_have_the_same_total():
    totals = np.array([1.0, 4.0, 0.0, 5.0])
    factors = class_factors("balanced", np.arange(4), totals)
    assert_allclose((factors * totals)[totals > 0], totals.sum() / 3)
    assert factors[2] == 0


def test_a_dict_of_weights_has_one_for_each_class_it_names():
    assert class_factors(None, np.arange(2), None) is None
    assert_array_equal(class_factors({1: 3.0}, np.arange(3), None), [1.0, 3.0, 1.0])
    for bad in ({0: 0.0}, {0: -1.0}, {0: np.inf}, {0: np.nan}):
        with pytest.raises(InvalidParameterError, match="positive"):
            class_factors(bad, np.arange(2), None)
    with pytest.raises(InvalidParameterError, match="'balanced' or None"):
        class_factors("even", np.arange(2), None)
    with pytest.raises(InvalidParameterError, match="all the labels at once"):
        class_factors("balanced", np.arange(2), None)


def test_numbers_whose_squares_are_no_float_are_refused():
    for fine in ([0.0], [np.nan], [1e150], [1e-150], [1e-300, 1.0], []):
        check_size("y", np.array(fine))
    with pytest.raises(InvalidInputError, match="y goes up to 2e.150 .* divide"):
        check_size("y", np.array([1.0, -2e150]))
    with pytest.raises(InvalidInputError, match="y goes up to 1e-151 .* multiply"):
        check_size("y", np.array([0.0, 1e-151, np.nan]))


# ---------------------------------------------------------------- probabilities
def decisions(seed, n, outputs):
    """Decision values that half follow the classes."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, max(2, outputs), n)
    own = 2.0 * codes[:, None] - 1 if outputs == 1 else np.eye(outputs)[codes]
    return own + rng.standard_normal((n, outputs)), codes


def loss(log_a, F, codes, c):
    """−Σ c log-likelihood of targets that are right by (N + 1)/(N + 2), one entry at a time."""
    a, N = np.exp(log_a), c.sum()
    log_P = log_softmax(a * (np.column_stack([0 * F, F]) if F.shape[1] == 1 else F), axis=1)
    T = np.full(log_P.shape, 1 / (N + 2) / (log_P.shape[1] - 1))
    T[np.arange(len(F)), codes] = (N + 1) / (N + 2)
    return -np.sum(c[:, None] * T * log_P)


@given(seed=integers(0, 10**6), outputs=sampled_from([1, 3, 4]), weighted=booleans())
def test_no_other_temperature_makes_the_classes_likelier(seed, outputs, weighted):
    F, codes = decisions(seed, 40, outputs)
    c = np.random.default_rng(seed).uniform(0.2, 3.0, 40) if weighted else np.ones(40)
    log_a = np.log(temperature(F, codes, c if weighted else None))
    best = loss(log_a, F, codes, c)
    for other in np.r_[np.linspace(-6.9, 6.9, 30), log_a + np.r_[-0.1, 0.1, -0.01, 0.01]]:
        # The search stops within 1e-5 of the best log a, where the loss is flat.
        assert best <= loss(other, F, codes, c) + 1e-8 * c.sum()


def test_a_row_of_weight_two_is_two_rows():
    F, codes = decisions(3, 30, 3)
    c = np.where(np.arange(30) % 4, 1.0, 2.0)
    twice = np.repeat(np.arange(30), c.astype(int))
    assert_allclose(temperature(F, codes, c), temperature(F[twice], codes[twice]), rtol=1e-5)


def test_rows_that_are_all_right_are_no_proof_of_certainty():
    for n in (4, 40):
        F = np.ones((n, 1))
        # expit(a) = (n + 1)/(n + 2) makes a = log(n + 1).
        assert temperature(F, np.ones(n, int)) == pytest.approx(np.log(n + 1), rel=1e-4)


@pytest.mark.parametrize("a", [0.3, 1.0, 20.0])
def test_probabilities_are_softmax_or_the_logistic_function(a):
    F, _ = decisions(1, 20, 3)
    assert_allclose(probabilities(F, a), softmax(a * F, axis=1), rtol=1e-12)
    one = F[:, :1]
    expected = np.column_stack([expit(-a * one), expit(a * one)])
    assert_allclose(probabilities(one, a), expected, rtol=1e-12)
    assert_allclose(probabilities(1e6 * F, a).sum(axis=1), 1.0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_likeliest_class_is_the_chosen_one_even_where_probabilities_tie(dtype):
    tiny = np.finfo(dtype).tiny
    for F in (
        np.array([[tiny], [-tiny], [0.0], [0.5]], dtype),
        np.array([[0.0, tiny, 0.0], [0.0, 0.0, tiny], [tiny, 0.0, 0.0], [0, 1, 2]], dtype),
    ):
        P = probabilities(F, 1.0)
        assert P.dtype == dtype
        assert_array_equal(P.argmax(axis=1), chosen(F))
        assert_allclose(P.sum(axis=1), 1.0, rtol=4 * np.finfo(dtype).eps)


@pytest.mark.parametrize("outputs", [1, 4])
@pytest.mark.parametrize("size", [1.0, 1e4], ids=["small", "large"])
def test_the_likelihood_of_a_class_is_its_probability(outputs, size):
    decided = [decisions(seed, 30, outputs) for seed in range(3)]
    codes, F, heat = decided[0][1], np.stack([each for each, _ in decided]), np.array([0.1, 1, 9])
    expected = [
        probabilities(size * f, a)[np.arange(30), codes] for f, a in zip(F, heat, strict=True)
    ]
    assert_allclose(likelihoods(size * F, codes, heat), expected, rtol=1e-12, atol=1e-300)


def test_models_whose_search_ends_early_do_not_end_that_of_others():
    decided = [decisions(seed, 40, 3) for seed in range(6)]
    codes = decided[0][1]
    F = np.stack([each for each, _ in decided])  # but for the first they do not follow the classes
    found = temperatures(F, codes)
    assert_allclose(found, [temperature(each, codes) for each in F], rtol=1e-9)


@pytest.mark.parametrize("outputs", [1, 4])
def test_a_temperature_is_found_again_from_the_probabilities_it_gave(outputs):
    F = np.random.default_rng(0).standard_normal((50, outputs))
    assert temperature_for(F, probabilities(F, 2.5)) == pytest.approx(2.5, rel=1e-4)
