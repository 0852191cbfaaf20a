"""Checks of arguments, and the wording of their errors."""

import difflib
from collections.abc import Callable, Collection, Iterable
from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np

from ulmus.exceptions import InvalidParameterError

# Most names that a message lists.
_MOST = 40
# Most letters of a cell, and cells of a list, that notes and errors show.
_LONGEST, _FEW = 60, 5
# Beyond these, squares and quotients overflow or underflow.
_SMALLEST, _LARGEST = 1e-100, 1e100
_INTEGERS = 2**31 - 1
# More passes do not make a sketch more exact.
_MOST_STEPS = 100


def is_whole(value: object) -> bool:
    """Whether an argument is an integer, of Python or NumPy, and not a boolean."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_number(value: object, least: float = _SMALLEST, most: float = _LARGEST) -> bool:
    """Whether an argument is a number from ``least`` to ``most``, and not a boolean."""
    real = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
    # Not as a float: a whole number of Python may be larger than any. As a Python number, because
    # the limits are beyond NumPy's float32.
    plain: Any = value.item() if isinstance(value, np.generic) else value
    return real and bool(least <= plain <= most)


def _require(sound: bool, name: str, value: Any, words: str) -> None:
    if not sound:
        raise InvalidParameterError(f"{name}={value!r} must be {words}.")


def check_whole(name: str, value: Any, least: int, most: int = _INTEGERS) -> None:
    """Refuse an argument that is no whole number from ``least`` to ``most``."""
    limit = f"of at least {least}" if most == _INTEGERS else f"from {least} to {most:,}"
    _require(is_whole(value) and least <= value <= most, name, value, f"a whole number {limit}")


def check_number(
    name: str, value: Any, words: str = "a positive number", zero: bool = False
) -> None:
    """Refuse an argument that is no positive number, or zero if allowed; it must be ``words``."""
    sound = is_number(value) or (zero and is_number(value, 0, 0))
    _require(sound, name, value, f"{words}{limits(value)}")


def numbers_of(value: Any, zero: bool = False) -> np.ndarray | None:
    """A number or a list of them as an array; None where it is neither, or one is not positive."""
    values = [value] if isinstance(value, Real) else value
    try:
        found = np.asarray(values)
    except ValueError:
        return None  # lists of several lengths
    found = found[None] if found.ndim == 0 else found
    if found.ndim != 1 or found.dtype.kind not in "iuf" or not found.size:
        return None
    found = found.astype(float)
    sound = (found >= _SMALLEST) & (found <= _LARGEST)
    return found if (sound | (zero & (found == 0))).all() else None


def limits(value: Any) -> str:
    """An addition to a message about a positive number that is too large or too small."""
    extreme = is_number(value, 0, np.inf) and value > 0 and not is_number(value)
    return f", from {_SMALLEST:g} to {_LARGEST:g}" if extreme else ""


def check_known(name: str, value: object, known: Collection[str]) -> None:
    """Refuse an argument that is none of the ``known`` words."""
    if not (isinstance(value, str) and value in known):
        words = ", ".join(map(repr, known))
        raise InvalidParameterError(f"{name}={value!r} is unknown; use one of {words}.")


def check_precision(name: str, value: Any) -> None:
    """Refuse a type that is neither float32 nor float64, nor None, which follows the input.

    Half precision loses the sums, and extended precision has no matrix product.
    """
    try:
        sound = value is None or np.dtype(value).name in ("float32", "float64")
    except (TypeError, ValueError):
        sound = False
    _require(sound, name, value, "float32, float64, or None to follow the input")


def check_rank(rank: Any, tol: Any, oversampling: Any = 0, power_steps: Any = 0) -> None:
    """Refuse a rank, a tolerance or a sketch that cannot be."""
    check_whole("oversampling", oversampling, least=0)
    check_whole("power_steps", power_steps, least=0, most=_MOST_STEPS)
    ranks = "a whole number of at least 1, or a part of the rows above 0 and at most 1.0"
    sound = rank is None or (rank >= 1 if is_whole(rank) else is_number(rank, most=1.0))
    _require(sound, "rank", rank, ranks)
    parts = "above 0 and below 1: the part of the kernel's trace that may be missing"
    _require(tol is None or (is_number(tol) and tol < 1), "tol", tol, parts)


def check_arguments(estimator: Any) -> None:
    """Check the arguments that many estimators have under one name."""
    for name, check in _CHECKS.items():
        if name in vars(estimator):
            check(name, getattr(estimator, name))


def hint(word: object, known: Collection[str]) -> str:
    """A suggestion for a word that is not known."""
    plain = word.lower() if isinstance(word, str) else ""
    spelt = {other.lower(): other for other in known}
    near = difflib.get_close_matches(plain, spelt, n=1, cutoff=0.5)
    if near:
        return f"did you mean {spelt[near[0]]!r}?"
    if not known:
        return "there is no other."
    few = sorted(known)[:_MOST]
    return f"known are {', '.join(few)}{' and others' if len(known) > len(few) else ''}."


def counted(number: int, noun: str) -> str:
    """1 row, 2,000 rows."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def figure(value: float, digits: int = 6) -> str:
    """A number in so many digits, and without an exponent where it is large.

    >>> figure(129180.4, 5), figure(-0.00001234, 2)
    ('129180', '-1.2e-05')
    """
    return f"{float(f'{value:.{digits}g}'):.15g}"


def quoted(cell: str) -> str:
    """A cell in quotes, cut off where it is long."""
    return repr(cell if len(cell) <= _LONGEST else cell[: _LONGEST - 3] + "...")


def listed(cells: Iterable[str]) -> str:
    """The first few of some cells, in quotes."""
    found = [quoted(cell) for cell in cells]
    more = f" and {len(found) - _FEW} more" if len(found) > _FEW else ""
    return ", ".join(found[:_FEW]) + more


def check_flag(name: str, value: Any) -> None:
    """Refuse an argument that is neither True nor False."""
    _require(isinstance(value, bool | np.bool_), name, value, "True or False")


def _seed(name: str, value: Any) -> None:
    seeded = value is None or isinstance(value, np.random.RandomState) or value is np.random
    sound = seeded or (is_whole(value) and 0 <= value < 2**32)
    _require(sound, name, value, "None, a whole number from 0 to 2**32 − 1, or a RandomState")


def _width(name: str, value: Any) -> None:
    if value is not None and not (isinstance(value, str) and value == "loo"):
        check_whole(name, value, least=1)


def _volume(name: str, value: Any) -> None:
    _require(isinstance(value, Integral | np.bool_), name, value, "0 or 1")


_CHECKS: dict[str, Callable[[str, Any], None]] = {
    "dtype": check_precision,
    "random_state": _seed,
    "verbose": _volume,
    "n_hidden": _width,
    "max_iter": partial(check_whole, least=1),
    # Random starts of k-means.
    "n_init": partial(check_whole, least=1, most=10_000),
    **dict.fromkeys(("bias", "fit_intercept", "normalized", "mutual", "warm_start"), check_flag),
}


def grid_of(
    name: str,
    value: Any,
    default: np.ndarray | None,
    zero: bool = False,
    word: str = "loo",
    most: float = _LARGEST,
) -> np.ndarray:
    """A parameter as the array of values to choose from; ``word`` is the default ones, if any."""
    if default is not None and isinstance(value, str) and value == word:
        return default
    values = numbers_of(value, zero)
    if values is None or (values > most).any():
        given = "" if default is None else f"{word!r}, "
        least = "that is zero or more" if zero else "that is positive"
        sort = least if most == _LARGEST else f"from 0 to {most:g}"
        words = f"{given}a number {sort}, or a list of such numbers{limits(value)}"
        raise InvalidParameterError(f"{name}={value!r} must be {words}.")
    return values
