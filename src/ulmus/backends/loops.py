"""Compiled loops, by an optional package."""

from types import ModuleType

from ulmus.exceptions import MissingExtraError

__all__ = ["loops"]


def loops() -> ModuleType:
    """The module ``backends.compiled``, or an error that says how to get what it needs."""
    try:
        from ulmus.backends import compiled
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            "SparseELMClassifier needs numba, which is not installed; try: "
            "pip install 'ulmus[sparse]'"
        ) from error
    return compiled
