"""A deep autoencoder where the answer is known."""

import builtins

import numpy as np
import pytest

from papers.autoencoder import autoencoder_codes
from ulmus.exceptions import MissingExtraError


def rows_on_a_curve(n=200):
    """Where on the curve a row lies, and the row: half a turn of a helix."""
    t = np.random.default_rng(0).uniform(0.0, np.pi, n)
    return t, np.column_stack([np.cos(t), np.sin(t), 0.5 * t])


@pytest.mark.torch
def test_one_number_describes_a_row_on_a_curve():
    t, X = rows_on_a_curve()
    codes, error = autoencoder_codes(X, (16, 1), epochs=150, learning_rate=1e-2)
    assert error < 0.002
    steps = np.diff(codes[np.argsort(t), 0])
    assert (steps > 0).all() or (steps < 0).all()


@pytest.mark.torch
def test_a_line_leaves_nothing_over():
    t, _ = rows_on_a_curve()
    line = np.outer(t, [1.0, -2.0, 0.5]) + 7.0
    assert autoencoder_codes(line, (1,), epochs=100, learning_rate=1e-2)[1] < 1e-4
    # A plane does not fit into one number.
    plane = np.random.default_rng(0).normal(size=(200, 2))
    assert autoencoder_codes(plane, (1,), epochs=100, learning_rate=1e-2)[1] > 0.3


@pytest.mark.torch
def test_the_seed_decides():
    _, X = rows_on_a_curve(50)
    first, again, other = (autoencoder_codes(X, (4, 1), epochs=2, seed=s)[0] for s in (0, 0, 1))
    assert np.array_equal(first, again)
    assert not np.allclose(first, other)


def test_without_pytorch_the_message_says_how_to_get_it(monkeypatch):
    real = builtins.__import__

    def no_torch(name, *rest):
        if name == "torch":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", no_torch)
    with pytest.raises(MissingExtraError, match="ulmus\\[papers\\]"):
        autoencoder_codes(np.eye(3), (1,))
