"""Pictures of fitted models, as scikit-learn's Displays. They need the extra ``plot``."""

from ulmus.plotting.confusion import ClusterConfusionDisplay
from ulmus.plotting.embedding import EmbeddingDisplay
from ulmus.plotting.path import LOOPathDisplay
from ulmus.plotting.spectrum import KernelSpectrumDisplay
from ulmus.plotting.surface import SurfaceDisplay

__all__ = [
    "ClusterConfusionDisplay",
    "EmbeddingDisplay",
    "KernelSpectrumDisplay",
    "LOOPathDisplay",
    "SurfaceDisplay",
]
