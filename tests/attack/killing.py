"""Work in a process that is killed at a chosen call into the file system."""

import os
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

__all__ = ["calls_of", "killed_at"]

# Functions of C that change files, or move on to where they are changed.
_CALLS = {
    "chmod", "close", "flock", "flush", "fsync", "link", "mkdir", "open", "rename", "replace",
    "seek", "truncate", "unlink", "write",
}  # fmt: skip


def calls_of(work: Callable[[], object]) -> int:
    """How many such calls the work makes in a process of its own."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        _ended(lambda: os.write(write, str(_counted(work, None)).encode()))
    os.close(write)
    with os.fdopen(read) as report:
        text = report.read()
    os.waitpid(pid, 0)
    return int(text)


def killed_at(call: int, work: Callable[[], object]) -> bool:
    """Do the work in a process that is killed before that call; whether it came so far."""
    pid = os.fork()
    if pid == 0:
        _ended(lambda: _counted(work, call))
    _, status = os.waitpid(pid, 0)
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL


def _counted(work: Callable[[], object], last: int | None) -> int:
    count = 0

    def watch(frame: FrameType, event: str, function: Any) -> None:
        nonlocal count
        if event == "c_call" and function.__name__ in _CALLS:
            count += 1
            if count == last:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.setprofile(watch)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def _ended(work: Callable[[], object]) -> None:
    """End this process after the work, without what Python does at its end."""
    status = 1
    try:
        work()
        status = 0
    finally:
        os._exit(status)
