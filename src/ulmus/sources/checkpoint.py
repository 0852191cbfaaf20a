"""The sums of a stream on disk, so that a fit that was killed can continue.

A file holds the moments with their number of rows, and an identification: the estimator, and the
hidden rows of the first few inputs, which differ for another map, another scale of the inputs or
another first batch. It is a plain .npz of arrays with checksums, without code.
"""

import logging
import time
import warnings
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from ulmus.archives import read_npz
from ulmus.backends.namespace import from_numpy, on_host, to_numpy
from ulmus.exceptions import CheckpointError, CheckpointWarning, InvalidParameterError
from ulmus.files import replacing
from ulmus.problem import Moments, Problem
from ulmus.sources.sums import possible

_LOG = logging.getLogger(__name__)
_VERSION = 2
_PERIOD = 60.0
# Largest part of the time that writing may take; it is done less often where it would exceed that.
_SHARE = 0.02
_PROBES = 8
_SUMS = tuple(field.name for field in fields(Moments))


class Checkpoint:
    """A file of sums; without a path, nothing is read or written.

    ``rows`` is the number of rows of the sums that were found.
    """

    def __init__(self, path: str | Path | None) -> None:
        self.path = None if path is None else Path(path)
        self.rows = 0
        self._found: dict[str, np.ndarray] = {}
        self._owner: dict[str, Any] = {}
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
            self._found = _read(self.path)
            self.rows = int(self._found["rows"])
            _LOG.info("%s holds the sums of %d rows; the fit goes on after them.", path, self.rows)

    def claim(self, estimator: Any, problem: Problem) -> None:
        """Identify the sums by the first rows; sums that were found must match."""
        if self.path is None or self._owner:
            return
        weight = getattr(estimator, "class_weight", None)
        model = f"{type(estimator).__name__}(class_weight={weight!r})"
        rows = np.arange(min(_PROBES, len(problem.H)))
        probe = to_numpy(problem.H.take(rows).all())
        if self._found:
            self._check_owner(model, probe)
        self._owner = {"version": _VERSION, "model": model, "probe": probe}

    def _check_owner(self, model: str, probe: np.ndarray) -> None:
        """Refuse sums that belong to something else."""
        if model != str(self._found["model"]):
            raise CheckpointError(
                f"{self.path} holds the sums of {self._found['model']}, and this is {model}. Fit "
                "that model, or choose another path."
            )
        close, found = 1e-4 if probe.dtype == np.float32 else 1e-9, self._found["probe"]
        if probe.shape != found.shape or not np.allclose(probe, found, rtol=close, atol=close):
            raise CheckpointError(
                f"{self.path} holds the sums of other hidden units, or of other data. Use the same "
                "batches and features and a fixed random_state, or choose another path."
            )

    def restored(self, problem: Problem | None, rows: float) -> Moments:
        """The sums that were found, for batches of so many rows that end with ``problem``.

        ``problem`` is None where rows are not summed yet.
        """
        shape = None if problem is None else (problem.H.width, problem.targets.width)
        if problem is None or rows != self.rows or self._found["cross"].shape != shape:
            raise self._other_batches()
        found = (self._found[name] for name in _SUMS)
        sums: Any = (from_numpy(x, problem.H.X) if x.ndim else float(x) for x in found)
        return Moments(*sums)

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
        self._unsaved = moments
        if time.monotonic() >= self._due:
            self.save()

    def save(self) -> None:
        """Write the latest sums, all of them or nothing."""
        if self.path is None or self._unsaved is None:
            return
        start = time.monotonic()
        sums = {name: on_host(getattr(self._unsaved, name)) for name in _SUMS}
        try:
            with replacing(self.path) as file:
                np.savez(file, allow_pickle=False, **self._owner, **sums)
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


def _read(path: Path) -> dict[str, np.ndarray]:
    """The sums in a file, and their identification."""
    try:
        with path.open("rb") as opened:
            members = {"version", "model", "probe", *_SUMS}
            found = read_npz(opened, members, others=True, packed=False)
        if int(found["version"]) != _VERSION:
            raise CheckpointError(
                f"{path} was written by another version of Ulmus. Delete it, and the fit starts "
                "anew."
            )
        _check_sums(found)
        return found
    except CheckpointError:
        raise
    except (OSError, KeyError, ValueError, TypeError, OverflowError) as error:
        raise CheckpointError(
            f"{path} is damaged, or no checkpoint of Ulmus. Delete it, and the fit starts anew, or "
            "choose another path."
        ) from error


def _check_sums(found: dict[str, np.ndarray]) -> None:
    """Refuse sums that do not fit each other, or that no rows have."""
    h, b = found["cross"].shape
    shapes = {"gram": (h, h), "cross": (h, b), "energy": (b,), "hidden": (h,), "target": (b,)}
    for name in _SUMS:
        part = found[name]
        fits = part.shape == shapes.get(name, ()) and part.dtype.kind in "if"
        if not fits or not np.isfinite(part).all():
            raise ValueError(f"{name} does not fit the other sums")
    kinds = found["model"].dtype.kind + found["probe"].dtype.kind
    if not (found["weight"] > 0 and found["rows"] >= 1) or kinds != "Uf":
        raise ValueError("there are no rows")
    parts: Any = (found[name] if name in shapes else float(found[name]) for name in _SUMS)
    sums = Moments(*parts)
    if not possible(sums, sums):
        raise ValueError("no rows have these sums")
