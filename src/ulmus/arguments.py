"""Arguments that are one word of a few."""

import difflib
from collections.abc import Collection

from ulmus.exceptions import InvalidParameterError

__all__ = ["check_known", "hint"]


def check_known(name: str, value: object, known: Collection[str]) -> None:
    """Refuse an argument that is none of the ``known`` words."""
    if value not in known:
        words = ", ".join(map(repr, known))
        raise InvalidParameterError(f"{name}={value!r} is unknown; use one of {words}.")


def hint(word: object, known: Collection[str]) -> str:
    """What may have been meant by a word that is not known.

    >>> hint("lettre", ["iris", "letter"])
    "did you mean 'letter'?"
    """
    plain = word.lower() if isinstance(word, str) else ""
    near = difflib.get_close_matches(plain, known, n=1, cutoff=0.5)
    return f"did you mean {near[0]!r}?" if near else f"known are {', '.join(sorted(known))}."
