"""Plots of fitted models, as scikit-learn's Displays. They need the extra ``plot``."""

from ulmus.plotting.cluster_confusion import ClusterConfusionDisplay
from ulmus.plotting.comparisons import (
    CandidatesDisplay,
    ClusterNumberDisplay,
    KernelSpectrumDisplay,
)
from ulmus.plotting.error_path import LOOPathDisplay, SurfaceDisplay
from ulmus.plotting.row_map import EmbeddingDisplay

__all__ = [
    "CandidatesDisplay",
    "ClusterConfusionDisplay",
    "ClusterNumberDisplay",
    "EmbeddingDisplay",
    "KernelSpectrumDisplay",
    "LOOPathDisplay",
    "SurfaceDisplay",
]
