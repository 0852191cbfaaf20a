"""Where data files lie: the user's own directory, and the cache.

A file in the cache is named after the hash of its bytes. So one rename makes it appear, whole and
with its hash; a file whose bytes have another hash is not there.
"""

import contextlib
import hashlib
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from ulmus.datasets.registry import Facts
from ulmus.exceptions import CacheError, CorruptFileError, DatasetError, MissingDatasetError
from ulmus.files import replacing

__all__ = [
    "cache_directory",
    "cached",
    "candidates",
    "data_directory",
    "own_file",
    "store",
    "writable",
]

_HASHED = re.compile(r"-[0-9a-f]{64}\.npz$")


def data_directory(data_dir: str | os.PathLike[str] | None = None) -> Path | None:
    """The user's directory of data files: the one given, or ``ULMUS_DATA``, or None."""
    named = data_dir if data_dir is not None else os.environ.get("ULMUS_DATA") or None
    if named is None:
        return None
    folder = Path(named).expanduser()
    if not folder.is_dir():
        what = "data_dir" if data_dir is not None else "The environment variable ULMUS_DATA"
        raise MissingDatasetError(f"{what} names {folder}, which is not a directory.")
    return folder


def cache_directory(cache_dir: str | os.PathLike[str] | None = None) -> Path:
    """Where fetched files are kept.

    Parameters
    ----------
    cache_dir : str or path, default=None
        A directory of one's own. Otherwise the one in ``ULMUS_CACHE``, or the system's usual place
        for such files.

    Examples
    --------
    >>> from ulmus.datasets import cache_directory
    >>> cache_directory("somewhere").name
    'somewhere'
    """
    named = cache_dir if cache_dir is not None else os.environ.get("ULMUS_CACHE") or None
    if named is not None:
        return Path(named).expanduser()
    home = Path.home()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "ulmus"
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "ulmus"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "ulmus"


def own_file(name: str, facts: Facts, folder: Path | None) -> tuple[Path, bytes] | None:
    """A file of the user's directory and its bytes; one with a wrong hash is an error."""
    path = folder / f"{name}.npz" if folder and facts.sha256 else None
    if path is None or not path.is_file():
        return None
    blob = path.read_bytes()
    found = hashlib.sha256(blob).hexdigest()
    if found != facts.sha256:
        raise CorruptFileError(
            f"{path} is not the data set {name}: its sha256 is {found} and not {facts.sha256}. "
            "Replace the file, or move it away to have the data from elsewhere."
        )
    return path, blob


def cached(name: str, facts: Facts, folder: Path) -> Iterator[tuple[Path, bytes]]:
    """The cache's files of a data set that are what their names say, the benchmark file first."""
    for path in candidates(name, facts, folder):
        try:
            blob = path.read_bytes()
        except OSError:
            continue
        if path.name == _file_name(name, blob):
            yield path, blob


def candidates(name: str, facts: Facts, folder: Path) -> list[Path]:
    """The cache's files of a data set, by their names alone."""
    if not folder.is_dir():
        return []
    found = [path for path in folder.glob(f"{name}-*.npz") if _HASHED.search(path.name)]
    return sorted(found, key=lambda path: (facts.sha256 not in path.name, path.name))


def store(name: str, blob: bytes, folder: Path) -> Path:
    """Put a file into the cache, whole or not at all."""
    path = folder / _file_name(name, blob)
    with writable(folder), replacing(path) as stream:
        stream.write(blob)
    return path


@contextlib.contextmanager
def writable(folder: Path) -> Iterator[None]:
    """Make the cache's folder; say what helps if it cannot be written to."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except DatasetError:
        raise
    except OSError as error:
        raise CacheError(
            f"The cache {folder} cannot be written to ({error.strerror or error}); name another "
            "directory in the environment variable ULMUS_CACHE, or with cache_dir= or --cache."
        ) from error


def _file_name(name: str, blob: bytes) -> str:
    return f"{name}-{hashlib.sha256(blob).hexdigest()}.npz"
