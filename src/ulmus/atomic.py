"""All of a fit, or nothing of it, whoever is looking on."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from ulmus.arguments import check_arguments
from ulmus.backends.threads import held_threads
from ulmus.finite import check_finite

__all__ = ["atomic", "snapshot"]

Method = TypeVar("Method", bound=Callable[..., Any])
Model = TypeVar("Model")


def atomic(method: Method) -> Method:
    """A method that changes its estimator in one step when it ends; if it raises, not at all.

    Arguments that no estimator could use are refused before it begins.
    What it leaves behind must be finite, or it raises. It works on a copy that shares what is
    fitted, so it must rebind what it changes and never write into it. Meanwhile BLAS has no more
    threads than there are CPUs.
    """

    @wraps(method)
    def whole(self: Any, *args: Any, **kwargs: Any) -> Any:
        check_arguments(self)
        model = _twin(self, vars(self).copy())
        with held_threads():
            result = method(model, *args, **kwargs)
        check_finite(model)
        self.__dict__ = vars(model)
        return self if result is model else result

    return whole  # type: ignore[return-value]


def snapshot(estimator: Model) -> Model:
    """The estimator as it is now, whatever another thread fits it to meanwhile.

    A fit replaces the dictionary of attributes, so that holding on to this one is enough.
    """
    return _twin(estimator, vars(estimator))


def _twin(estimator: Model, state: dict[str, Any]) -> Model:
    """Another estimator of the same class with this state."""
    twin = object.__new__(type(estimator))
    twin.__dict__ = state
    return twin
