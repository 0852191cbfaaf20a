"""The two spectral embeddings that US-ELM is compared with, from an affinity alone."""

import numpy as np
from scipy.linalg import eigh

from ulmus.graphs import laplacian

__all__ = ["laplacian_eigenmap", "spectral_rows"]


def laplacian_eigenmap(W, n_components):
    """The rows by Laplacian eigenmaps: (D − W) f = γ D f, from the second smallest γ on.

    Parameters
    ----------
    W : sparse matrix of shape (n_samples, n_samples)
        A symmetric affinity; every row has a neighbour.
    n_components : int
        Columns of the embedding.

    Returns
    -------
    F : ndarray of shape (n_samples, n_components)
        The embedding; FᵀDF = I.
    """
    return _eigenvectors(W, n_components + 1)[:, 1:]


def spectral_rows(W, n_components):
    """The rows by spectral clustering: first eigenvectors of D^(−½) W D^(−½), rows of length one.

    Parameters
    ----------
    W : sparse matrix of shape (n_samples, n_samples)
        A symmetric affinity; every row has a neighbour.
    n_components : int
        Columns of the embedding.

    Returns
    -------
    F : ndarray of shape (n_samples, n_components)
        The embedding.
    """
    F = _eigenvectors(W, n_components)
    lengths = np.linalg.norm(F, axis=1, keepdims=True)
    return F / np.where(lengths > 0, lengths, 1.0)


def _eigenvectors(W, count):
    """D^(−½) v for the smallest eigenvalues of I − D^(−½) W D^(−½).

    Dense on purpose: zero is an eigenvalue for every piece of the graph, and an iterative solver
    loses copies of it.
    """
    V = eigh(laplacian(W).matrix.toarray(), subset_by_index=(0, count - 1), overwrite_a=True)[1]
    return V / np.sqrt(W.sum(axis=1))[:, None]
