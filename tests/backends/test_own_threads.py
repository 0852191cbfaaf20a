"""Elementwise work by several threads: complete, and the same for any number of them."""

import os
import threading

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.preprocessing import FunctionTransformer

from ulmus import ELMClassifier, ELMRegressor, RandomFeatures, RBFFeatures
from ulmus.backends import threads as module
from ulmus.backends.gram import Gram
from ulmus.backends.linalg import matmul
from ulmus.backends.threads import over_strips

MANY = module._MANY


@pytest.fixture
def threads(monkeypatch):
    """Sets how many threads there are."""
    return lambda count: monkeypatch.setattr(module, "blas_threads", lambda: count)


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


@pytest.mark.parametrize("features", [RandomFeatures(600), RBFFeatures(600), None], ids=str)
def test_a_fit_is_the_same_for_any_number_of_threads(threads, features):
    rng = np.random.default_rng(0)
    rows, weight = rng.standard_normal((3000, 90)), rng.uniform(0.5, 1.5, 3000)

    def outputs(count, dtype):
        threads(count)
        more = {"n_hidden": 600} if features is None else {}
        X, found = rows.astype(dtype), []
        for model, y in ((ELMClassifier, rows[:, 0] > rows[:, 1]), (ELMRegressor, rows[:, 0])):
            model = model(features, C=1.0, dtype=dtype, random_state=0, **more)
            found.append(model.fit(X, y, weight)._outputs(X))
        return np.hstack(found)

    few, many = module._CREW - 1, module._CREW
    found = {(n, d): outputs(n, d) for n in (1, many) for d in ("float32", "float64")}
    # To the last bit with threads of BLAS, and to the last bit with threads of ours.
    assert_array_equal(outputs(few, "float32"), found[1, "float32"])
    assert_array_equal(outputs(16, "float32"), found[many, "float32"])
    # Between the two, sums are rounded otherwise, and no worse.
    exact = found[1, "float64"]
    assert_allclose(found[many, "float64"], exact, atol=1e-10 * np.abs(exact).max())
    errors = [np.abs(found[n, "float32"] - exact).max() for n in (1, many)]
    assert errors[1] < 5.0 * errors[0]


@pytest.mark.parametrize("width", [1, 127, 128, 129, 300])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_products_of_our_threads_are_those_of_blas(threads, width, dtype):
    threads(5)
    rng = np.random.default_rng(0)
    blocks = [rng.standard_normal((n, width)).astype(dtype) for n in (400, 1, 37)]
    near = {"rtol": 1e-5 if dtype == "float32" else 1e-12, "atol": 1e-4}
    with module.own_threads(True):
        gram = Gram(width, blocks[0])
        for block in blocks:
            gram.add(block)
        found = gram.total()
        product = matmul(blocks[0].T, blocks[0])
    whole = np.vstack(blocks).astype(float)
    assert_allclose(found, whole.T @ whole, **near)
    assert_allclose(product, blocks[0].astype(float).T @ blocks[0], **near)


def test_a_transformer_of_others_keeps_the_threads_of_blas(threads):
    threads(module._CREW)
    seen = []

    class Units(FunctionTransformer):
        def transform(self, X):
            seen.append(module.crew())
            return super().transform(X)

    X = np.random.default_rng(0).standard_normal((50, 3))
    ELMRegressor(Units(np.tanh), C=1.0).fit(X, X[:, 0]).predict(X)
    assert set(seen) == {None}
    ELMRegressor(RandomFeatures(5, activation=lambda Z: seen.append(module.crew()) or Z)).fit(X, X)
    assert set(seen) == {None, module._CREW}


def test_a_function_of_the_user_is_called_by_one_thread_alone(threads):
    threads(4)
    callers = set()

    def units(Z):
        callers.add(threading.get_ident())
        return np.tanh(Z)

    X = np.random.default_rng(0).standard_normal((2000, 3))
    ELMRegressor(RandomFeatures(300, activation=units), C=1.0).fit(X, X[:, 0])
    assert callers == {threading.get_ident()}
