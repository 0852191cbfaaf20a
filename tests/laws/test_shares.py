"""Threads that work on rows of their own find what one thread finds."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from numpy.testing import assert_allclose

from ulmus import ELMClassifier, ELMRegressor, RandomFeatures
from ulmus.backends import gram, threads
from ulmus.hidden import GivenRows, Hidden


@pytest.fixture
def four_threads(monkeypatch):
    """Four threads of BLAS, of which each is given rows, however few there are."""
    used = []

    def over_shares(work, parts):
        used.append(len(parts))
        return original(work, parts)

    original = threads.over_shares
    monkeypatch.setattr(threads, "blas_threads", lambda: 4)
    monkeypatch.setattr(threads, "_WORTHWHILE", 64)
    monkeypatch.setattr("ulmus.problem.over_shares", over_shares)
    return used


def _rows(dtype):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((403, 6)).astype(dtype)
    return X, np.sin(X[:, 0]) + X[:, 1], rng.uniform(0.5, 2.0, len(X))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("flushed", [False, True])
def test_threads_find_what_one_finds(dtype, weighted, flushed, request, monkeypatch):
    X, y, weight = _rows(dtype)
    if flushed:
        # Blocks of 20 rows, whose float32 products go into the float64 sum after 50.
        monkeypatch.setattr(gram, "_FLOAT32_ROWS", 50)
        monkeypatch.setattr("ulmus.hidden.block_rows", lambda *given: 20)
    model = ELMRegressor(RandomFeatures(30, random_state=0), C=[0.1, 10.0])
    given = {"sample_weight": weight} if weighted else {}
    one = model.fit(X, y, **given).predict(X)
    used = request.getfixturevalue("four_threads")
    many = model.fit(X, y, **given).predict(X)
    assert max(used) == 4
    assert_allclose(many, one, atol=2e-4 if dtype == np.float32 else 1e-9)


def test_sparse_rows_and_classes_by_threads(request):
    X, y, _ = _rows(np.float64)
    X[np.abs(X) < 1] = 0
    model = ELMClassifier(RandomFeatures(30, random_state=0), C=1.0)
    one = model.fit(sp.csr_array(X), y > 0).decision_function(X)
    used = request.getfixturevalue("four_threads")
    assert_allclose(model.fit(sp.csr_array(X), y > 0).decision_function(X), one, atol=1e-9)
    assert max(used) == 4


def test_a_function_of_the_user_is_called_by_one_thread(four_threads):
    X, y, _ = _rows(np.float64)
    ELMRegressor(RandomFeatures(30, activation=np.tanh, random_state=0), C=1.0).fit(X, y)
    assert max(four_threads) == 1


def test_sums_of_threads_fit_the_working_memory(four_threads):
    X, y, _ = _rows(np.float64)
    with sklearn.config_context(working_memory=3 * 30**2 * 8 / 2**20):
        ELMRegressor(RandomFeatures(30, random_state=0), C=1.0).fit(X, y)
    assert max(four_threads) == 1


def test_an_error_in_a_thread_is_raised(four_threads):
    def work(rows):
        if rows.start == 2:
            raise ValueError("in the second part")

    with pytest.raises(ValueError, match="second"):
        threads.over_shares(work, [slice(0, 2), slice(2, 4), slice(4, 6)])


def test_progress_goes_to_the_end(four_threads):
    seen, rows = [], np.ones((400, 5))
    H = Hidden(GivenRows(5, np.dtype(float)), rows, lambda done, of: seen.append((done, of)))
    for part in H.shares():
        list(H.share(part).blocks())
    assert seen[-1] == (400, 400)
