"""The surroundings that a command may be started in."""

import builtins
import io
import os
import sys
from pathlib import Path

FOREGROUND, BACKGROUND = "SIG_DFL", "SIG_IGN"


def started_in(place, *command):
    """The command as a shell starts it: a script ignores interrupts for what runs behind it."""
    code = (
        "import os, signal, sys\n"
        f"signal.signal(signal.SIGINT, signal.{place})\n"
        "os.execv(sys.argv[1], sys.argv[1:])"
    )
    return [sys.executable, "-c", code, *map(str, command)]


def make_read_only(folder, monkeypatch):
    """Nothing can be written into the folder any more, not even by root."""

    def guarded(function, writes):
        def guard(path, *how, **more):
            inside = not isinstance(path, int) and Path(folder) in Path(path).absolute().parents
            if inside and writes(*how, **more):
                raise PermissionError(13, "Permission denied", str(path))
            return function(path, *how, **more)

        return guard

    def for_writing(mode="r", *_, **__):
        return set(mode) & set("wax+")

    monkeypatch.setattr(os, "mkdir", guarded(os.mkdir, lambda *_, **__: True))
    monkeypatch.setattr(os, "open", guarded(os.open, lambda flags, *_, **__: flags & 3))
    for module in (builtins, io):
        monkeypatch.setattr(module, "open", guarded(io.open, for_writing))
