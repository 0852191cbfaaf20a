"""Sparse matrices as operators where the rows live."""

import warnings
from typing import Any

import numpy as np

from ulmus.backends.namespace import (
    cast,
    from_numpy,
    is_cupy,
    is_numpy,
    is_torch,
    namespace,
    to_numpy,
)
from ulmus.typing import Array, DType, Rows


def sparse_operator(A: Any, like: Rows, dtype: DType) -> Any:
    """A SciPy matrix as an operator A @ B on arrays of the library and device of ``like``."""
    if is_numpy(like):
        return A.astype(dtype)
    if is_torch(like) or is_cupy(like):
        A = A.tocoo()
        entries = cast(from_numpy(A.data, like), dtype)
        where = from_numpy(np.stack([A.row, A.col]).astype(np.int64), like)
        if is_torch(like):
            sparse_coo = namespace(like).sparse_coo_tensor
            found = sparse_coo(where, entries, A.shape, check_invariants=False).coalesce()
            return _by_rows(found) if found.is_cuda else found
        from cupyx.scipy.sparse import coo_matrix

        return coo_matrix((entries, (where[0], where[1])), shape=A.shape).tocsr()
    return _OnHost(A)


def _by_rows(A: Any) -> Any:
    """A sparse tensor of PyTorch in CSR format, which a GPU multiplies five times faster."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta state")
        return A.to_sparse_csr()


class _OnHost:
    """A sparse matrix for a library without sparse matrices: products are made on the host."""

    def __init__(self, A: Any) -> None:
        self._A = A

    def __matmul__(self, B: Array) -> Array:
        return from_numpy(self._A.astype(to_numpy(B).dtype) @ to_numpy(B), B)
