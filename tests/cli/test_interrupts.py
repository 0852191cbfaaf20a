"""A command hears SIGINT, and leaves its caller's own handling as it was."""

import signal
import threading

import pytest

from ulmus.cli import interruptible


@pytest.fixture(autouse=True)
def as_it_was():
    before = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, before)


def test_what_was_ignored_is_heard_and_ignored_again_after():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with pytest.raises(KeyboardInterrupt), interruptible():
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_a_handler_of_the_caller_stays():
    heard = []
    signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
    with interruptible():
        signal.raise_signal(signal.SIGINT)
    assert heard == [signal.SIGINT]


def test_only_the_main_thread_may_set_one():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    found = []

    def elsewhere():
        with interruptible():
            found.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert found == [signal.SIG_IGN]
