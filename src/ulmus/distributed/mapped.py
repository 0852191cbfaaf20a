"""Methods for rows that also take Dask collections, and then return lazy Dask arrays."""

from collections.abc import Callable
from contextlib import nullcontext
from functools import wraps
from math import prod
from typing import Any

import numpy as np
from sklearn import config_context

from ulmus.backends.linalg import held_threads
from ulmus.backends.namespace import is_collection, on_host
from ulmus.distributed.blocks import Blocks, computed, named
from ulmus.fitted import snapshot, without_rows
from ulmus.validation import check_place, complete

# Most numbers in rows for which threads are not limited: BLAS uses one thread for them anyway, and
# limiting would take 5 % of such a prediction.
_FEW = 256


def by_blocks(method: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """For a Dask collection, the results block by block; otherwise the result of ``method``.

    It uses the model as it is at the call, even if another thread fits it meanwhile.
    """

    @wraps(method)
    def results(self: Any, X: Any) -> Any:
        if is_collection(X):
            return _mapped(self, method.__name__, X)
        model = snapshot(self)
        check_place(model, method.__name__, X)
        small = hasattr(X, "shape") and prod(X.shape) < _FEW
        with nullcontext() if small else held_threads():
            return method(model, X)

    results.takes_blocks = True  # type: ignore[attr-defined]
    return results


def _mapped(estimator: Any, method: str, X: Any) -> Any:
    blocks = Blocks(X)
    # The result of one row has the shape and type of the others, and shows whether columns fit.
    example = getattr(estimator, method)(_example(X))
    empty = example[:0]
    tasks = blocks.each(_result, without_rows(estimator), method, empty)
    return blocks.array(tasks, example.shape[1:], example.dtype)


def _result(number: int, block: tuple[Any], estimator: Any, method: str, empty: np.ndarray) -> Any:
    (X,) = block
    if X.shape[0] == 0:
        return empty
    with named(f"Block {number} (counted from 0)"):
        return getattr(estimator, method)(X)


def _example(X: Any) -> Any:
    """One row like those of X."""
    if hasattr(X, "_meta_nonempty"):
        return X._meta_nonempty.iloc[:1]
    return np.zeros((1, X.shape[1]), X.dtype)


def scored(metric: Callable[..., float], y: Any, predicted: Any, weight: Any) -> float:
    """A metric of scikit-learn, computed on the host, also for Dask collections.

    On a device its means may be in float32 though the values are in float64.
    """
    y, predicted, weight = map(on_host, computed(y, predicted, weight))
    with config_context(array_api_dispatch=False):
        return metric(complete(y, "score the others alone"), predicted, sample_weight=weight)
