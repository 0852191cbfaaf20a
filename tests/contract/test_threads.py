"""Whatever an estimator is asked for, BLAS has no more threads than there are CPUs to use."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from threadpoolctl import ThreadpoolController, threadpool_limits

import ulmus
from ulmus.backends import linalg, threads

X, Y = load_iris(return_X_y=True)
ASKED = [
    ("fit", X, Y),
    ("partial_fit", X, Y),
    ("relabel", np.where(np.arange(len(Y)) % 3, -1, Y)),
    ("predict", X),
    ("predict_proba", X),
    ("predict_log_proba", X),
    ("decision_function", X),
    ("transform", X),
    ("fit_predict", X),
    ("fit_transform", X),
    ("score", X, Y),
]
ESTIMATORS = [
    cls(3) if name in ("ELMKMeans", "ELMNMF", "ELMSpectralClustering") else cls()
    for name, cls in ((name, getattr(ulmus, name)) for name in ulmus.__all__)
    if hasattr(cls, "fit")
]


BLAS = ThreadpoolController().select(user_api="blas")


def blas_threads():
    return max(info["num_threads"] for info in BLAS.info())


@pytest.fixture
def seen(monkeypatch):
    """The threads that BLAS has at every product, on a machine of which two CPUs are ours."""
    found = []
    functions = linalg.get_blas_funcs

    def recorded(*args, **kwargs):
        found.append(blas_threads())
        return functions(*args, **kwargs)

    monkeypatch.setattr(linalg, "get_blas_funcs", recorded)
    monkeypatch.setattr(threads, "cpus", lambda: 2)
    return found


@pytest.mark.parametrize("model", ESTIMATORS, ids=lambda model: type(model).__name__)
def test_a_quota_holds_in_every_method(seen, model):
    model = clone(model)
    if "n_hidden" in model.get_params():
        model.set_params(n_hidden=20)
    model.fit(X, Y)
    met = []
    for name, *data in ASKED:
        if hasattr(model, name):
            del seen[:]
            with threadpool_limits(4):
                getattr(model, name)(*data)
                assert blas_threads() == 4
            assert set(seen) <= {1, 2}, name  # one where few rows are fitted
            met += seen
    assert met


def test_few_rows_are_fitted_by_one_thread_and_many_by_all(seen):
    for rows, allowed in ((10, {1}), (20, {2})):
        seen.clear()
        with threadpool_limits(4):
            ulmus.ELMClassifier(n_hidden=20, C=1.0).fit(
                np.repeat(X, rows, axis=0), np.repeat(Y, rows)
            )
        assert set(seen) == allowed
