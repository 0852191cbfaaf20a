"""Two groups of rows, labels for them, and waiting for a session."""

import threading

GROUP = 20


def until(session, holds):
    """Wait until something holds, looking after every change."""
    changed = threading.Event()
    with session.listening(changed.set):
        while not holds():
            changed.wait()
            changed.clear()


def label_two(session, rows=((0, 3), (GROUP, GROUP + 3))):
    """Two classes with two labels each."""
    for name, some in zip(("low", "high"), rows, strict=True):
        session.act({"do": "class", "name": name})
        session.act({"do": "label", "rows": list(some), "class": name})
