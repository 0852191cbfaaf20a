"""How messages name what can be given: by a parameter in Python, by a flag after a command."""

import shlex
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


def without_flag(name: str) -> str:
    """The flag that leaves a column out, as a shell takes it.

    >>> print(without_flag("age"), without_flag("a, b"))
    --without age --without '"a, b"'
    """
    # Commas are between names: one that has a comma is in quotes, as in CSV.
    field = '"' + name.replace('"', '""') + '"' if set(name) & set(',"') else name
    return f"--without {shlex.quote(field)}"
