"""Extreme learning machines with scikit-learn's interface.

A feature map turns X into hidden features H; one closed-form solve finds the
output weights. Any map works with any solve.
"""

from ulmus.estimators import ELMClassifier, ELMRegressor
from ulmus.features import RandomFeatures, RBFFeatures
from ulmus.version import __version__

__all__ = [
    "ELMClassifier",
    "ELMRegressor",
    "RBFFeatures",
    "RandomFeatures",
    "__version__",
]
