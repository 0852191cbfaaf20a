from ulmus.backends.streaming import on_device as on_device
from ulmus.estimators.elm import ELMClassifier as ELMClassifier
from ulmus.estimators.elm import ELMRegressor as ELMRegressor
from ulmus.estimators.embedding import ELMEmbedding as ELMEmbedding
from ulmus.estimators.graph_elm import GraphELMClassifier as GraphELMClassifier
from ulmus.estimators.kernel import KernelELMClassifier as KernelELMClassifier
from ulmus.estimators.kernel import KernelELMRegressor as KernelELMRegressor
from ulmus.estimators.kmeans import ELMNMF as ELMNMF
from ulmus.estimators.kmeans import ELMKMeans as ELMKMeans
from ulmus.estimators.layout import ELMLayout as ELMLayout
from ulmus.estimators.manifold_elm import ManifoldELMClassifier as ManifoldELMClassifier
from ulmus.estimators.semi_supervised import (
    SemiSupervisedELMClassifier as SemiSupervisedELMClassifier,
)
from ulmus.estimators.semi_supervised_regressor import (
    SemiSupervisedELMRegressor as SemiSupervisedELMRegressor,
)
from ulmus.estimators.sparse import SparseELMClassifier as SparseELMClassifier
from ulmus.estimators.spectral_clustering import ELMSpectralClustering as ELMSpectralClustering
from ulmus.exporting.onnx_model import save_onnx as save_onnx
from ulmus.exporting.onnx_model import to_onnx as to_onnx
from ulmus.features import KernelFeatures as KernelFeatures
from ulmus.features import RandomFeatures as RandomFeatures
from ulmus.features import RBFFeatures as RBFFeatures
from ulmus.features import RowFeatures as RowFeatures
from ulmus.graphs import KNNGraph as KNNGraph
from ulmus.kernels.kernel_matrix import LowRank as LowRank
from ulmus.kernels.kernel_matrix import Randomized as Randomized
from ulmus.methods.iterative import ConjugateGradients as ConjugateGradients
from ulmus.moving import to_device as to_device
from ulmus.moving import to_host as to_host
from ulmus.persistence import load as load
from ulmus.persistence import save as save
from ulmus.version import __version__ as __version__
