"""Feature maps from X to the hidden layer's output H."""

from ulmus.features.kernel_space import KernelFeatures
from ulmus.features.random_units import RandomFeatures, RBFFeatures
from ulmus.features.row_units import RowFeatures

__all__ = ["KernelFeatures", "RBFFeatures", "RandomFeatures", "RowFeatures"]
