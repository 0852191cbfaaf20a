"""Where runs are kept: one line of JSON each, in one file for each table.

A line is written when its run ends. Of a process that is killed while it writes, the half line is
cut off by the next one, and its run is done again.
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from papers.errors import ReproductionError
from ulmus.files import lock, write_text

Line = dict[str, Any]


class Store:
    """The lines of a folder.

    Parameters
    ----------
    folder : path
        Made if it is not there.
    version : str
        Lines of another version of Ulmus are left alone and not counted.
    """

    def __init__(self, folder: Path, version: str) -> None:
        self.folder = folder / "runs"
        self.version = version
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _cannot_write(folder, error) from error

    def lines(self, table: str) -> dict[str, Line]:
        """What is there of a table, by the run's key; the last line of a key counts."""
        path = self._path(table)
        if not path.exists():
            return {}
        found = {}
        for text in path.read_text(encoding="utf-8", errors="replace").splitlines():
            line = _parsed(text)
            if line and line["version"] == self.version:
                found[line["key"]] = line
        return found

    def add(self, table: str, line: Line) -> None:
        """Put a line at the end, on the disk before this returns."""
        text = json.dumps({"version": self.version, **line}, ensure_ascii=False)
        try:
            with open(self._path(table), "ab+") as file:
                _cut_half_line(file)
                file.write(text.encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise _cannot_write(self.folder, error) from error

    def _path(self, table: str) -> Path:
        return self.folder / f"{table}.jsonl"


def _parsed(text: str) -> Line | None:
    try:
        line = json.loads(text)
    except ValueError:
        return None
    known = isinstance(line, dict) and {"key", "version", "measures"} <= line.keys()
    return line if known else None


def _cut_half_line(file: Any) -> None:
    """Cut the file after its last line break."""
    end = file.seek(0, os.SEEK_END)
    if not end:
        return
    file.seek(max(0, end - 65536))
    tail = file.read()
    if not tail.endswith(b"\n"):
        file.truncate(end - len(tail) + tail.rfind(b"\n") + 1)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep every other process out of a folder; the lock goes with the process, however it ends."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = open(folder / ".lock", "w")  # noqa: SIM115 - it stays open as long as the lock
    except OSError as error:
        raise _cannot_write(folder, error) from error
    with file:
        try:
            lock(file)
        except OSError as error:
            raise ReproductionError(
                f"Another run is at work in {folder}. Wait for it, or give another folder "
                "with --out."
            ) from error
        yield


def write_whole(path: Path, text: str) -> None:
    """Write a file so that it is there as a whole or as it was before."""
    try:
        write_text(path, text)
    except OSError as error:
        raise _cannot_write(path.parent, error) from error


def _cannot_write(folder: Path, error: OSError) -> ReproductionError:
    reason = error.strerror or str(error)
    return ReproductionError(
        f"Cannot write into {folder} ({reason}); give a folder of your own with --out."
    )
