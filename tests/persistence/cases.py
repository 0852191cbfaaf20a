"""Models of every class that a file may hold, with rows and targets to fit them to."""

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor, make_column_selector
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.metrics.pairwise import chi2_kernel
from sklearn.neighbors import KNeighborsTransformer
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    StandardScaler,
)

import ulmus.kernels
from ulmus import (
    ELMNMF,
    ConjugateGradients,
    ELMClassifier,
    ELMEmbedding,
    ELMKMeans,
    ELMLayout,
    ELMRegressor,
    ELMSpectralClustering,
    GraphELMClassifier,
    KernelELMClassifier,
    KernelELMRegressor,
    KernelFeatures,
    KNNGraph,
    LowRank,
    ManifoldELMClassifier,
    RandomFeatures,
    Randomized,
    RBFFeatures,
    RowFeatures,
    SemiSupervisedELMClassifier,
    SemiSupervisedELMRegressor,
    SparseELMClassifier,
)

__all__ = ["CASES", "NAMES", "X", "Y"]

X, Y = load_iris(return_X_y=True)
X, Y = X[::2], Y[::2]
NAMES = np.array(["setosa", "versicolor", "virginica"])[Y]
FEW = np.where(np.arange(len(Y)) % 5, -1, Y)
FEW_NAMES = np.where(FEW < 0, None, NAMES.astype(object))
VALUES = np.where(np.arange(len(Y)) % 3, np.nan, X[:, 0])
SINGLE, SPARSE, SWAPPED = X.astype(np.float32), sp.csr_matrix(X), X.astype(">f8")
FRAME = pd.DataFrame(X, columns=list("abcd")).assign(kind=pd.Categorical(NAMES).astype(object))
GIVEN = X @ X.T + np.eye(len(X))
NEIGHBOURS = KNNGraph(4).affinity(X)
COLUMNS = ColumnTransformer(
    [
        ("one", OneHotEncoder(handle_unknown="ignore", min_frequency=10), ["kind"]),
        ("two", make_pipeline(SimpleImputer(), StandardScaler()), make_column_selector("[ab]")),
    ],
    remainder="passthrough",
)
# Sizes in words, of which some are rare, and blanks.
SIZES = pd.DataFrame({"size": [f"{x:.0f}" if x < 6.5 else np.nan for x in X[:, 0]]}, dtype=object)
ENCODERS = make_union(
    OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=20, sparse_output=False),
    OrdinalEncoder(min_frequency=20, encoded_missing_value=-1),
)
few = {"n_hidden": 15, "random_state": 0}
point = {"C": 10.0, "lam": 0.1, **few}

CASES = {
    "elm": (ELMClassifier(**few), X, Y),
    "elm, more units than rows": (ELMClassifier(C=1.0, random_state=0), X, Y),
    "elm, widths": (ELMClassifier(n_hidden="loo", C=[0.1, 1], random_state=0), X, NAMES),
    "elm, two classes": (ELMClassifier(C=1.0, **few), X[:50], NAMES[:50].astype(object)),
    "elm, float32": (ELMClassifier(dtype=np.float32, **few), SINGLE, Y),
    "elm, sparse": (ELMClassifier(class_weight={0: 1.0, 1: 2.0, 2: 1}, **few), SPARSE, Y),
    "elm, foreign bytes": (ELMClassifier(class_weight="balanced", **few), SWAPPED, Y),
    "elm, sketch": (ELMClassifier(solver=Randomized(10), n_hidden=40, random_state=0), X, Y),
    "elm, rbf": (ELMClassifier(RBFFeatures(15, random_state=0)), X, Y),
    "elm, frozen": (ELMClassifier(FrozenEstimator(RandomFeatures(9, random_state=0).fit(X))), X, Y),
    "elm, Nystroem": (ELMClassifier(Nystroem(n_components=9, random_state=0)), X, Y),
    "elm, RBFSampler": (ELMClassifier(RBFSampler(n_components=9, random_state=0)), X, Y),
    "elm, union": (
        ELMClassifier(make_union(StandardScaler(), PCA(2), TruncatedSVD(2, random_state=0))),
        X,
        Y,
    ),
    "elm, powers": (
        ELMClassifier(make_pipeline(MinMaxScaler(), PolynomialFeatures(2), memory="cache")),
        X,
        Y,
    ),
    "elm, random state": (
        ELMClassifier(n_hidden=9, random_state=np.random.RandomState(3)),
        X,
        Y,
    ),
    "pipeline": (make_pipeline(FunctionTransformer(np.log1p), ELMClassifier(**few)), X, NAMES),
    "columns": (make_pipeline(COLUMNS, ELMClassifier(**few)), FRAME, NAMES),
    "rare and missing": (make_pipeline(ENCODERS, ELMClassifier(**few)), SIZES, NAMES),
    "regressor": (ELMRegressor(**few), X, X[:, 0]),
    "regressor, outputs": (ELMRegressor(C=1.0, fit_intercept=False, **few), X, X[:, :2]),
    "regressor, transformed": (
        TransformedTargetRegressor(ELMRegressor(**few), transformer=StandardScaler()),
        X,
        X[:, 0],
    ),
    "GELM": (GraphELMClassifier(**few), X, Y),
    "MELM": (ManifoldELMClassifier(C=1.0, **few), X, NAMES),
    "kernel": (KernelELMClassifier(), X, NAMES),
    "kernel, low rank": (KernelELMClassifier("laplacian", rank=12, random_state=0), X, Y),
    "kernel, sparse": (KernelELMClassifier("arcsine", rank=12, random_state=0), SPARSE, Y),
    "kernel, exponential": (KernelELMRegressor("exponential", C=1.0), X, X[:, :2]),
    "kernel, infinite": (KernelELMClassifier("infinite_rbf", C=1.0), SINGLE, Y),
    "kernel, tolerance": (KernelELMClassifier(method=LowRank(tol=0.1), C=1.0), X, Y),
    "kernel, cosine": (KernelELMClassifier("cosine", C=1.0), X, Y),
    "kernel, sigmoid": (KernelELMClassifier("sigmoid", rank=9, C=1.0, random_state=0), X, Y),
    "kernel, given": (KernelELMClassifier("precomputed", C=1.0), GIVEN, Y),
    "kernel, an object": (KernelELMClassifier(ulmus.kernels.RBF(0.2), C=1.0), X, Y),
    "kernel, a function": (KernelELMClassifier(chi2_kernel, C=1.0), X, Y),
    "kernel regressor": (KernelELMRegressor("poly", gamma="loo"), X, X[:, :2]),
    "kernel features": (KernelFeatures("linear", rank=3), X, None),
    "kernel features, sketch": (
        KernelFeatures(rank=9, method="randomized", random_state=0),
        X,
        None,
    ),
    "hinge": (SparseELMClassifier(C=1.0, **few), X, NAMES),
    "hinge, kernel": (SparseELMClassifier(kernel="poly", C=1.0), SPARSE, Y),
    "SS-ELM": (SemiSupervisedELMClassifier(**few), X, FEW),
    "SS-ELM, names": (SemiSupervisedELMClassifier(**point), X, FEW_NAMES),
    "SS-ELM, cg": (SemiSupervisedELMClassifier(solver=ConjugateGradients(1e-6), **point), X, FEW),
    "SS-ELM, free": (SemiSupervisedELMClassifier(coupling="free", **few), X, FEW),
    "SS-ELM, graph": (SemiSupervisedELMClassifier(graph=KNNGraph(3, power=2), **point), X, FEW),
    "SS-ELM, affinity": (SemiSupervisedELMClassifier(graph=NEIGHBOURS, **point), X, FEW),
    "SS-ELM, neighbours": (
        SemiSupervisedELMClassifier(graph=KNeighborsTransformer(n_neighbors=4), **few),
        X,
        FEW,
    ),
    "SS-ELM values": (SemiSupervisedELMRegressor(**few), X, VALUES),
    "SS-ELM values, free": (SemiSupervisedELMRegressor(coupling="free", **few), X, VALUES),
    "embedding": (ELMEmbedding(n_components=2, **few), X, None),
    "embedding, free": (ELMEmbedding(n_components=2, coupling="free", **few), X, None),
    "spectral, free": (ELMSpectralClustering(3, coupling="free", **few), X, None),
    "spectral": (ELMSpectralClustering(3, **few), X, None),
    "k-means": (ELMKMeans(3, **few), X, None),
    "layout": (ELMLayout(random_state=0), X, None),
    "NMF": (ELMNMF(3, **few), X, None),
    "units": (RandomFeatures(9, activation=np.tanh, weights="orthogonal", random_state=0), X, None),
    "units, relu": (RandomFeatures(9, activation="relu", scaling=None, random_state=0), X, None),
    "units from rows": (
        RowFeatures(9, column_weights=np.linspace(0.5, 1.0, X.shape[1]), random_state=0),
        X,
        None,
    ),
    "RBF units": (RBFFeatures(9, node="robust", width="local", random_state=0), SPARSE, None),
    "graph": (KNNGraph(4, metric="cosine"), None, None),
}
