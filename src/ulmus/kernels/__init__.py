"""Kernels k(x, z): inner products of hidden layers that are never computed.

Every kernel turns two sets of rows into a block of K, in the rows' own library and on their device.
All but `LaplacianKernel` need only the products xᵀz and the squared lengths, so a block is one
matrix product and one elementwise function in place. A kernel is one class, derived from `Kernel`;
``KERNELS`` has the classes by name.
"""

from ulmus.kernels.definition import KERNELS, Kernel, Pairwise, Precomputed, parameter
from ulmus.kernels.functions import (
    RBF,
    Cosine,
    Exponential,
    LaplacianKernel,
    Linear,
    Polynomial,
    Sigmoid,
)
from ulmus.kernels.infinite_layers import Arcsine, InfiniteRBF

__all__ = [
    "KERNELS",
    "RBF",
    "Arcsine",
    "Cosine",
    "Exponential",
    "InfiniteRBF",
    "Kernel",
    "LaplacianKernel",
    "Linear",
    "Pairwise",
    "Polynomial",
    "Precomputed",
    "Sigmoid",
    "parameter",
]
