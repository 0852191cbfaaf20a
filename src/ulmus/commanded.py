"""How messages name what can be given: by a parameter in Python, by a flag after a command."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_COMMANDED = ContextVar("commanded", default=False)


@contextmanager
def commanded() -> Iterator[None]:
    """Within it messages are for someone who has given a command."""
    token = _COMMANDED.set(True)
    try:
        yield
    finally:
        _COMMANDED.reset(token)


def option(flag: str, parameter: str) -> str:
    """What a message calls something that can be given: by its flag after a command."""
    return flag if _COMMANDED.get() else parameter
