"""What is attacked: every public estimator, map and graph, small enough to fit in milliseconds."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import ulmus
from ulmus import (
    ELMNMF,
    ELMClassifier,
    ELMEmbedding,
    ELMKMeans,
    ELMLayout,
    ELMRegressor,
    ELMSpectralClustering,
    GraphELMClassifier,
    KernelELMClassifier,
    KernelELMRegressor,
    KernelFeatures,
    KNNGraph,
    ManifoldELMClassifier,
    RandomFeatures,
    Randomized,
    RBFFeatures,
    RowFeatures,
    SemiSupervisedELMClassifier,
    SemiSupervisedELMRegressor,
    SparseELMClassifier,
)

__all__ = ["SUBJECTS", "Data", "Subject"]


@dataclass(frozen=True)
class Data:
    """Clean rows: float64, one after the other in memory, with three classes and a value each."""

    X: np.ndarray
    classes: np.ndarray
    few: np.ndarray
    values: np.ndarray

    @classmethod
    def drawn(cls, seed: int, n: int = 36) -> "Data":
        """Three clouds; of a third of the rows the class is known."""
        rng = np.random.default_rng(seed)
        classes = np.arange(n) % 3
        X = rng.standard_normal((n, 4)) + 2.0 * np.eye(3, 4)[classes]
        few = np.where(np.arange(n) < n // 3, classes, -1)
        return cls(X, classes, few, X @ rng.standard_normal(4))


@dataclass(frozen=True)
class Subject:
    """An estimator, what kind of target it has, and what of its answer can be compared."""

    make: Callable[[], Any]
    family: str
    answer: Callable[[Any, Any], np.ndarray]

    def target(self, data: Data) -> np.ndarray | None:
        """The clean target."""
        return {
            "classes": data.classes,
            "few classes": data.few,
            "values": data.values,
            "few values": np.where(data.few < 0, np.nan, data.values),
        }.get(self.family)

    def fit(self, model: Any, X: Any, y: Any, *more: Any) -> Any:
        """A fitted model; a graph is one as it is."""
        if isinstance(model, KNNGraph):
            model.affinity(X)
            return model
        return model.fit(X) if y is None else model.fit(X, y, *more)


def _decision(model: Any, X: Any) -> np.ndarray:
    return np.asarray(model.decision_function(X))


def _prediction(model: Any, X: Any) -> np.ndarray:
    return np.asarray(model.predict(X))


def _together(model: Any, X: Any) -> np.ndarray:
    """Which rows share a cluster, for the clusters' numbers mean nothing."""
    labels = np.asarray(model.predict(X))
    return (labels[:, None] == labels).astype(float)


def _products(model: Any, X: Any) -> np.ndarray:
    """What no sign or turn of the columns changes."""
    H = np.asarray(model.transform(X), dtype=float)
    return H @ H.T


def _affinity(model: Any, X: Any) -> np.ndarray:
    return model.affinity(X).toarray()


def _small(cls: type, *positional: Any, **more: Any) -> Callable[[], Any]:
    return lambda: cls(*positional, random_state=0, **more)


_SMALL = {"n_hidden": 12}
SUBJECTS: dict[str, Subject] = {
    "ELMClassifier": Subject(_small(ELMClassifier, C=1.0, **_SMALL), "classes", _decision),
    "ELMClassifier loo": Subject(_small(ELMClassifier, **_SMALL), "classes", _decision),
    "ELMClassifier rbf": Subject(
        _small(ELMClassifier, RBFFeatures(12), C=1.0, class_weight="balanced"), "classes", _decision
    ),
    "ELMClassifier sketch": Subject(
        _small(ELMClassifier, C=1.0, solver=Randomized(), **_SMALL), "classes", _decision
    ),
    "GraphELMClassifier": Subject(
        _small(GraphELMClassifier, C=1.0, lam=1.0, **_SMALL), "classes", _decision
    ),
    "ManifoldELMClassifier": Subject(
        _small(ManifoldELMClassifier, C=1.0, **_SMALL), "classes", _decision
    ),
    "SparseELMClassifier": Subject(_small(SparseELMClassifier, **_SMALL), "classes", _decision),
    # Solved to the end: rows in another form may stop it elsewhere within its tolerance.
    "SparseELMClassifier rbf": Subject(
        _small(SparseELMClassifier, kernel="rbf", tol=1e-10), "classes", _decision
    ),
    "KernelELMClassifier": Subject(_small(KernelELMClassifier, C=1.0), "classes", _decision),
    "KernelELMClassifier poly": Subject(
        _small(KernelELMClassifier, "poly", C=1.0), "classes", _decision
    ),
    "KernelELMClassifier sigmoid": Subject(
        _small(KernelELMClassifier, "sigmoid", C=1.0), "classes", _decision
    ),
    "KernelELMRegressor cosine": Subject(
        _small(KernelELMRegressor, "cosine", C=1.0), "values", _prediction
    ),
    "KernelELMClassifier low rank": Subject(
        _small(KernelELMClassifier, C=1.0, rank=8), "classes", _decision
    ),
    "ELMRegressor": Subject(_small(ELMRegressor, C=1.0, **_SMALL), "values", _prediction),
    "ELMRegressor loo": Subject(_small(ELMRegressor, **_SMALL), "values", _prediction),
    "KernelELMRegressor": Subject(_small(KernelELMRegressor, C=1.0), "values", _prediction),
    "KernelELMRegressor laplacian": Subject(
        _small(KernelELMRegressor, "laplacian", C=1.0), "values", _prediction
    ),
    "SemiSupervisedELMClassifier": Subject(
        _small(SemiSupervisedELMClassifier, C=1.0, lam=0.1, **_SMALL), "few classes", _decision
    ),
    "SemiSupervisedELMClassifier loo": Subject(
        _small(SemiSupervisedELMClassifier, C=[0.1, 10.0], lam=[0.01, 1.0], **_SMALL),
        "few classes",
        _decision,
    ),
    "SemiSupervisedELMClassifier free": Subject(
        _small(SemiSupervisedELMClassifier, coupling="free", **_SMALL), "few classes", _decision
    ),
    "SemiSupervisedELMRegressor": Subject(
        _small(SemiSupervisedELMRegressor, C=1.0, lam=0.1, **_SMALL), "few values", _prediction
    ),
    "ELMEmbedding": Subject(_small(ELMEmbedding, **_SMALL), "none", _products),
    "ELMEmbedding free": Subject(
        _small(ELMEmbedding, coupling="free", **_SMALL), "none", _products
    ),
    "ELMSpectralClustering": Subject(_small(ELMSpectralClustering, 3, **_SMALL), "none", _together),
    "ELMKMeans": Subject(_small(ELMKMeans, 3, **_SMALL), "none", _together),
    "ELMLayout": Subject(_small(ELMLayout), "none", _products),
    "ELMNMF": Subject(_small(ELMNMF, 3, **_SMALL), "none", _together),
    "RandomFeatures": Subject(_small(RandomFeatures, 12), "none", _products),
    "RowFeatures": Subject(_small(RowFeatures, 12), "none", _products),
    "RBFFeatures": Subject(_small(RBFFeatures, 12), "none", _products),
    "KernelFeatures": Subject(_small(KernelFeatures, rank=8), "none", _products),
    "KNNGraph": Subject(lambda: KNNGraph(3), "none", _affinity),
}

PUBLIC = {
    name
    for name in ulmus.__all__
    if isinstance(getattr(ulmus, name), type) and hasattr(getattr(ulmus, name), "get_params")
}
assert {name.split()[0] for name in SUBJECTS} == PUBLIC, "a public class is not attacked"
