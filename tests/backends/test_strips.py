"""Elementwise work by several threads: complete, and the same for any number of them."""

import os
import threading

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from ulmus import ELMClassifier, ELMRegressor, RandomFeatures, RBFFeatures
from ulmus.backends.threads import _MANY as MANY
from ulmus.backends.threads import over_strips


@pytest.fixture
def threads(monkeypatch):
    """Sets how many threads there are."""
    return lambda count: monkeypatch.setattr("ulmus.backends.threads.blas_threads", lambda: count)


@pytest.mark.parametrize("count", [1, 2, 5, 40])
@pytest.mark.parametrize("rows", [0, 1, 7, 64, 100])
def test_every_row_is_visited_once(threads, count, rows):
    threads(count)
    seen = np.zeros(rows, int)

    def visit(strip):
        seen[strip] += 1

    over_strips(visit, rows, 7, MANY)
    assert_array_equal(seen, 1)


def test_several_threads_share_many_numbers_and_few_stay_with_the_caller(threads):
    threads(3)
    meeting, found = threading.Barrier(3), set()

    def meet(strip):
        meeting.wait()  # passes only where three threads are here at once
        found.add(threading.get_ident())

    over_strips(meet, 3, 1, MANY)
    assert len(found) == 3
    found.clear()
    over_strips(lambda strip: found.add(threading.get_ident()), 3, 1, MANY - 1)
    assert found == {threading.get_ident()}


@pytest.mark.parametrize("where", [0, 1])
def test_an_error_of_any_thread_is_raised_after_all_have_ended(threads, where):
    threads(2)
    ended = []

    def work(strip):
        if strip.start == where:
            raise ZeroDivisionError(strip.start)
        ended.append(strip.start)

    with pytest.raises(ZeroDivisionError, match=str(where)):
        over_strips(work, 2, 1, MANY)
    assert ended == [1 - where]


def test_numpy_s_settings_of_the_caller_hold_in_every_thread(threads):
    threads(2)
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        over_strips(lambda strip: strip.start and np.exp(np.full(4, 1e9)), 2, 1, MANY)
    with np.errstate(over="ignore"):
        over_strips(lambda strip: np.exp(np.full(4, 1e9)), 2, 1, MANY)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks are of POSIX")
def test_a_fork_has_threads_of_its_own(threads):
    threads(2)
    seen = np.zeros(2)

    def visit(strip):
        seen[strip] += 1

    over_strips(visit, 2, 1, MANY)
    child = os.fork()
    if child == 0:
        over_strips(visit, 2, 1, MANY)
        os._exit(int((seen != 2).any()))
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("features", [RandomFeatures(600), RBFFeatures(600), None], ids=str)
def test_a_fit_is_the_same_to_the_last_bit_for_any_number_of_threads(threads, dtype, features):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 90)).astype(dtype)
    found = []
    for count in (1, 2, 7):
        threads(count)
        for model, y in ((ELMClassifier, X[:, 0] > X[:, 1]), (ELMRegressor, X[:, 0])):
            more = {"n_hidden": 600} if features is None else {}
            fitted = model(features, C=1.0, dtype=dtype, random_state=0, **more).fit(X, y)
            found.append(fitted.beta_)
    for classifier, regressor in zip(found[2::2], found[3::2], strict=True):
        assert_array_equal(classifier, found[0])
        assert_array_equal(regressor, found[1])


def test_a_function_of_the_user_is_called_by_one_thread_alone(threads):
    threads(4)
    callers = set()

    def units(Z):
        callers.add(threading.get_ident())
        return np.tanh(Z)

    X = np.random.default_rng(0).standard_normal((2000, 3))
    ELMRegressor(RandomFeatures(300, activation=units), C=1.0).fit(X, X[:, 0])
    assert callers == {threading.get_ident()}
