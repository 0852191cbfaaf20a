"""How many examples of a law a test run draws, whatever the law asks for."""

from collections.abc import Callable, Iterable

import pytest
from hypothesis import settings

__all__ = ["redraw"]


def redraw(items: Iterable[pytest.Item], examples: Callable[[int], int]) -> None:
    """Let every law among the tests draw ``examples`` of the number that it asks for."""
    for law in {item.function for item in items if item.get_closest_marker("hypothesis")}:
        own = law._hypothesis_internal_use_settings
        law._hypothesis_internal_use_settings = settings(
            own, max_examples=examples(own.max_examples)
        )
