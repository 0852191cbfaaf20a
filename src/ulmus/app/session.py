"""One table that is being labelled: its journal, the threads that work, and who listens.

Two threads work behind the page. One places the rows on the map; the other learns the rows once and
then answers for the newest labels, so that states which were overtaken meanwhile are never worked
on. Windows are told that something has changed, and ask what.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import takewhile
from typing import Any

import numpy as np

from ulmus.app.actions import Labels
from ulmus.app.journal import Journal
from ulmus.app.learner import Answer, answer, can_learn, neighbours, prepared, quality, wilson
from ulmus.app.opened_table import OpenedTable
from ulmus.app.places import FIRST_ROWS, places
from ulmus.app.suggestions import Surroundings
from ulmus.exceptions import InvalidInputError, UlmusError

_MEASURED = "measured"


def header_of(opened: OpenedTable) -> dict[str, Any]:
    """The first line of the journal of a table."""
    return {"ulmus labels": 1, "rows": len(opened), "data": opened.fingerprint}


class Session:
    """What all windows on one table share."""

    def __init__(self, opened: OpenedTable, journal: Journal, seed: int = 0) -> None:
        self.opened, self.labels, self._journal, self._seed = opened, opened.labels, journal, seed
        self.version = 0
        self.places: np.ndarray | None = None
        self.placed = 0
        # Correct and judged left-out labels, by how many labels there were.
        self.curve: dict[int, tuple[int, int]] = {}
        for entry in journal.entries:
            self._follow(entry)
        self.answer: Answer | None = None
        self.answered = -1
        self.seconds = 0.0
        self.quality: dict[str, Any] | None = None
        self.suggestions: list[int] = []
        first = min(FIRST_ROWS, len(opened))
        self.working = {"map": f"Laying out {first:,} rows …", "model": "Learning all rows …"}
        self._failures: dict[str, str] = {}
        self.closed = False
        self._changed = threading.Condition()
        self._listeners: set[Callable[[], object]] = set()
        self.threads = [
            threading.Thread(target=self._watched, args=(work,), daemon=True)
            for work in (self._place, self._learn)
        ]

    # ------------------------------------------------------------------ windows
    def start(self) -> None:
        """Begin to place and to learn."""
        for thread in self.threads:
            thread.start()

    def close(self) -> None:
        """Tell all windows and threads that this is the end, and give the journal free."""
        with self._changing():
            self.closed = True
            self._journal.close()

    def act(self, action: dict[str, Any]) -> int:
        """Do an action; when this returns it is on the disk. The number of actions so far."""
        with self._changing():
            if self.closed:
                raise InvalidInputError("The command has stopped; start it again to go on.")
            labels = self.labels.after(action)
            self._journal.append(action)
            self.labels = labels
            self.version += 1
            return self.version

    @contextmanager
    def listening(self, listener: Callable[[], object]) -> Iterator[None]:
        """Call ``listener`` whenever something has changed; it must return at once."""
        with self._changed:
            self._listeners.add(listener)
        try:
            yield
        finally:
            with self._changed:
                self._listeners.discard(listener)

    @property
    def failure(self) -> str:
        """What went wrong, in sentences."""
        return " ".join(filter(None, self._failures.values()))

    @property
    def windows(self) -> int:
        """How many listen."""
        return len(self._listeners)

    def newest_answer(self) -> Answer | None:
        """The answer for the labels as they are now, waited for; None where none can be given."""
        with self._changed:
            self._changed.wait_for(
                lambda: self.closed or self.failure or self.answered == self.version
            )
            return self.answer if self.answered == self.version else None

    @contextmanager
    def _changing(self) -> Iterator[None]:
        with self._changed:
            yield
            self._changed.notify_all()
            for listener in self._listeners:
                listener()

    def _follow(self, entry: dict[str, Any]) -> None:
        """What a line of the journal says."""
        if entry.get("do") == _MEASURED:
            self.curve[int(entry["labels"])] = int(entry["right"]), int(entry["judged"])
            return
        self.labels = self.labels.after(entry)
        self.version += 1

    # ------------------------------------------------------------------ threads
    def _watched(self, work: Callable[[], None]) -> None:
        """Do a thread's work; what ends it is shown on the page."""
        try:
            work()
        except Exception as error:
            with self._changing():
                self._failures[work.__name__] = f"{error} Stop the command to end."
            if not isinstance(error, UlmusError):
                raise

    def _place(self) -> None:
        for found in places(self.opened.X, self._seed):
            with self._changing():
                if self.closed:
                    return
                self.places, self.placed = found, int(np.isfinite(found[:, 0]).sum())
                self.working["map"] = f"{self.placed:,} of {len(found):,} rows are on the map …"
        with self._changing():
            del self.working["map"]

    def _learn(self) -> None:
        model = prepared(self.opened.X, self._seed)
        around = Surroundings.of(neighbours(model))
        with self._changing():
            del self.working["model"]
        while (state := self._next()) is not None:
            labels, version = state
            start = time.perf_counter()
            found, failure = _answered(model, labels)
            model = model if found is None else found.model
            with self._changing():
                self.answer, self.answered = found, version
                self._failures["labels"] = failure
                self.seconds = time.perf_counter() - start
            if version == self.version:
                self._look_closer(around, labels, found, version)

    def _next(self) -> tuple[Labels, int] | None:
        """The newest labels, once there are others than those that were answered."""
        with self._changed:
            self._changed.wait_for(lambda: self.closed or self.version != self.answered)
            return None if self.closed else (self.labels, self.version)

    def _look_closer(
        self, around: Surroundings, labels: Labels, found: Answer | None, version: int
    ) -> None:
        """Suggestions, and how good the answer is; dropped where further labels have come."""
        unsure = 1.0 if found is None else 1.0 - found.probabilities.max(axis=1)
        suggested = around.suggested(np.broadcast_to(unsure, len(labels.codes)), labels.known)
        rows = list(takewhile(lambda _: version == self.version, suggested))
        judged = None if found is None else quality(found)
        with self._changing():
            if self.closed or version != self.version:
                return
            self.suggestions, self.quality = rows, judged
            count, judged = int(labels.known.sum()), judged or {"judged": 0}
            if judged["judged"] and self.curve.get(count) != (judged["right"], judged["judged"]):
                self.curve[count] = judged["right"], judged["judged"]
                entry = {"labels": count, "right": judged["right"], "judged": judged["judged"]}
                self._journal.append({"do": _MEASURED, **entry})

    # ------------------------------------------------------------------ what windows see
    def look(self) -> dict[str, Any]:
        """All that is small, as plain data."""
        with self._changed:
            labels, good, name = self.labels, self.quality, self.opened.name
            if good is not None:
                named = [[row, name(row), *rest] for row, *rest in good["disagree"]]
                good = good | {"disagree": named}
            return {
                "version": self.version,
                "answered": self.answered,
                "learnt": self.answer is not None,
                "places": self.placed,
                "rows": len(self.opened),
                "image": bool(self.opened.shape),
                "classes": list(labels.classes),
                "given": _counts(labels.codes, len(labels.classes)),
                "found": _counts(self.answer.codes, len(labels.classes)) if self.answer else [],
                "undo": bool(labels.done),
                "redo": bool(labels.undone),
                "working": list(self.working.values()),
                "failure": self.failure,
                "seconds": round(self.seconds, 3),
                "suggestions": [[row, name(row)] for row in self.suggestions],
                "quality": good,
                "curve": [[n, right / all_, *wilson(right, all_)]
                          for n, (right, all_) in sorted(self.curve.items())],
            }  # fmt: skip

    def colours(self) -> bytes:
        """Three bytes a row, one kind after the other: label, class, certainty; 255 for none."""
        with self._changed:
            labels, found = self.labels, self.answer
        given = labels.codes.astype(np.uint8)  # −1 becomes 255
        if found is None:
            return given.tobytes() + given.tobytes() + bytes(len(given))
        codes = np.where(labels.known, labels.codes, found.codes).astype(np.uint8)
        certainty = (255 * np.clip(found.certainty, 0, 1)).astype(np.uint8)
        return given.tobytes() + codes.tobytes() + certainty.tobytes()


def _answered(model: Any, labels: Labels) -> tuple[Answer | None, str]:
    """The answer where there can be one, and why there is none where one was expected."""
    try:
        return (answer(model, labels) if can_learn(labels) else None), ""
    except UlmusError as error:
        return None, f"These labels could not be learnt: {error}"


def _counts(codes: np.ndarray, classes: int) -> list[int]:
    return np.bincount(codes[codes >= 0], minlength=classes)[:classes].tolist()
