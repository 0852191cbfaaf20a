"""Interrupts are heard, however the command was started."""

import signal
import threading
from contextlib import contextmanager

__all__ = ["interruptible"]


@contextmanager
def interruptible():
    """Raise KeyboardInterrupt on SIGINT, also where the process began with it ignored.

    A script ignores it for what it starts in the background (``nohup ulmus reproduce &``), and
    Python leaves that as it is, so that nothing short of a kill would stop the command.
    """
    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
