"""A file of actions, one a line, that survives a kill at any moment.

Every line is JSON and on the disk before its action counts. A process that dies while it writes
leaves at most half a last line, which is cut off when the file is opened again.
"""

import json
import os
from pathlib import Path
from typing import Any

from ulmus.exceptions import InvalidInputError
from ulmus.files import lock

Entry = dict[str, Any]


class Journal:
    """The file at ``path``, open for this process alone until it is closed.

    ``header`` says what the actions are about and is the file's first line; a file that begins
    with another is refused. ``entries`` are the lines that were there.
    """

    def __init__(self, path: str | Path, header: Entry) -> None:
        self.path = Path(path)
        new = not self.path.exists()
        self._file = os.fdopen(
            os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666), "r+b", 0
        )
        try:
            self._lock()
            self.entries = self._read(header)
        except BaseException:
            self._file.close()
            raise
        if new:
            _sync_folder(self.path.parent)

    def append(self, entry: Entry) -> None:
        """Write a line and wait until it is on the disk; an error leaves the file as it was."""
        line = json.dumps(entry, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        size = self._file.seek(0, os.SEEK_END)
        try:
            rest = memoryview(line)
            while rest:
                rest = rest[self._file.write(rest) :]
            os.fsync(self._file.fileno())
        except OSError:
            self._cut(size)
            raise

    def close(self) -> None:
        """Give the file to others."""
        self._file.close()

    def _lock(self) -> None:
        try:
            lock(self._file)
        except OSError as error:
            raise InvalidInputError(
                f"{self.path} is in use by another `ulmus label`, or its disk knows no locks. Open "
                "the address that the other printed, which takes many windows, or stop it."
            ) from error

    def _read(self, header: Entry) -> list[Entry]:
        """All whole lines but the first, which is written where there is none."""
        self._file.seek(0)
        text = self._file.read()
        whole = text.rfind(b"\n") + 1
        if whole < len(text):
            self._cut(whole)
        lines = text[:whole].splitlines()
        if not lines:
            self.append(header)
            return []
        first, *entries = (self._parsed(number, line) for number, line in enumerate(lines, 1))
        if first != header:
            raise InvalidInputError(
                f"{self.path} has labels of other data: {_differences(first, header)}. Move it "
                "away, or name another file with --journal."
            )
        return entries

    def _parsed(self, number: int, line: bytes) -> Entry:
        try:
            entry = json.loads(line)
        except ValueError:
            entry = None
        if not isinstance(entry, dict):
            raise InvalidInputError(
                f"{self.path}: line {number} is not an action. Restore the file from a copy, or "
                "name another with --journal."
            )
        return entry

    def _cut(self, size: int) -> None:
        os.ftruncate(self._file.fileno(), size)
        os.fsync(self._file.fileno())


def _differences(found: Entry, expected: Entry) -> str:
    names = [name for name in expected if found.get(name) != expected[name]]
    said = [f"{name} is {found.get(name)!r} there and {expected[name]!r} here" for name in names]
    return "; ".join(said) or "it has a header of another kind"


def _sync_folder(folder: Path) -> None:
    """Let the folder know of a new file also after the power fails."""
    if os.name == "nt":  # which opens no folders
        return
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
