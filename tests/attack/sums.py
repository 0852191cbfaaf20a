"""Forged checkpoints: a fit goes on from them, or says that it cannot."""

import io
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from random import Random
from unittest.mock import patch

import numpy as np
from sklearn.datasets import make_classification

from attack.containers import DAMAGES
from attack.documents import changed
from attack.outcomes import Outcome
from attack.using import called, error_outcome, used
from ulmus import ELMClassifier, reservoir
from ulmus.sources.checkpoint import Checkpoint

__all__ = ["KINDS", "attacked", "fitted"]

KINDS = ("forged", *DAMAGES)
X, Y = make_classification(60, 4, n_informative=3, n_redundant=0, random_state=0)
_CUTS = (0, 15, 30, 45, 60)


class _Stop(BaseException):
    """What no fit expects."""


def _batches(last: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The rows in four batches, of which so many can be read."""
    for start, stop in pairwise(_CUTS[: last + 1]):
        yield X[start:stop], Y[start:stop]
    if last < len(_CUTS) - 1:
        raise _Stop


def fitted(path: Path | None, last: int = 4) -> ELMClassifier:
    """A model of the batches, of which few rows are kept before sums begin."""
    with patch.multiple(reservoir, _LEAST=8, _BYTES=0):
        model = ELMClassifier(n_hidden=6, C=1.0, random_state=0)
        return model.fit(_batches(last), checkpoint=path)


@cache
def _saved(folder: Path) -> bytes:
    """The checkpoint of a fit that was stopped after three batches."""
    path = folder / "sums"
    try:
        fitted(path, 3)
    except _Stop:
        return path.read_bytes()
    raise AssertionError("the fit was not stopped")


@cache
def _honest() -> bytes:
    return fitted(None).beta_.tobytes()


def _forged(rng: Random, content: bytes) -> bytes:
    """A checkpoint with other arrays, its checksums right."""
    with np.load(io.BytesIO(content)) as file:
        arrays = dict(file)
    for _ in range(rng.choice([1, 1, 2])):
        name = rng.choice(list(arrays))
        if rng.random() < 0.1:
            del arrays[name]
            break
        arrays[name] = changed(rng, arrays[name])
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def _kept(path: Path, forged: bytes, error: BaseException) -> bool:
    """Whether a file is as it was, or has the sums of all batches, whose solve fails as it did."""
    if path.exists() and path.read_bytes() == forged:
        return True
    _, again = called(lambda: fitted(path))
    return repr(again) == repr(error) and path.exists() and Checkpoint(path).rows == len(X)


def attacked(rng: Random, kind: str, folder: Path) -> tuple[Outcome, str]:
    """A fit that finds a forged checkpoint."""
    path, content = folder / "sums", _saved(folder)
    forged = _forged(rng, content) if kind == "forged" else DAMAGES[kind](rng, bytearray(content))
    path.write_bytes(forged)
    model, error = called(lambda: fitted(path))
    if error is not None:
        if not _kept(path, forged, error):
            return Outcome.CORRUPTED, f"the file has changed after {error!r}"
        return error_outcome(error)
    if kind != "forged" and model.beta_.tobytes() != _honest():
        return Outcome.WRONG, "a damaged checkpoint gives another model"
    outcome, detail, _ = used(model, X[:2])
    return outcome, detail
