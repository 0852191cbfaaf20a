"""Extreme learning machines with scikit-learn's interface.

A feature map turns X into hidden features H; one closed-form solve finds the
output weights. Any map works with any solve.
"""

import logging
from importlib import import_module
from typing import TYPE_CHECKING

from ulmus.version import __version__

if TYPE_CHECKING:
    from ulmus.backends.streaming import on_device
    from ulmus.estimators.classifier import ELMClassifier
    from ulmus.estimators.clustering import ELMKMeans
    from ulmus.estimators.discriminative import ManifoldELMClassifier
    from ulmus.estimators.embedding import ELMEmbedding
    from ulmus.estimators.factorisation import ELMNMF
    from ulmus.estimators.graph import GraphELMClassifier
    from ulmus.estimators.kernel import KernelELMClassifier, KernelELMRegressor
    from ulmus.estimators.regressor import ELMRegressor
    from ulmus.estimators.semi_supervised import SemiSupervisedELMClassifier
    from ulmus.estimators.semi_supervised_regressor import SemiSupervisedELMRegressor
    from ulmus.estimators.sparse import SparseELMClassifier
    from ulmus.estimators.spectral import ELMSpectralClustering
    from ulmus.exporting.onnx_model import save_onnx, to_onnx
    from ulmus.features import KernelFeatures, RandomFeatures, RBFFeatures
    from ulmus.graphs import KNNGraph
    from ulmus.moving import to_device, to_numpy
    from ulmus.persistence import load, save

__all__ = [
    "ELMNMF",
    "ELMClassifier",
    "ELMEmbedding",
    "ELMKMeans",
    "ELMRegressor",
    "ELMSpectralClustering",
    "GraphELMClassifier",
    "KNNGraph",
    "KernelELMClassifier",
    "KernelELMRegressor",
    "KernelFeatures",
    "ManifoldELMClassifier",
    "RBFFeatures",
    "RandomFeatures",
    "SemiSupervisedELMClassifier",
    "SemiSupervisedELMRegressor",
    "SparseELMClassifier",
    "__version__",
    "load",
    "on_device",
    "save",
    "save_onnx",
    "to_device",
    "to_numpy",
    "to_onnx",
]

# What the library decides goes to this log and to those below it, and is written nowhere unless a
# program asks for it.
logging.getLogger(__name__).addHandler(logging.NullHandler())

# Where each public name lives. It is imported when it is first asked for, so that a program
# waits only for what it uses.
_HOMES = {
    "ELMClassifier": "ulmus.estimators.classifier",
    "ELMEmbedding": "ulmus.estimators.embedding",
    "ELMKMeans": "ulmus.estimators.clustering",
    "ELMNMF": "ulmus.estimators.factorisation",
    "ELMRegressor": "ulmus.estimators.regressor",
    "ELMSpectralClustering": "ulmus.estimators.spectral",
    "GraphELMClassifier": "ulmus.estimators.graph",
    "KNNGraph": "ulmus.graphs",
    "KernelELMClassifier": "ulmus.estimators.kernel",
    "KernelELMRegressor": "ulmus.estimators.kernel",
    "KernelFeatures": "ulmus.features",
    "ManifoldELMClassifier": "ulmus.estimators.discriminative",
    "RBFFeatures": "ulmus.features",
    "RandomFeatures": "ulmus.features",
    "SemiSupervisedELMClassifier": "ulmus.estimators.semi_supervised",
    "SemiSupervisedELMRegressor": "ulmus.estimators.semi_supervised_regressor",
    "SparseELMClassifier": "ulmus.estimators.sparse",
    "load": "ulmus.persistence",
    "on_device": "ulmus.backends.streaming",
    "save": "ulmus.persistence",
    "save_onnx": "ulmus.exporting.onnx_model",
    "to_device": "ulmus.moving",
    "to_numpy": "ulmus.moving",
    "to_onnx": "ulmus.exporting.onnx_model",
}


def __getattr__(name):
    if name not in _HOMES:
        raise AttributeError(f"module 'ulmus' has no attribute {name!r}")
    globals()[name] = getattr(import_module(_HOMES[name]), name)
    return globals()[name]


def __dir__():
    return __all__
