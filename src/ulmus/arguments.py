"""Arguments that are one word of a few."""

import difflib
from collections.abc import Collection

from ulmus.exceptions import InvalidParameterError

__all__ = ["check_known", "hint"]

# A message does not list more names than these.
_MOST = 40


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
    spelt = {other.lower(): other for other in known}
    near = difflib.get_close_matches(plain, spelt, n=1, cutoff=0.5)
    if near:
        return f"did you mean {spelt[near[0]]!r}?"
    few = sorted(known)[:_MOST]
    return f"known are {', '.join(few)}{' and others' if len(known) > len(few) else ''}."
