"""Extreme learning machines with scikit-learn's interface.

A feature map turns X into hidden features H; one closed-form solve finds the
output weights. Any map works with any solve.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from ulmus.version import __version__

if TYPE_CHECKING:
    from ulmus.estimators import ELMClassifier, ELMRegressor
    from ulmus.features import RandomFeatures, RBFFeatures

__all__ = [
    "ELMClassifier",
    "ELMRegressor",
    "RBFFeatures",
    "RandomFeatures",
    "__version__",
]

_HOMES = ("ulmus.estimators", "ulmus.features")


def __getattr__(name):
    """A public name, imported when it is first asked for: `ulmus --help` need not wait."""
    if name in __all__:
        for home in map(import_module, _HOMES):
            if name in home.__all__:
                globals()[name] = getattr(home, name)
                return globals()[name]
    raise AttributeError(f"module 'ulmus' has no attribute {name!r}")


def __dir__():
    return __all__
