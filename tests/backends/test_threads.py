"""The CPUs that a process may use, and the threads that BLAS has meanwhile."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import joblib
import numba
import numpy as np
import pynndescent
import pytest
from sklearn.datasets import load_iris
from threadpoolctl import ThreadpoolController, threadpool_limits

from ulmus import ELMClassifier, RandomFeatures
from ulmus.backends import threads
from ulmus.backends.neighbors import approximate_neighbors
from ulmus.backends.threads import cpus, held_numba, held_threads

X, Y = load_iris(return_X_y=True)
MANY_X, MANY_Y = np.tile(X, (14, 1)), np.tile(Y, 14)
BLAS = ThreadpoolController().select(user_api="blas")
OPENMP = ThreadpoolController().select(user_api="openmp")


def blas_threads():
    return {info["num_threads"] for info in BLAS.info()}


@pytest.fixture
def quota(monkeypatch):
    """Sets how many CPUs joblib finds."""
    monkeypatch.delenv("LOKY_MAX_CPU_COUNT", raising=False)

    def allow(count):
        threads._cpus.cache_clear()
        monkeypatch.setattr(joblib, "cpu_count", lambda: count)

    yield allow
    threads._cpus.cache_clear()


def recorder(found):
    """A map whose units note how many threads BLAS has when they are worked out."""

    def units(Z):
        found.append(blas_threads())
        return np.tanh(Z)

    return RandomFeatures(10, activation=units)


def test_a_fit_has_no_more_threads_than_the_quota_allows(quota):
    quota(3)
    found = []
    with threadpool_limits(8):
        model = ELMClassifier(recorder(found), C=1.0).fit(MANY_X, MANY_Y)
        model.predict(MANY_X)
        assert blas_threads() == {8}
    assert found == [{3}] * len(found)
    assert found


@pytest.mark.parametrize("rows", [X, X.tolist()], ids=["array", "list"])
def test_few_rows_are_fitted_by_one_thread(rows, quota):
    quota(3)
    found = []
    with threadpool_limits(8):
        ELMClassifier(recorder(found), C=1.0).fit(X=rows, y=Y)
        ELMClassifier(recorder(found), C=1.0).fit(rows, Y)
        assert blas_threads() == {8}
    assert found == [{1}] * len(found)
    assert found


def test_a_small_batch_may_belong_to_many_rows(quota):
    quota(3)
    found = []
    with threadpool_limits(8):
        model = ELMClassifier(recorder(found), C=1.0).fit(MANY_X, MANY_Y)
        found.clear()
        model.partial_fit(X[:20], Y[:20]).predict(MANY_X)
    assert found == [{3}] * len(found)
    assert found


def test_limits_of_two_threads_end_in_any_order(quota):
    quota(3)
    with threadpool_limits(8):
        many, few = held_threads(), held_threads(rows=10)
        many.__enter__()
        few.__enter__()
        assert blas_threads() == {1}
        many.__exit__(None, None, None)
        assert blas_threads() == {1}
        few.__exit__(None, None, None)
        assert blas_threads() == {8}


def test_a_limit_that_is_lower_stays(quota):
    quota(3)
    found = []
    with threadpool_limits(2):
        ELMClassifier(recorder(found), C=1.0).fit(MANY_X, MANY_Y)
        assert blas_threads() == {2}
    assert found == [{2}] * len(found)


def test_a_limit_of_one_library_is_not_shared_with_the_others(quota):
    quota(3)
    files = [info["filepath"] for info in BLAS.info()]
    with threadpool_limits(8), BLAS.select(filepath=files[:1]).limit(limits=1):
        with held_threads():
            assert blas_threads() == ({1, 3} if len(files) > 1 else {1})
        assert blas_threads() == ({1, 8} if len(files) > 1 else {1})


def test_a_failed_fit_gives_the_threads_back(quota):
    quota(3)

    def broken(Z):
        raise RuntimeError("no units today")

    with threadpool_limits(8):
        with pytest.raises(RuntimeError, match="no units"):
            ELMClassifier(RandomFeatures(10, activation=broken)).fit(X, Y)
        assert blas_threads() == {8}


def test_loky_s_variable_is_heeded(monkeypatch):
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "1")
    assert cpus() == 1
    found = []
    with threadpool_limits(8):
        ELMClassifier(recorder(found), C=1.0).fit(X, Y)
    assert found == [{1}] * len(found)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="affinity is Linux's")
def test_the_affinity_is_asked_for_every_time(monkeypatch, quota):
    quota(2)
    assert cpus() == 2
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1, 2})
    monkeypatch.setattr(joblib, "cpu_count", lambda: 3)
    assert cpus() == 3


def test_fits_side_by_side_leave_the_threads_as_they_were(quota):
    quota(3)
    inside, go_on = Event(), Event()

    def slowly():
        with held_threads():
            inside.set()
            go_on.wait()

    with threadpool_limits(8):
        with ThreadPoolExecutor(1) as pool:
            pool.submit(slowly)
            inside.wait()
            ELMClassifier(n_hidden=10, C=1.0).fit(X, Y)
            go_on.set()
        assert blas_threads() == {8}


def test_an_environment_variable_is_not_overruled():
    code = (
        "import numpy as np, joblib; joblib.cpu_count = lambda: 3\n"
        "from threadpoolctl import threadpool_info\n"
        "from ulmus.backends.threads import held_threads\n"
        "with held_threads():\n"
        "    print({i['num_threads'] for i in threadpool_info() if i['user_api'] == 'blas'})\n"
    )
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    run = [sys.executable, "-c", code]
    seen = subprocess.run(run, env=environment, capture_output=True, text=True, check=True)
    assert seen.stdout.strip() == "{1}"


def test_numba_is_held_too(quota):
    quota(1)
    before = numba.get_num_threads()
    with held_numba():
        assert numba.get_num_threads() == 1
    assert numba.get_num_threads() == before
    quota(before + 5)
    with held_numba():
        assert numba.get_num_threads() == before


def test_the_search_for_neighbours_is_held(quota, monkeypatch):
    quota(1)
    found = []

    class Search:
        """One neighbour of every row, itself."""

        def __init__(self, X, **settings):
            found.append(numba.get_num_threads())
            self.neighbor_graph = np.arange(len(X))[:, None], np.zeros((len(X), 1))

    monkeypatch.setattr(pynndescent, "NNDescent", Search)
    approximate_neighbors(X, 0, "euclidean", 0)
    assert found == [1]


def test_one_thread_is_lifted_by_the_last_that_asked():
    with threadpool_limits(2):
        first, second = threads.one_thread(), threads.one_thread()
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        assert blas_threads() == {1}
        second.__exit__(None, None, None)
        assert blas_threads() == {2}


def test_one_thread_holds_openmp_too():
    with OPENMP.limit(limits=2):
        with threads.one_thread():
            assert {info["num_threads"] for info in OPENMP.info()} == {1}
        assert {info["num_threads"] for info in OPENMP.info()} == {2}


def test_a_limit_that_is_set_between_two_holds_stays(quota):
    quota(4)
    with threadpool_limits(4), held_threads():
        with threadpool_limits(2):
            with held_threads():
                assert blas_threads() == {2}
            assert blas_threads() == {2}
            with threads.one_thread():
                assert blas_threads() == {1}
            assert blas_threads() == {2}
        assert blas_threads() == {4}
