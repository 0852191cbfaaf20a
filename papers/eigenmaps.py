"""The two spectral embeddings that US-ELM is compared with, from an affinity alone."""

import numpy as np
from scipy.linalg import eigh

from ulmus.graphs import laplacian


def laplacian_eigenmap(W, n_components):
    """F by Laplacian eigenmaps: (D − W) f = γ D f, from the second smallest γ on; FᵀDF = I.

    W is a symmetric affinity in which every row has a neighbour.
    """
    return _eigenvectors(W, n_components + 1)[:, 1:]


def spectral_rows(W, n_components):
    """F by spectral clustering: first eigenvectors of D^(−½) W D^(−½), rows of length one."""
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
