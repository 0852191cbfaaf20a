"""Locality preserving projection within classes: equations 7 to 10 of the MELM paper."""

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh
from scipy.spatial.distance import cdist


def printed_weights(X, codes, n_neighbors):
    """Equation 8: exp(−‖x − x'‖²/2) where either is among the other's nearest of its own class."""
    order = np.argsort(codes, kind="stable")
    blocks = [_within(X[codes == code], n_neighbors) for code in np.unique(codes)]
    back = np.argsort(order)
    return sp.block_diag(blocks, format="csr")[back][:, back]


def _within(X, n_neighbors):
    D = cdist(X, X, "sqeuclidean")
    np.fill_diagonal(D, np.inf)
    last = min(n_neighbors, len(X) - 1) - 1
    near = np.partition(D, last, axis=1)[:, [last]] >= D
    return sp.csr_array(np.where(near | near.T, np.exp(-D / 2.0), 0.0))


def projection(X, W):
    """Equation 10: all u with XᵀLX u = γ XᵀDX u and uᵀXᵀDX u = 1, those of the least γ first.

    Rows of X are samples. Directions in which XᵀDX is zero but for rounding have no u.
    """
    degree = np.asarray(W.sum(axis=1)).ravel()
    D, L = (X.T * degree) @ X, (X.T * degree) @ X - X.T @ (W @ X)
    sizes, V = np.linalg.eigh(D)
    sound = sizes > len(D) * np.finfo(float).eps * sizes[-1]
    basis = V[:, sound] / np.sqrt(sizes[sound])
    _, U = eigh(basis.T @ L @ basis)
    return basis @ U
