"""Data made from a seed have the law they are said to have."""

import hashlib

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import ndtr

from papers.datasets import (
    make_g50c,
    make_synthetic_control,
    make_waveform,
    tic_tac_toe,
)
from ulmus.exceptions import InvalidParameterError

MAKERS = [make_g50c, make_waveform, make_synthetic_control]


@pytest.mark.parametrize("make", MAKERS)
def test_a_seed_gives_the_same_rows_again_and_another_seed_others(make):
    X, y = make(3)
    again, labels = make(3)
    assert_array_equal(X, again)
    assert_array_equal(y, labels)
    assert not np.array_equal(X, make(4)[0])
    assert X.dtype == float
    assert y.dtype == np.int64


def test_the_first_numbers_of_every_generator_stay_what_they_are():
    expected = [
        (-0.63206645999821, 0.13743845711218391),
        (1.2465069299004312, 0.8478815989774826),
        (24.479913622808603, 31.676461272901523),
    ]
    assert_allclose([make(0)[0][0, :2] for make in MAKERS], expected, rtol=1e-12)


def test_the_bayes_error_of_g50c_is_its_formula_and_its_simulation():
    X, y = make_g50c(0, n_samples=100_000, n_features=50)
    means = np.array([X[y == label].mean(axis=0) for label in (0, 1)])
    distance = np.linalg.norm(means[1] - means[0])
    assert ndtr(-distance / 2) == pytest.approx(0.05, abs=0.002)
    # The best rule for two round Gaussians with means ±μ: the sign of μᵀx, μ ∝ (1, …, 1).
    assert np.mean((X.sum(axis=1) > 0) != y) == pytest.approx(0.05, abs=0.003)
    assert_allclose(np.cov(X[y == 1].T), np.eye(50), atol=0.04)


def test_g50c_is_balanced_and_as_far_apart_as_asked():
    X, y = make_g50c(1, n_samples=50_001, n_features=3, bayes_error=0.2)
    assert y.sum() == 25_001
    assert np.mean((X.sum(axis=1) > 0) != y) == pytest.approx(0.2, abs=0.006)


def test_waveforms_have_breimans_mean_curves_and_unit_noise():
    X, y = make_waveform(0, n_samples=60_000, n_noise=2)
    t = np.arange(1, 22)
    triangle = {c: np.maximum(6 - np.abs(t - c), 0) for c in (7, 11, 15)}
    for label, (a, b) in enumerate([(7, 15), (7, 11), (11, 15)]):
        assert_allclose(X[y == label, :21].mean(axis=0), (triangle[a] + triangle[b]) / 2, atol=0.06)
        # u is uniform, so a column varies by (hᵢ − hⱼ)² / 12 and the noise.
        spread = (triangle[a] - triangle[b]) ** 2 / 12 + 1
        assert_allclose(X[y == label, :21].var(axis=0), spread, rtol=0.05)
    assert_allclose(X[:, 21:].std(axis=0), 1, atol=0.02)
    assert_allclose(np.bincount(y) / len(y), 1 / 3, atol=0.01)


def test_control_charts_are_of_six_kinds():
    X, y = make_synthetic_control(0, n_per_class=500)
    t = np.arange(60)
    assert_array_equal(y, np.repeat(np.arange(6), 500))
    normal, cyclic, up, down, high, low = (X[y == kind] for kind in range(6))
    assert normal.min() >= 24
    assert normal.max() <= 36
    assert normal.std() == pytest.approx(2 * 3 / np.sqrt(3), rel=0.02)
    # A sine of amplitude 10 to 15 and a period of 10 to 15: its spectrum says so.
    power = np.abs(np.fft.rfft(cyclic - cyclic.mean(axis=1, keepdims=True))) ** 2
    period = 60 / power.argmax(axis=1)
    assert (period >= 10).all()
    assert (period <= 15).all()
    assert np.sqrt(2 * (cyclic.var(axis=1) - 12)).mean() == pytest.approx(12.5, abs=0.3)
    for trend, sign in ((up, 1), (down, -1)):
        slope = sign * np.polyfit(t, trend.T, 1)[0]
        assert slope.mean() == pytest.approx(0.35, abs=0.01)
        assert slope.min() > 0.1
        assert slope.max() < 0.6
        assert np.abs(trend[:, 0] - 30).max() <= 6
    for shift, sign in ((high, 1), (low, -1)):
        assert np.abs(shift[:, :20] - 30).max() <= 6
        size = sign * (shift[:, 40:].mean(axis=1) - 30)
        assert size.mean() == pytest.approx(13.75, abs=0.5)
        assert size.min() > 5
        assert size.max() < 22.5


def test_the_958_boards_follow_the_rules_of_the_game():
    X, y = tic_tac_toe()
    assert X.shape == (958, 9)
    assert len(np.unique(X, axis=0)) == 958
    assert y.sum() == 626
    boards = X.reshape(-1, 3, 3)
    sums = np.concatenate(
        [
            boards.sum(axis=1),
            boards.sum(axis=2),
            np.trace(boards, axis1=1, axis2=2)[:, None],
            np.trace(boards[:, :, ::-1], axis1=1, axis2=2)[:, None],
        ],
        axis=1,
    )
    x_wins, o_wins = (sums == 3).any(axis=1), (sums == -3).any(axis=1)
    assert_array_equal(x_wins, y == 1)
    assert not (x_wins & o_wins).any()
    full = (X != 0).all(axis=1)
    assert (x_wins | o_wins | full).all()
    assert (full & ~x_wins & ~o_wins).sum() == 16
    # x moves first: it is one ahead when it wins or the board is full, and level when o wins.
    assert_array_equal(X.sum(axis=1), np.where(o_wins, 0, 1))


def test_the_boards_are_the_published_ones():
    table = np.column_stack(tic_tac_toe()).astype(np.int8)
    published = "81afc8ba478cd006c6abbf527cbfd6e7924ada63f9e0aed88746579c26c1d87a"
    assert hashlib.sha256(table.tobytes()).hexdigest() == published


@pytest.mark.parametrize(
    ("make", "wrong"),
    [
        (make_g50c, {"bayes_error": 0.5}),
        (make_g50c, {"n_samples": 0}),
        (make_g50c, {"n_features": 2.0}),
        (make_waveform, {"n_noise": -1}),
        (make_synthetic_control, {"n_per_class": 0}),
    ],
)
def test_a_wrong_parameter_is_named(make, wrong):
    with pytest.raises(InvalidParameterError, match=next(iter(wrong))):
        make(0, **wrong)
