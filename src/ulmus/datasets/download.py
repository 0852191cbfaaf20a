"""Files from the network: resumed, limited in size and time, checked, and whole or not at all.

Every transfer writes under a name of its own, so two processes never write to one file. What an
interrupted one leaves is taken over by the next, by a rename, which only one of two can win.
"""

import contextlib
import hashlib
import http.client
import os
import socket
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, TypeVar
from urllib.parse import urlsplit

from ulmus.exceptions import CorruptFileError, MissingDatasetError
from ulmus.progress import Bar
from ulmus.version import __version__

__all__ = ["downloaded", "hash_of", "page"]

ATTEMPTS = 4
# Seconds: without a byte, with hardly any, and between attempts.
TIMEOUT = 30.0
PATIENCE = 60.0
PAUSE = 1.0
# A draft that nobody has written to for so long has lost its process.
STALE = 600.0
_CRAWL = 2**14
_CHUNK = 2**16
_FAILURES = (OSError, http.client.HTTPException)

Result = TypeVar("Result")


class _Refused(Exception):
    """The server's answer cannot be used, and asking again would not help."""


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follow a server elsewhere on the web, but never from https to http."""

    def redirect_request(
        self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        here, there = urlsplit(req.full_url).scheme, urlsplit(newurl).scheme
        # urllib itself would go on to ftp.
        if there != "https" and (here, there) != ("http", "http"):
            raise _Refused(f"the server sends us on to {newurl}, which is not safe")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


@contextlib.contextmanager
def downloaded(
    url: str, folder: Path, title: str, digest: tuple[str, str], limit: int
) -> Iterator[Path]:
    """The file at an address, whole and checked, for as long as the block lasts.

    Parameters
    ----------
    url : str
        Its address, http or https.
    folder : Path
        Where it is put; a transfer that broke off there goes on.
    title : str
        What a person is told is coming.
    digest : tuple of str
        The kind of hash, "sha256" or "md5", and the hash.
    limit : int
        More bytes than these are refused.
    """
    rest = folder / f".{digest[1]}.rest"
    handle, name = tempfile.mkstemp(dir=folder, prefix=f".{digest[1][:16]}-", suffix=".part")
    os.close(handle)
    draft = Path(name)
    _take_over(rest, draft)
    try:
        _complete(url, draft, title, digest, limit)
        yield draft
    except (KeyboardInterrupt, MissingDatasetError):
        with contextlib.suppress(OSError):
            if draft.stat().st_size:
                os.replace(draft, rest)
        raise
    finally:
        draft.unlink(missing_ok=True)


def page(url: str, limit: int) -> bytes:
    """A short text from an address."""

    def read() -> bytes:
        with _answer(url, 0) as response:
            text: bytes = response.read(limit + 1)
            length = _length(response)
        if len(text) > limit:
            raise _Refused(f"it is longer than {limit} bytes")
        if length is not None and len(text) < length:
            raise ConnectionError(f"it broke off after {len(text)} of {length} bytes")
        return text

    return _patiently(url, read)


def hash_of(path: Path, kind: str = "sha256") -> str:
    """The hash of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, kind).hexdigest()


def _take_over(rest: Path, draft: Path) -> None:
    """Make the draft what an earlier transfer left: one that stopped, or one that was killed."""
    drafts = rest.parent.glob(f"{draft.name.partition('-')[0]}-*.part")
    long_ago = time.time() - STALE
    for left in (rest, *drafts):
        with contextlib.suppress(OSError):
            if left == rest or left.stat().st_mtime < long_ago:
                os.replace(left, draft)
                return


def _complete(url: str, draft: Path, title: str, digest: tuple[str, str], limit: int) -> None:
    """Fill the draft and compare its hash, twice if the first part came from an earlier time."""
    kind, wanted = digest
    resumed = draft.stat().st_size > 0
    if resumed and hash_of(draft, kind) == wanted:
        return
    with Bar(title) as bar:
        _patiently(url, lambda: _transfer(url, draft, bar, limit))
        found = hash_of(draft, kind)
        if found != wanted and resumed:
            os.truncate(draft, 0)
            _patiently(url, lambda: _transfer(url, draft, bar, limit))
            found = hash_of(draft, kind)
    if found != wanted:
        raise CorruptFileError(
            f"{url} is not the file it should be: its {kind} is {found} and not {wanted}. It was "
            "thrown away."
        )


def _patiently(url: str, attempt: Callable[[], Result]) -> Result:
    """The result of an attempt, made again while there is hope."""
    for number in range(1, ATTEMPTS + 1):
        try:
            return attempt()
        except _Refused as error:
            raise CorruptFileError(f"{url} cannot be used: {error}.") from error
        except _FAILURES as error:
            reason = _reason(error)
            if number == ATTEMPTS or not _hopeful(error):
                raise MissingDatasetError(f"{url} could not be fetched: {reason}.") from error
            time.sleep(PAUSE * number)
    raise AssertionError("there is at least one attempt")


def _transfer(url: str, draft: Path, bar: Bar, limit: int) -> None:
    """Append what the draft lacks; start over where the server cannot go on."""
    have = draft.stat().st_size
    with draft.open("r+b") as sink, _answer(url, have) as response:
        start = _start(response, have)
        sink.seek(start)
        sink.truncate()
        length = _length(response)
        total = None if length is None else start + length
        if total is not None and total > limit:
            raise _Refused(f"it has {total} bytes, and {limit} are plausible")
        done = _pour(response, sink, start, total, bar, limit)
    if total is not None and done < total:
        raise ConnectionError(f"it broke off after {done} of {total} bytes")


def _pour(
    response: Any, sink: IO[bytes], done: int, total: int | None, bar: Bar, limit: int
) -> int:
    """Copy until the end; return how many bytes there are."""
    mark, since = done, time.monotonic()
    # read1 returns what has come, so that a server that drips is noticed.
    while chunk := response.read1(_CHUNK):
        done += len(chunk)
        if done > limit:
            raise _Refused(f"it has more than {limit} bytes")
        sink.write(chunk)
        bar.update(done, total)
        now = time.monotonic()
        if now - since > PATIENCE:
            if done - mark < _CRAWL:
                raise TimeoutError(f"only {done - mark} bytes came in {PATIENCE:.0f} seconds")
            mark, since = done, now
    return done


def _answer(url: str, have: int) -> Any:
    """The server's answer, from byte ``have`` on if it can."""
    if urlsplit(url).scheme not in ("http", "https"):
        raise _Refused("only http and https addresses are fetched")
    headers = {"User-Agent": f"ulmus/{__version__}", "Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
    opener = urllib.request.build_opener(_Redirects)
    try:
        return opener.open(urllib.request.Request(url, headers=headers), timeout=TIMEOUT)
    except urllib.error.HTTPError as error:
        error.close()
        if have and error.code == 416:  # nothing follows what is there: it is whole, or wrong
            return _answer(url, 0)
        raise


def _start(response: Any, have: int) -> int:
    """Which byte an answer begins with: the first, or the first that is missing."""
    if response.status != 206:
        return 0
    if not response.headers.get("Content-Range", "").startswith(f"bytes {have}-"):
        raise _Refused("the server sends another part than it was asked for")
    return have


def _length(response: Any) -> int | None:
    text = response.headers.get("Content-Length", "")
    return int(text) if text.isdigit() else None


def _hopeful(error: BaseException) -> bool:
    """Whether asking again may help: not if the server is sure, or not there."""
    if isinstance(error, urllib.error.HTTPError):
        return error.code >= 500 or error.code in (408, 429)
    inner = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(inner, socket.gaierror | ConnectionRefusedError):
        return False
    return isinstance(inner, ConnectionError | TimeoutError | http.client.HTTPException)


def _reason(error: BaseException) -> str:
    """What went wrong, in a few words."""
    if isinstance(error, urllib.error.HTTPError):
        return f"the server answers {error.code} {error.reason}"
    inner = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(inner, TimeoutError):
        return str(inner) if str(inner).startswith("only") else "the server does not answer in time"
    if isinstance(inner, socket.gaierror):
        return "the server's name is not known; perhaps there is no network"
    return str(inner) or type(inner).__name__
