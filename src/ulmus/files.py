"""Files that are written whole or not at all.

A file is written as a draft in the same folder, ``.NAME-xxxxxxxx.part``, and renamed when it is
whole and on the disk. A draft is locked while it is written, and the system gives the lock back
however a process ends, so a draft without a lock was left by a process that died: the next file of
the same name removes it.
"""

import contextlib
import os
import re
import secrets
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

# Bytes of a name that a draft's name begins with; most systems allow 255 in all.
_LONGEST = 200


@contextlib.contextmanager
def replacing(path: str | Path) -> Iterator[IO[Any]]:
    """A new file, open for bytes, that takes the place of ``path`` when the block ends well.

    Whatever goes wrong, a full disk or a killed process, the old file is still there. The new one
    has the mode of the old one; where ``path`` is a symbolic link, the file that it leads to is
    replaced. A pipe or a device is written to as it is.
    """
    path, old = Path(os.path.realpath(path)), None
    with contextlib.suppress(FileNotFoundError):
        old = path.stat()
    if old is not None and not stat.S_ISREG(old.st_mode):
        with path.open("wb") as pipe:
            yield pipe
        return
    _remove_abandoned(path)
    # Known by name before they are there, so that no interrupt in between leaves one.
    drafts: list[Path] = []
    try:
        with _locked_draft(path, old, drafts) as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
            if os.name != "nt":  # under the lock, or another process could take it for abandoned
                drafts[-1].replace(path)
        if os.name == "nt":  # which renames no file that is open
            drafts[-1].replace(path)
    finally:
        for draft in drafts:
            draft.unlink(missing_ok=True)


def write_text(path: str | Path, text: str) -> None:
    """A whole text file in UTF-8."""
    with replacing(path) as stream:
        stream.write(text.encode())


def lock(file: IO[Any]) -> None:
    """Lock an open file until it is closed; `OSError` where another process has the lock."""
    if sys.platform == "win32":
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _locked_draft(path: Path, old: os.stat_result | None, drafts: list[Path]) -> IO[bytes]:
    """A draft, the last of ``drafts``, with the mode of the old file or with the usual one."""
    while True:
        drafts.append(path.with_name(f"{_beginning(path)}{secrets.token_hex(4)}.part"))
        # Until it has the mode of the file that it replaces, only its owner may read a draft.
        mode = 0o666 if old is None else 0o600
        stream = os.fdopen(os.open(drafts[-1], os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb")
        if _is_ours(drafts[-1], stream):
            break
        stream.close()
    if old is not None:
        drafts[-1].chmod(stat.S_IMODE(old.st_mode))
    return stream


def _is_ours(draft: Path, stream: IO[bytes]) -> bool:
    """Lock a new draft; False where another process has already removed it as abandoned."""
    try:
        if os.name != "nt":
            lock(stream)
    except BlockingIOError:
        return False
    except OSError:  # no locks on this file system, where no draft is ever taken for abandoned
        return True
    return draft.exists()


def _remove_abandoned(path: Path) -> None:
    """Remove the drafts of this file whose processes have ended."""
    if os.name == "nt":  # drafts are not locked there
        return
    draft = re.compile(re.escape(_beginning(path)) + r"[0-9a-f]{8}\.part")
    # A folder that may not be listed can still be written to.
    with contextlib.suppress(OSError), os.scandir(path.parent) as entries:
        for name in [e.name for e in entries if draft.fullmatch(e.name) and e.is_file()]:
            # A draft that is locked, gone or another user's is left alone.
            with contextlib.suppress(OSError), path.with_name(name).open("rb") as stream:
                lock(stream)
                path.with_name(name).unlink()


def _beginning(path: Path) -> str:
    """What the names of a file's drafts begin with."""
    return f".{os.fsencode(path.name)[:_LONGEST].decode(errors='ignore')}-"
