"""What a fitted model holds, declared once: annotations on its class.

    beta_: OnDevice[Array]
    _moments: ForUpdate[OnDevice[Moments]]

Device moves, saving, forgetting and Dask read these. `tests/contract/test_fitted.py` fits every
estimator and finds any attribute that is not declared.
"""

from copy import copy
from enum import Enum, auto
from inspect import get_annotations
from typing import Annotated, Any, ClassVar, TypeVar, get_args, get_origin

__all__ = [
    "ForUpdate",
    "Mark",
    "OfRows",
    "OnDevice",
    "declared",
    "forget_fit",
    "marked",
    "without_rows",
]

T = TypeVar("T")


class Mark(Enum):
    """What is true of a fitted attribute beside its type."""

    DEVICE = auto()
    ROWS = auto()
    UPDATE = auto()


# Lives where the rows live: `ulmus.to_device` moves it.
OnDevice = Annotated[T, Mark.DEVICE]
# Is about the training rows: predictions do without, so Dask's workers are not sent it.
OfRows = Annotated[T, Mark.ROWS]
# The same, and only a later update reads it: `ulmus.save(for_update=False)` leaves it out.
ForUpdate = Annotated[T, Mark.ROWS, Mark.UPDATE]


def declared(kind: type[Any]) -> dict[str, frozenset[Mark]]:
    """Every fitted attribute of a class, its bases' among them, and what is true of each."""
    found: dict[str, frozenset[Mark]] = {}
    for base in reversed(kind.__mro__):
        for name, annotation in get_annotations(base).items():
            origin: Any = get_origin(annotation)
            if origin is not ClassVar and annotation is not ClassVar:
                marks = get_args(annotation)[1:] if origin is Annotated else ()
                found[name] = frozenset(mark for mark in marks if isinstance(mark, Mark))
    return found


def marked(kind: type[Any], mark: Mark) -> list[str]:
    """The attributes of a class of which this is true."""
    return [name for name, marks in declared(kind).items() if mark in marks]


def forget_fit(estimator: Any) -> None:
    """Drop what an earlier fit left, so that no part of it outlives the next."""
    fitted = declared(type(estimator)).keys() - set(estimator.get_params(deep=False))
    for name in list(vars(estimator)):
        if name in fitted or (name.endswith("_") and name[0] != "_"):
            del vars(estimator)[name]


def without_rows(model: Any) -> Any:
    """A copy that is light to send: without what is about its training rows."""
    light = copy(model)
    for name in marked(type(model), Mark.ROWS):
        vars(light).pop(name, None)
    for name, part in vars(light).items():
        if hasattr(part, "get_params") and not isinstance(part, type):
            vars(light)[name] = without_rows(part)
    return light
