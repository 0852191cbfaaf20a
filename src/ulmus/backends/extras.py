"""Optional packages, imported when they are needed."""

from importlib import import_module
from typing import Any

from ulmus.exceptions import MissingExtraError


def extra(module: str, name: str, user: str) -> Any:
    """A module of an optional package, or an error that says how ``user`` gets it."""
    package = module.partition(".")[0]
    try:
        import_module(package)
        return import_module(module)
    except ImportError as error:
        raise MissingExtraError(f"{user} needs {package}; pip install 'ulmus[{name}]'.") from error


def loops() -> Any:
    """The module ``backends.compiled``, for which Numba is needed."""
    extra("numba", "sparse", "SparseELMClassifier")
    return extra("ulmus.backends.compiled", "sparse", "SparseELMClassifier")
