"""Arguments that are one word of a few."""

from collections.abc import Collection

from ulmus.exceptions import InvalidParameterError

__all__ = ["check_known"]


def check_known(name: str, value: object, known: Collection[str]) -> None:
    """Refuse an argument that is none of the ``known`` words."""
    if value not in known:
        words = ", ".join(map(repr, known))
        raise InvalidParameterError(f"{name}={value!r} is unknown; use one of {words}.")
