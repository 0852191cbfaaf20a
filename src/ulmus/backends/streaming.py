"""Rows in host memory that are processed on a GPU, a block at a time.

While the device works on a block, the next one is copied: from host memory to page-locked memory by
a thread, and from there to the device on a stream of its own. Blocks are kept on the device as long
as there is room, so that a second pass, in blocks of any size, does not copy them again.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType
from typing import Any

import numpy as np

from ulmus.backends.namespace import extra, is_torch
from ulmus.exceptions import InvalidInputError
from ulmus.typing import Array

# Part of the device's free memory that blocks may be kept in.
_ROOM = 0.4


def on_device(X: Array, device: str = "cuda") -> "OnDevice":
    """Rows in host memory, to be fitted or predicted on a device.

    They need not fit on the device. Pass the result to ``fit`` or ``predict`` in place of X.

    Parameters
    ----------
    X : ndarray, memory map or CPU tensor of shape (n_samples, n_features)
        The rows.
    device : str, default="cuda"
        The device, as PyTorch names it.

    Returns
    -------
    rows : OnDevice
        An object to use in place of X.

    Examples
    --------
    >>> from ulmus import ELMClassifier, on_device
    >>> model = ELMClassifier().fit(on_device(X), y)  # doctest: +SKIP
    """
    torch, there = torch_device(device)
    X = X.numpy() if is_torch(X) else np.asarray(X)
    if X.ndim != 2 or X.dtype.kind not in "fiub":
        raise InvalidInputError(
            f"on_device takes numbers in two dimensions, not {X.dtype} in {X.ndim}."
        )
    return OnDevice(torch, X, torch.empty(0, device=there).device)


def torch_device(device: Any) -> tuple[ModuleType, Any]:
    """PyTorch and one of its devices, or an error with the reason."""
    torch = extra("torch", "torch", f"device={device!r}")
    try:
        found = torch.device(device)
    except (RuntimeError, TypeError) as error:
        raise InvalidInputError(
            f"device={device!r} is not a device of PyTorch; use 'cuda' or 'cpu', for instance."
        ) from error
    if found.type == "cuda" and not torch.cuda.is_available():
        raise InvalidInputError(
            f"device={device!r} cannot be used: this PyTorch sees no CUDA device. Use "
            "device='cpu', or a machine and a build of PyTorch with CUDA."
        )
    return torch, found


class OnDevice:
    """Rows of a NumPy array or memory map that are copied to a device by blocks.

    It has the parts of an array that solvers use: a shape, a dtype, a device, a namespace and
    slices of rows.
    """

    def __init__(self, torch: ModuleType, host: np.ndarray, device: Any) -> None:
        self._torch = torch
        self.host = host
        self.device = device
        self.dtype = torch.float32 if host.dtype == np.float32 else torch.float64
        self._kept: dict[tuple[int, int], Array] = {}

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.host.shape[0], self.host.shape[1]

    def __len__(self) -> int:
        return len(self.host)

    def __array_namespace__(self, api_version: str | None = None) -> Any:
        import array_api_compat.torch

        return array_api_compat.torch

    def __getitem__(self, rows: Any) -> Array:
        dtype = np.float32 if self.dtype == self._torch.float32 else np.float64
        found = np.array(self.host[rows], dtype=dtype, order="C")
        return self._checked(self._torch.from_numpy(found).to(self.device), rows)

    def blocks(self, size: int) -> Iterator[tuple[slice, Array]]:
        """Slices of at most ``size`` rows, and the rows on the device."""
        size = min(size, len(self))
        slices = [slice(i, min(i + size, len(self))) for i in range(0, len(self), size)]
        lane = _Lane(self, size) if self.device.type == "cuda" else None
        with ThreadPoolExecutor(1) as copier:
            coming = copier.submit(self._fetch, slices[0], lane)
            for number, rows in enumerate(slices):
                block = coming.result()
                if number + 1 < len(slices):
                    coming = copier.submit(self._fetch, slices[number + 1], lane)
                yield rows, block

    def _fetch(self, rows: slice, lane: "_Lane | None") -> Array:
        """A block on the device; only the copying thread waits for it."""
        block = self._there(rows)
        if block is not None:
            return block
        if lane is None:
            return self[rows]
        block = lane.bring(rows)
        if lane.room >= block.nbytes:
            lane.room -= block.nbytes
            self._kept[rows.start, rows.stop] = block
        return block

    def _there(self, rows: slice) -> Array | None:
        """Rows that are on the device, in blocks of any size; None where some are not."""
        parts, start = [], rows.start
        while start < rows.stop:
            around = [ends for ends in self._kept if ends[0] <= start < ends[1]]
            if not around:
                return None
            first, last = max(around, key=lambda ends: ends[1])
            stop = min(last, rows.stop)
            parts.append(self._kept[first, last][start - first : stop - first])
            start = stop
        return parts[0] if len(parts) == 1 else self._torch.cat(parts)

    def _checked(self, block: Array, rows: Any) -> Array:
        if bool(self._torch.isfinite(block).all()):
            return block
        which = f"rows {rows.start} to {rows.stop - 1}" if isinstance(rows, slice) else "some rows"
        raise InvalidInputError(
            f"X has NaN or infinite values in {which}; fill or drop them first."
        )


class _Lane:
    """Copies to page-locked memory and from there to the device, on a stream of its own.

    ``room`` is the number of bytes that may be kept on the device.
    """

    def __init__(self, rows: OnDevice, size: int) -> None:
        torch = rows._torch
        self._rows, self._torch = rows, torch
        self._stream = torch.cuda.Stream(rows.device)
        self._pinned = torch.empty((size, rows.shape[1]), dtype=rows.dtype, pin_memory=True)
        self.room = int(_ROOM * torch.cuda.mem_get_info(rows.device)[0])

    def bring(self, rows: slice) -> Array:
        """The rows, copied to the device."""
        pinned = self._pinned[: rows.stop - rows.start]
        pinned.copy_(self._torch.from_numpy(np.asarray(self._rows.host[rows])))
        with self._torch.cuda.stream(self._stream):
            block = pinned.to(self._rows.device, non_blocking=True)
            self._rows._checked(block, rows)  # waits for this stream only
        # The memory is of this stream's pool and is used on another stream.
        block.record_stream(self._torch.cuda.default_stream(self._rows.device))
        return block
