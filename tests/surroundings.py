"""The surroundings that a command may be started in."""

import sys

FOREGROUND, BACKGROUND = "SIG_DFL", "SIG_IGN"


def started_in(place, *command):
    """The command as a shell starts it: a script ignores interrupts for what runs behind it."""
    code = (
        "import os, signal, sys\n"
        f"signal.signal(signal.SIGINT, signal.{place})\n"
        "os.execv(sys.argv[1], sys.argv[1:])"
    )
    return [sys.executable, "-c", code, *map(str, command)]
