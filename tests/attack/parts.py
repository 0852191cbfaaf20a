"""Graphs, kernel matrices and validation rows that a caller gives, and that no model can use."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from attack.rows import FINITE, REFUSED
from attack.subjects import Data
from ulmus import (
    ELMEmbedding,
    ELMSpectralClustering,
    KernelELMClassifier,
    KernelFeatures,
    SemiSupervisedELMClassifier,
    SparseELMClassifier,
)
from ulmus.graphs import Laplacian, affinity_of, laplacian

__all__ = ["PARTS"]


def _ring(n: int) -> Any:
    """Every row joined to the next."""
    ones = np.ones(n)
    return sp.csr_array(
        sp.diags_array([ones, ones, [1.0], [1.0]], offsets=[1, -1, n - 1, 1 - n], shape=(n, n))
    )


def _changed(name: str, place: int, value: float) -> Callable[[int], Any]:
    def make(n: int) -> Any:
        W = _ring(n)
        getattr(W, name)[place] = value
        return W

    return make


_GRAPHS: dict[str, tuple[Callable[[int], Any], str]] = {
    "too few rows": (lambda n: _ring(n - 1), REFUSED),
    "not square": (lambda n: _ring(n)[:-1], REFUSED),
    "not symmetric": (_changed("data", 3, 5.0), REFUSED),
    "negative": (lambda n: -_ring(n), REFUSED),
    "NaN": (lambda n: np.nan * _ring(n), REFUSED),
    "infinite": (_changed("data", 3, np.inf), REFUSED),
    "index past the end": (_changed("indices", 3, 10**6), REFUSED),
    "negative index": (_changed("indices", 3, -5), REFUSED),
    "pointers past the end": (_changed("indptr", -1, 10**6), REFUSED),
    "complex": (lambda n: _ring(n).astype(complex), REFUSED),
    "dense": (lambda n: _ring(n).toarray(), REFUSED),
    "a word": (lambda n: "knn", REFUSED),
    "a class": (lambda n: Laplacian, REFUSED),
    "no edges": (lambda n: sp.csr_array((n, n)), FINITE),
    "two parts": (lambda n: sp.block_diag([_ring(n // 2), _ring(n - n // 2)], "csr"), FINITE),
    "huge weights": (lambda n: 1e300 * _ring(n), FINITE),
    "tiny weights": (lambda n: 1e-300 * _ring(n), FINITE),
    "integers": (lambda n: _ring(n).astype(int), FINITE),
    "COO": (lambda n: _ring(n).tocoo(), FINITE),
}
_KERNELS: dict[str, tuple[Callable[[np.ndarray], Any], str]] = {
    "not square": (lambda K: K[:-1], REFUSED),
    "not symmetric": (lambda K: K + np.eye(len(K), k=1), REFUSED),
    "indefinite": (lambda K: -K, REFUSED),
    "NaN": (lambda K: np.nan * K, REFUSED),
    "sparse": (sp.csr_array, REFUSED),
    "text": (lambda K: K.astype(str), REFUSED),
    "huge": (lambda K: 1e160 * K, FINITE),
    "tiny": (lambda K: 1e-160 * K, FINITE),
    "zero": (lambda K: 0.0 * K, FINITE),
    "of rank one": (np.ones_like, FINITE),
}
_ON_GRAPHS = {
    "SemiSupervisedELMClassifier": lambda graph: SemiSupervisedELMClassifier(
        n_hidden=12, C=1.0, lam=0.1, graph=graph, random_state=0
    ),
    "free coupling": lambda graph: SemiSupervisedELMClassifier(
        n_hidden=12, coupling="free", graph=graph, random_state=0
    ),
    "ELMEmbedding": lambda graph: ELMEmbedding(n_hidden=12, graph=graph, random_state=0),
    "ELMSpectralClustering": lambda graph: ELMSpectralClustering(
        3, n_hidden=12, graph=graph, random_state=0
    ),
}
_ON_KERNELS = {
    "KernelELMClassifier": lambda: KernelELMClassifier("precomputed", C=1.0),
    "KernelELMClassifier low rank": lambda: KernelELMClassifier(
        "precomputed", C=1.0, rank=5, random_state=0
    ),
    "KernelFeatures": lambda: KernelFeatures("precomputed", 5, random_state=0),
    "SparseELMClassifier": lambda: SparseELMClassifier(kernel="precomputed", random_state=0),
}
_ON_MATRICES = {
    "laplacian": lambda W: laplacian(W) @ np.ones((W.shape[0], 1)),
    "affinity_of": lambda W: affinity_of(W).toarray(),
}


def _answer(model: Any, X: Any, y: Any) -> np.ndarray:
    model.fit(X, y)
    for name in ("decision_function", "transform", "predict"):
        if hasattr(model, name):
            return np.asarray(getattr(model, name)(X))
    raise TypeError(f"{model!r} answers nothing")


def _graph(make: Callable[[Any], Any], graph: Callable[[int], Any]) -> Callable[[Data], Any]:
    return lambda data: _answer(make(graph(len(data.X))), data.X, data.few)


def _kernel(make: Callable[[], Any], kernel: Callable[[Any], Any]) -> Callable[[Data], Any]:
    return lambda data: _answer(make(), kernel(data.X @ data.X.T), data.classes)


def _matrix(function: Callable[[Any], Any], graph: Callable[[int], Any]) -> Callable[[Data], Any]:
    return lambda data: function(graph(len(data.X)))


# What is called with clean rows, and what must become of it.
PARTS: dict[tuple[str, str], tuple[Callable[[Data], Any], str]] = {
    **{
        (name, f"graph: {graph}"): (_graph(make, how), must)
        for name, make in _ON_GRAPHS.items()
        for graph, (how, must) in _GRAPHS.items()
    },
    **{
        (name, f"kernel: {kernel}"): (_kernel(make, how), must)
        for name, make in _ON_KERNELS.items()
        for kernel, (how, must) in _KERNELS.items()
    },
    **{
        (name, f"graph: {graph}"): (_matrix(function, how), "finite")
        for name, function in _ON_MATRICES.items()
        for graph, (how, _) in _GRAPHS.items()
    },
}
