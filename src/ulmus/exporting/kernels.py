"""Kernels between a graph's rows and landmarks that are constants."""

from functools import singledispatch

import numpy as np

from ulmus.exceptions import ExportError
from ulmus.exporting.functions import arcsine, squared_distances
from ulmus.features.kernel_choice import landmarks_like
from ulmus.kernels import (
    RBF,
    Arcsine,
    Cosine,
    InfiniteRBF,
    Laplacian,
    Linear,
    Pairwise,
    Polynomial,
    Precomputed,
    Sigmoid,
)

__all__ = ["dense_landmarks", "kernel_block"]


@singledispatch
def kernel_block(kernel, x, Z):
    """k(x, z) for every pair of a row x of the graph and a landmark z."""
    raise ExportError(
        f"The kernel {kernel!r} cannot be written as ONNX; 'rbf', 'laplacian', 'poly', 'linear', "
        "'cosine', 'sigmoid', 'infinite_rbf' and 'arcsine' can."
    )


def dense_landmarks(landmarks, scaling):
    """Landmarks as they are beside dense rows, in double precision."""
    return landmarks_like(landmarks, np.empty((0, 0)), np.dtype(float), scaling.shift)


@kernel_block.register
def _(kernel: Linear, x, Z):
    return x @ Z.T


@kernel_block.register
def _(kernel: Polynomial, x, Z):
    return (kernel.gamma * (x @ Z.T) + kernel.coef0).op("Pow", float(kernel.degree))


@kernel_block.register
def _(kernel: Cosine, x, Z):
    # A row of zeros has products of zero, whatever they are divided by.
    tiny = np.finfo(float).tiny
    own = (x * x).sum().op("Sqrt").op("Max", tiny)
    return (x @ Z.T) / own / np.maximum(np.sqrt(np.sum(Z**2, axis=1)), tiny)


@kernel_block.register
def _(kernel: Sigmoid, x, Z):
    return (kernel.gamma * (x @ Z.T) + kernel.coef0).op("Tanh")


@kernel_block.register
def _(kernel: RBF, x, Z):
    return (-squared_distances(x, Z, kernel.gamma)).op("Exp")


@kernel_block.register
def _(kernel: Laplacian, x, Z):
    graph, first = x.graph, np.array([1])

    def add_column(j, D):
        own = graph.op("Gather", x, j, axis=1).op("Unsqueeze", first)
        return True, D + (own - graph.op("Gather", Z.T, j)).op("Abs")

    # One column at a time: all columns of all pairs would be too much memory.
    D = graph.loop(Z.shape[1], add_column, x @ np.zeros(Z.T.shape))
    return (-kernel.gamma * D).op("Exp")


@kernel_block.register
def _(kernel: InfiniteRBF, x, Z):
    near, far, level = kernel._exponent(Z.shape[1])
    square = near / 2 + far
    exponent = x @ (near * Z.T) - square * (x * x).sum() + (level - square * np.sum(Z**2, axis=1))
    return exponent.op("Exp")


@kernel_block.register
def _(kernel: Arcsine, x, Z):
    a, b = 2.0 * kernel.gamma, 1.0 + 2.0 * kernel.coef0
    own = (a * (x * x).sum() + b).op("Sqrt")
    others = np.sqrt(a * np.sum(Z**2, axis=1) + b)
    return 2.0 / np.pi * arcsine((a * (x @ Z.T) + 2.0 * kernel.coef0) / own / others)


@kernel_block.register
def _(kernel: Precomputed, x, Z):
    raise ExportError(
        "kernel='precomputed' cannot be written as ONNX, for the kernel is worked out by the "
        "caller; fit with a kernel that is given by name."
    )


@kernel_block.register
def _(kernel: Pairwise, x, Z):
    name = getattr(kernel.function, "__name__", repr(kernel.function))
    raise ExportError(
        f"The kernel {name} is a Python function and cannot be written as ONNX; fit with a kernel "
        "that is given by name."
    )
