"""Where data files lie: the user's own directory, and the cache that downloads fill.

A file in the cache is named after the hash of its bytes. So one that was damaged is noticed, and
fetched again.
"""

import contextlib
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from papers.datasets.facts import Facts
from papers.errors import CorruptFileError, DatasetError, MissingDatasetError
from ulmus.exceptions import MissingExtraError
from ulmus.files import replacing

try:
    import pooch
    import requests
except ImportError as error:
    raise MissingExtraError(
        "The papers' data are fetched by pooch; in the clone: pip install --editable '.[papers]'."
    ) from error

# Seconds without an answer after which a server is given up.
_TIMEOUT = 30
pooch.get_logger().setLevel("WARNING")


def cache_directory() -> Path:
    """Where fetched files are kept: ``ULMUS_CACHE``, or the system's usual place."""
    return Path(os.environ.get("ULMUS_CACHE") or pooch.os_cache("ulmus")).expanduser()


def own_file(name: str, facts: Facts) -> Path | None:
    """The data set's file in the directory that ``ULMUS_DATA`` names, if there is one."""
    named = os.environ.get("ULMUS_DATA")
    if not named:
        return None
    folder = Path(named).expanduser()
    if not folder.is_dir():
        raise MissingDatasetError(f"ULMUS_DATA names {folder}, which is not a directory.")
    path = folder / f"{name}.npz"
    return path if facts.sha256 and path.is_file() else None


def cached(name: str, facts: Facts) -> Iterator[tuple[Path, bytes]]:
    """The cache's files of a data set that are what their names say, the benchmark file first."""
    for path in candidates(name, facts):
        try:
            blob = path.read_bytes()
        except OSError:
            continue  # gone, or not ours to read; it is fetched again
        if path.name == _file_name(name, blob):
            yield path, blob


def candidates(name: str, facts: Facts) -> list[Path]:
    """The cache's files of a data set, by their names alone."""
    found = cache_directory().glob(f"{name}-{'[0-9a-f]' * 64}.npz")
    return sorted(found, key=lambda path: (facts.sha256 not in path.name, path.name))


def store(name: str, blob: bytes) -> Path:
    """Put a file into the cache, whole or not at all."""
    path = cache_directory() / _file_name(name, blob)
    with _writable(path.parent), replacing(path) as stream:
        stream.write(blob)
    return path


def downloaded(url: str, name: str, sha256: str) -> Path:
    """The file at an http or https address in the cache, if it has this hash."""
    folder = cache_directory()
    with _writable(folder):
        try:
            # Given by hand, for pooch's choice by the address allows ftp.
            web = pooch.HTTPDownloader(timeout=_TIMEOUT)
            kept = f"{name}-{sha256}.npz"
            return Path(pooch.retrieve(url, f"sha256:{sha256}", kept, folder, downloader=web))
        except requests.RequestException as error:
            raise MissingDatasetError(f"{url} could not be fetched: {error}.") from error
        except ValueError as error:
            raise CorruptFileError(f"{url} is not the file it should be: {error}") from error


@contextlib.contextmanager
def _writable(folder: Path) -> Iterator[None]:
    """Make the cache's folder; say what helps if it cannot be written to."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except DatasetError:
        raise
    except OSError as error:
        raise MissingDatasetError(
            f"the cache {folder} cannot be written to ({error.strerror or error}); name another "
            "directory in the environment variable ULMUS_CACHE."
        ) from error


def _file_name(name: str, blob: bytes) -> str:
    return f"{name}-{hashlib.sha256(blob).hexdigest()}.npz"
