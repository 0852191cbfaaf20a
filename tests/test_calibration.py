"""Probabilities that left-out decision values make likely."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis.strategies import booleans, integers, sampled_from
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit, log_softmax, softmax

from ulmus.calibration import (
    class_scaling,
    likelihoods,
    probabilities,
    temperature,
    temperature_for,
    temperatures,
)
from ulmus.targets import chosen


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


# ---------------------------------------------------------------- a scale and a bias for each class
def skewed(seed, n=200, k=4):
    """Decision values of unequal classes, of which the last is named too timidly."""
    rng = np.random.default_rng(seed)
    codes = rng.choice(k, n, p=np.arange(k, 0, -1) / (k * (k + 1) / 2))
    F = rng.standard_normal((n, k)) + 2.0 * np.eye(k)[codes]
    F[:, -1] /= 3.0
    return F, codes


def scaled_loss(found, F, codes, a, c):
    """−Σ c log-likelihood, one row at a time, and 5 Σ (distance from one or zero)²."""
    N, k = c.sum(), F.shape[1]
    total = 5.0 * (np.sum((found[0] - 1) ** 2) + np.sum(found[1] ** 2))
    for f, code, count in zip(F, codes, c, strict=True):
        log_P = log_softmax(a * found[0] * f + found[1])
        for j in range(k):
            total -= count * ((N + 1) / (N + 2) if j == code else 1 / (N + 2) / (k - 1)) * log_P[j]
    return total


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_no_other_scales_and_biases_are_better(seed, weighted):
    F, codes = skewed(seed)
    rng = np.random.default_rng(seed)
    c = rng.uniform(0.2, 3.0, len(F)) if weighted else np.ones(len(F))
    a = temperature(F, codes, c)
    found = class_scaling(F, codes, a, c if weighted else None)
    best = scaled_loss(found, F, codes, a, c)
    for _ in range(20):
        other = found + 10.0 ** rng.uniform(-4, 0) * rng.standard_normal(found.shape)
        assert scaled_loss(other, F, codes, a, c) > best


def test_scales_and_biases_lower_the_loss_of_new_rows():
    (F, codes), (new, own) = skewed(0, 1000), skewed(1, 1000)
    a = temperature(F, codes)
    P, scaled = probabilities(new, a), probabilities(new, a, class_scaling(F, codes, a))
    rows = np.arange(len(own))
    assert -np.log(scaled[rows, own]).mean() < -np.log(P[rows, own]).mean() - 0.03


def test_scales_of_weighted_rows_are_those_of_repeated_rows():
    F, codes = skewed(2)
    c = np.where(np.arange(200) % 3, 1.0, 2.0)
    twice = np.repeat(np.arange(200), c.astype(int))
    expected = class_scaling(F[twice], codes[twice], 1.5)
    assert_allclose(class_scaling(F, codes, 1.5, c), expected, atol=1e-8)


def test_two_classes_and_few_rows_have_a_temperature_alone():
    F, codes = decisions(0, 200, 1)
    assert class_scaling(F, codes, 1.0) is None
    F, codes = skewed(0, 39)
    assert class_scaling(F, codes, 1.0) is None
    assert class_scaling(*skewed(0, 40), 1.0) is not None


def test_a_class_without_rows_has_finite_scales():
    F, codes = skewed(0)
    found = class_scaling(1e3 * F, np.minimum(codes, 2), 7.0)
    assert np.isfinite(found).all()
    assert (found[0] >= 0.1).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_named_class_is_the_likeliest_whatever_the_scales(dtype):
    F = np.random.default_rng(0).standard_normal((300, 4)).astype(dtype)
    scaling = np.array([[0.5, 1.0, 2.0, 1.0], [3.0, 0.0, -1.0, 0.0]])
    P = probabilities(F, 2.0, scaling)
    assert P.dtype == dtype
    assert_array_equal(P.argmax(axis=1), chosen(F))
    assert_allclose(P.sum(axis=1), 1.0, rtol=8 * np.finfo(dtype).eps)
    kept = softmax(2.0 * F * scaling[0] + scaling[1], axis=1)
    agree = kept.argmax(axis=1) == chosen(F)
    assert 0.3 < agree.mean() < 1.0
    assert_allclose(P[agree], kept[agree], rtol=1e-4)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_decision_values_near_overflow_have_finite_probabilities(dtype):
    most = np.finfo(dtype).max
    F = np.array([[most, -most, most / 10], [-most, most / 2, most / 2]], dtype=dtype)
    P = probabilities(F, 2.0, np.array([[3.0, 2.0, 1.0], [0.0, 1.0, 0.0]]))
    assert_allclose(P.sum(axis=1), 1.0, rtol=1e-6)
    assert P.argmax(axis=1).tolist() == F.argmax(axis=1).tolist() == [0, 1]


def test_the_temperature_of_three_right_rows_in_four_is_log_three():
    F = np.tile([[-1.0], [1.0], [1.0], [1.0]], (1000, 1))
    assert temperature(F, np.tile([0, 1, 1, 0], 1000)) == pytest.approx(np.log(3), abs=0.01)
