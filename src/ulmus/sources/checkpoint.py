"""The sums of a stream on disk, so that a fit that was killed can continue.

A file holds the moments with their number of rows, and an identification: the estimator, and the
hidden rows of the first few inputs, which differ for another map, another scale of the inputs or
another first batch. It is a plain .npz of arrays with checksums, without code.
"""

import logging
import time
import warnings
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from ulmus.archives import read_npz
from ulmus.backends.namespace import from_numpy, to_numpy
from ulmus.exceptions import CheckpointError, CheckpointWarning, InvalidParameterError
from ulmus.files import replacing
from ulmus.problem import Moments, Problem
from ulmus.sources.forgetting import possible

_LOG = logging.getLogger(__name__)
_VERSION = 2
_PERIOD = 60.0
# Largest part of the time that writing may take; it is done less often where it would exceed that.
_SHARE = 0.02
_PROBES = 8


@dataclass(frozen=True)
class _Owner:
    """The identification of sums: an estimator, and the hidden rows of its first inputs."""

    model: str
    probe: np.ndarray

    def check(self, other: "_Owner", path: Any) -> None:
        """Refuse sums that belong to something else."""
        if self.model != other.model:
            raise CheckpointError(
                f"{path} holds the sums of {other.model}, and this is {self.model}. Fit that "
                "model, or choose another path."
            )
        close = 1e-4 if self.probe.dtype == np.float32 else 1e-9
        if self.probe.shape != other.probe.shape or not np.allclose(
            self.probe, other.probe, rtol=close, atol=close
        ):
            raise CheckpointError(
                f"{path} holds the sums of other hidden units, or of other data. Use the same "
                "batches and features and a fixed random_state, or choose another path."
            )


def _owner(estimator: Any, problem: Problem) -> _Owner:
    """The identification of sums that begin with the rows of ``problem``."""
    rows = np.arange(min(_PROBES, len(problem.H)))
    weight = getattr(estimator, "class_weight", None)
    model = f"{type(estimator).__name__}(class_weight={weight!r})"
    return _Owner(model, to_numpy(problem.H.take(rows).all()))


class Checkpoint:
    """A file of sums; without a path, nothing is read or written.

    ``rows`` is the number of rows of the sums that were found.
    """

    def __init__(self, path: str | Path | None) -> None:
        self.path = None if path is None else Path(path)
        self.rows = 0
        self._owner: _Owner | None = None
        self._found: _Owner | None = None
        self._unsaved: Moments | None = None
        self._due = time.monotonic() + _PERIOD
        if self.path is None:
            return
        if self.path.is_dir() or not self.path.parent.is_dir():
            raise InvalidParameterError(
                f"checkpoint={str(path)!r} cannot be written: it must be a file in a folder that "
                "exists."
            )
        if self.path.exists():
            self._found, self._arrays = _read(self.path)
            self.rows = int(self._arrays["rows"])
            _LOG.info("%s holds the sums of %d rows; the fit goes on after them.", path, self.rows)

    def claim(self, estimator: Any, problem: Problem) -> None:
        """Identify the sums by the first rows; sums that were found must match."""
        if self.path is not None and self._owner is None:
            self._owner = _owner(estimator, problem)
            if self._found is not None:
                self._owner.check(self._found, self.path)

    def restored(self, problem: Problem | None, rows: float) -> Moments:
        """The sums that were found, for batches of so many rows that end with ``problem``.

        ``problem`` is None where rows are not summed yet.
        """
        if problem is None:
            raise self._other_batches()
        arrays = {name: from_numpy(self._arrays[name], problem.H.X) for name in _ARRAYS}
        numbers = {name: float(self._arrays[name]) for name in _NUMBERS}
        outputs = problem.targets.width
        if rows != self.rows or arrays["cross"].shape != (problem.H.width, outputs):
            raise self._other_batches()
        return Moments(**arrays, **numbers)

    def check_end(self, rows: float) -> None:
        """Refuse batches that end before those that were found."""
        if rows < self.rows:
            raise self._other_batches()

    def _other_batches(self) -> CheckpointError:
        return CheckpointError(
            f"{self.path} holds the sums of {self.rows} rows, and these batches are not cut there. "
            "Use the same batches, or choose another path."
        )

    def offer(self, moments: Moments | None) -> None:
        """Take the latest sums, if there are any; they are written at intervals."""
        if self.path is not None and moments is not None:
            self._unsaved = moments
            if time.monotonic() >= self._due:
                self.save()

    def save(self) -> None:
        """Write the latest sums, all of them or nothing."""
        if self.path is None or self._owner is None or self._unsaved is None:
            return
        start = time.monotonic()
        try:
            _write(self.path, self._owner, self._unsaved)
        except OSError as error:
            warnings.warn(
                f"The sums so far cannot be written to {self.path} ({error.strerror}); the fit "
                "goes on without them.",
                CheckpointWarning,
                stacklevel=2,
            )
        else:
            self._unsaved = None
        now = time.monotonic()
        self._due = now + max(_PERIOD, (now - start) / _SHARE)

    def remove(self) -> None:
        """Delete the file after a successful fit."""
        if self.path is not None:
            self.path.resolve().unlink(missing_ok=True)


_NUMBERS = ("weight", "rows", "rounding")
_ARRAYS = tuple(field.name for field in fields(Moments) if field.name not in _NUMBERS)
_MEMBERS = {"version", "model", "probe", *_ARRAYS, *_NUMBERS}


def _write(path: Path, owner: _Owner, moments: Moments) -> None:
    arrays = {name: to_numpy(getattr(moments, name)) for name in _ARRAYS}
    numbers = {name: getattr(moments, name) for name in _NUMBERS}
    named: dict[str, Any] = {"version": _VERSION, "model": owner.model, "probe": owner.probe}
    with replacing(path) as file:
        np.savez(file, allow_pickle=False, **named, **arrays, **numbers)


def _read(path: Path) -> tuple[_Owner, dict[str, Any]]:
    """The identification of the sums in a file, and the sums."""
    try:
        with path.open("rb") as opened:
            file = read_npz(opened, _MEMBERS, others=True, packed=False)
        if int(file["version"]) != _VERSION:
            raise CheckpointError(
                f"{path} was written by another version of Ulmus. Delete it, and the fit starts "
                "anew."
            )
        return _Owner(str(file["model"]), file["probe"]), _sums(file)
    except CheckpointError:
        raise
    except (OSError, KeyError, ValueError, TypeError, OverflowError) as error:
        raise CheckpointError(
            f"{path} is damaged, or no checkpoint of Ulmus. Delete it, and the fit starts anew, or "
            "choose another path."
        ) from error


def _sums(file: Any) -> dict[str, Any]:
    """The sums in a file; refuses those that do not fit each other."""
    h, b = file["cross"].shape
    shapes = {"gram": (h, h), "cross": (h, b), "energy": (b,), "hidden": (h,), "target": (b,)}
    for name in (*_ARRAYS, *_NUMBERS):
        found = file[name]
        fits = found.shape == shapes.get(name, ()) and found.dtype.kind in "if"
        if not fits or not np.isfinite(found).all():
            raise ValueError(f"{name} does not fit the other sums")
    if not (file["weight"] > 0 and file["rows"] >= 1) or file["probe"].dtype.kind != "f":
        raise ValueError("there are no rows")
    found = {name: file[name] for name in (*_ARRAYS, *_NUMBERS)}
    sums = Moments(**found | {name: float(file[name]) for name in _NUMBERS})
    if not possible(sums, sums):
        raise ValueError("no rows have these sums")
    return found
