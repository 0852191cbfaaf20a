"""Optional packages, imported when they are needed."""

from importlib import import_module
from typing import Any

from ulmus.exceptions import MissingExtraError


def extra(module: str, name: str, user: str) -> Any:
    """A module of an optional package, or an error that says how ``user`` gets it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtraError(
            f"{user} needs {error.name or module}, which is not installed; try: "
            f"pip install 'ulmus[{name}]'"
        ) from error


def loops() -> Any:
    """The module ``backends.compiled``."""
    return extra("ulmus.backends.compiled", "sparse", "SparseELMClassifier")
