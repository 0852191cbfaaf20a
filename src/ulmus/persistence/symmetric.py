"""A symmetric matrix as its lower half, by panels of rows.

An ELM keeps HᵀCH so that rows can be added. Half of it is enough, and to wait for the disk takes
longer than to fold a matrix and unfold it.
"""

import numpy as np

_PANEL = 128


def is_symmetric(A: np.ndarray) -> bool:
    """Whether half of A is enough, to the bit, and worth the trouble."""
    if A.ndim != 2 or A.shape[0] != A.shape[1] or len(A) <= _PANEL or A.dtype.char not in "fd":
        return False
    if not (A.flags.c_contiguous or A.flags.f_contiguous):
        return False
    bits = _by_rows(A).view(f"u{A.itemsize}")  # 0.0 is not −0.0, and NaN is itself
    return all(
        np.array_equal(bits[rows, columns], bits[columns, rows].T)
        for rows in _panels(len(A))
        for columns in _panels(rows.stop)
    )


def to_half(A: np.ndarray) -> np.ndarray:
    """The rows of each panel up to the diagonal's block, one after the other."""
    A = _by_rows(A)
    return np.concatenate([A[rows, : rows.stop].ravel() for rows in _panels(len(A))])


def from_half(half: np.ndarray, n: int, order: str) -> np.ndarray:
    """The n × n matrix, by rows (order C) or by columns (F)."""
    A, start = np.empty((n, n), half.dtype), 0
    for rows in _panels(n):
        stop = start + (rows.stop - rows.start) * rows.stop
        part, start = half[start:stop].reshape(-1, rows.stop), stop
        A[rows, : rows.stop] = part
        A[: rows.start, rows] = part[:, : rows.start].T
    return A.T if order == "F" else A


def half_length(n: int) -> int:
    """How many numbers half of an n × n matrix has."""
    panels, rest = divmod(n, _PANEL)
    return _PANEL**2 * panels * (panels + 1) // 2 + rest * n


def _by_rows(A: np.ndarray) -> np.ndarray:
    return A if A.flags.c_contiguous else A.T


def _panels(n: int) -> list[slice]:
    return [slice(i, min(i + _PANEL, n)) for i in range(0, n, _PANEL)]
