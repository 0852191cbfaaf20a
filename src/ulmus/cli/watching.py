"""A line on standard error that says what is being done, while somebody looks on."""

from contextlib import contextmanager

from ulmus.progress import Bar

__all__ = ["watching"]


@contextmanager
def watching(title, quiet, steps=None):
    """Gives a function to call with a few words before each step; ``steps`` is about how many."""
    with Bar(title) as bar:
        bar.shown = bar.shown and not quiet
        done = -1

        def step(words):
            nonlocal done
            done += 1
            bar.words = lambda *_: words
            bar.due_now()
            bar.update(min(done, steps) if steps else 0, steps)

        if steps is None:
            step("…")
        yield step
