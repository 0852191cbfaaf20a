"""The labels of all rows as a frozen value, and the actions that lead from one to the next.

An action is what a journal's line holds: ``{"do": "label", "rows": [3, 5], "class": "cat"}``, and
likewise "class" and "rename" with a name, "clear", "undo" and "redo".
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ulmus.exceptions import InvalidInputError

# A class is one byte for the page, and the last means none.
MOST_CLASSES = 250
NO_CLASS = -1
_LONGEST_NAME = 100
# The classes, some rows, and their codes: what an action makes of labels, or what undoes it.
_Step = tuple[tuple[str, ...], np.ndarray, np.ndarray | int]
_NO_ROWS = np.empty(0, dtype=np.intp)


@dataclass(frozen=True)
class Labels:
    """Classes by name, and the number of its class for each row that has one.

    Examples
    --------
    >>> labels = Labels.none(3).after({"do": "class", "name": "cat"})
    >>> labels = labels.after({"do": "label", "rows": [2], "class": "cat"})
    >>> labels.codes.tolist(), labels.after({"do": "undo"}).codes.tolist()
    ([-1, -1, 0], [-1, -1, -1])
    """

    classes: tuple[str, ...]
    codes: np.ndarray
    done: tuple[_Step, ...] = ()
    undone: tuple[_Step, ...] = ()

    @classmethod
    def none(cls, rows: int) -> "Labels":
        """No row has a label, and there are no classes."""
        return cls((), np.full(rows, NO_CLASS, dtype=np.int16))

    @classmethod
    def of(cls, words: np.ndarray) -> "Labels":
        """Labels that a file has: text, and None where a row has none."""
        known = np.array([word is not None for word in words], dtype=bool)
        names, codes = np.unique(words[known].astype(str), return_inverse=True)
        if len(names) > MOST_CLASSES:
            raise InvalidInputError(
                f"The labels in the file name {len(names):,} classes, and the page has room for "
                f"{MOST_CLASSES}; give another --target, or none."
            )
        every = np.full(len(words), NO_CLASS, dtype=np.int16)
        every[known] = codes
        return cls(tuple(names.tolist()), every)

    @property
    def known(self) -> np.ndarray:
        """Which rows have a label."""
        return np.asarray(self.codes != NO_CLASS)

    def after(self, action: dict[str, Any]) -> "Labels":
        """The labels once this is done; `InvalidInputError` where it cannot be."""
        kind = action.get("do")
        if kind == "undo":
            return self._moved("done", "undone")
        if kind == "redo":
            return self._moved("undone", "done")
        if not isinstance(kind, str) or kind not in _STEPS:
            raise InvalidInputError(f"{kind!r} is not an action; there are {', '.join(_STEPS)}.")
        labels, back = self._swapped(_STEPS[kind](self, action))
        return replace(labels, done=(*self.done, back), undone=())

    def _moved(self, source: str, target: str) -> "Labels":
        """One step back, or forth again."""
        steps: tuple[_Step, ...] = getattr(self, source)
        if not steps:
            raise InvalidInputError(
                f"There is nothing to {'undo' if source == 'done' else 'redo'}."
            )
        labels, back = self._swapped(steps[-1])
        moved: Any = {source: steps[:-1], target: (*getattr(self, target), back)}
        return replace(labels, **moved)

    def _swapped(self, step: _Step) -> tuple["Labels", _Step]:
        """The labels after a step, and the step that leads back."""
        classes, rows, new = step
        codes = self.codes.copy()
        codes[rows] = new
        return replace(self, classes=classes, codes=codes), (self.classes, rows, self.codes[rows])

    def code_of(self, name: Any) -> int:
        """The number of a class; None is not a class."""
        if name is None:
            return NO_CLASS
        if name not in self.classes:
            raise InvalidInputError(f"There is no class {name!r}; create it first.")
        return self.classes.index(name)


def _label(labels: Labels, action: dict[str, Any]) -> _Step:
    rows = action.get("rows")
    whole = isinstance(rows, list) and all(type(row) is int for row in rows)
    if not whole or not rows or not 0 <= min(rows) <= max(rows) < len(labels.codes):
        raise InvalidInputError(
            f"rows must be a list of row numbers from 0 to {len(labels.codes) - 1}, one at least."
        )
    code, rows = labels.code_of(action.get("class")), np.unique(rows)
    return labels.classes, rows[labels.codes[rows] != code], code


def _clear(labels: Labels, action: dict[str, Any]) -> _Step:
    return labels.classes, np.flatnonzero(labels.known), NO_CLASS


def _class(labels: Labels, action: dict[str, Any]) -> _Step:
    if len(labels.classes) >= MOST_CLASSES:
        raise InvalidInputError(f"There are {MOST_CLASSES} classes, and no room for more.")
    return (*labels.classes, _new_name(labels, action)), _NO_ROWS, NO_CLASS


def _rename(labels: Labels, action: dict[str, Any]) -> _Step:
    code = labels.code_of(action.get("class"))
    if code == NO_CLASS:
        raise InvalidInputError("Which class is to be renamed? Give its name as class.")
    names = (*labels.classes[:code], _new_name(labels, action), *labels.classes[code + 1 :])
    return names, _NO_ROWS, NO_CLASS


def _new_name(labels: Labels, action: dict[str, Any]) -> str:
    name = action.get("name")
    name = name.strip() if isinstance(name, str) else ""
    if not 0 < len(name) <= _LONGEST_NAME or not name.isprintable():
        raise InvalidInputError(
            f"A class needs a name of 1 to {_LONGEST_NAME} characters that can be printed."
        )
    if name in labels.classes:
        raise InvalidInputError(f"There is a class {name!r} already; choose another name.")
    return name


_STEPS = {"label": _label, "clear": _clear, "class": _class, "rename": _rename}
