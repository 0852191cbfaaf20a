"""Every model comes back from its file as it was: to the bit, and with all that it could do."""

import io
import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import skops.io as skops
from sklearn.base import clone
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
    PolynomialFeatures,
    StandardScaler,
)

import ulmus
import ulmus.kernels
from persistence.sameness import assert_same
from ulmus import (
    ELMNMF,
    ELMClassifier,
    ELMEmbedding,
    ELMKMeans,
    ELMRegressor,
    ELMSpectralClustering,
    GraphELMClassifier,
    KernelELMClassifier,
    KernelELMRegressor,
    KernelFeatures,
    KNNGraph,
    ManifoldELMClassifier,
    RandomFeatures,
    RBFFeatures,
    SemiSupervisedELMClassifier,
    SemiSupervisedELMRegressor,
    SparseELMClassifier,
    load,
    save,
)

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
    "elm, halko": (ELMClassifier(solver="halko", rank=10, n_hidden=40, random_state=0), X, Y),
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
    "kernel, infinite": (KernelELMClassifier("infinite_rbf", project=False, C=1.0), SINGLE, Y),
    "kernel, given": (KernelELMClassifier("precomputed", C=1.0), GIVEN, Y),
    "kernel, an object": (KernelELMClassifier(ulmus.kernels.RBF(0.2), C=1.0), X, Y),
    "kernel, a function": (KernelELMClassifier(chi2_kernel, C=1.0), X, Y),
    "kernel regressor": (KernelELMRegressor("poly", gamma="loo"), X, X[:, :2]),
    "kernel features": (KernelFeatures("linear", rank=3), X, None),
    "kernel features, halko": (KernelFeatures(rank=9, method="halko", random_state=0), X, None),
    "hinge": (SparseELMClassifier(C=1.0, **few), X, NAMES),
    "hinge, kernel": (SparseELMClassifier(kernel="poly", C=1.0), SPARSE, Y),
    "SS-ELM": (SemiSupervisedELMClassifier(**few), X, FEW),
    "SS-ELM, names": (SemiSupervisedELMClassifier(**point), X, FEW_NAMES),
    "SS-ELM, cg": (SemiSupervisedELMClassifier(solver="cg", tol=1e-6, **point), X, FEW),
    "SS-ELM, free": (SemiSupervisedELMClassifier(coupling="free", **few), X, FEW),
    "SS-ELM, spring": (SemiSupervisedELMClassifier(coupling=1.0, **point), X, FEW),
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
    "NMF": (ELMNMF(3, **few), X, None),
    "units": (RandomFeatures(9, activation=np.tanh, weights="orthogonal", random_state=0), X, None),
    "units, relu": (RandomFeatures(9, activation="relu", scaling=None, random_state=0), X, None),
    "RBF units": (RBFFeatures(9, node="robust", width="local", random_state=0), SPARSE, None),
    "graph": (KNNGraph(4, metric="cosine"), None, None),
}
OUTPUTS = ("predict", "predict_proba", "decision_function", "transform")
FOUND = ("transduction_", "label_distributions_", "labels_", "embedding_")


@pytest.fixture(scope="module")
def fitted():
    """Every case, fitted when it is first asked for."""
    models = {}

    def get(name):
        if name not in models:
            model, rows, y = CASES[name]
            models[name] = model if rows is None else clone(model).fit(rows, y)
        return models[name]

    return get


def assert_answers(model, same, rows):
    for name in OUTPUTS:
        if hasattr(model, name):
            assert_same(getattr(model, name)(rows), getattr(same, name)(rows), name)
    for name in FOUND:
        if hasattr(model, name):
            assert_same(getattr(model, name), getattr(same, name), name)


def back(model, path, **options):
    save(model, path, **options)
    return load(path)


@pytest.fixture(autouse=True)
def folder_of_its_own(tmp_path, monkeypatch):
    """A pipeline with a memory writes where the process is."""
    monkeypatch.chdir(tmp_path)


def test_every_public_class_has_a_case():
    public = {name for name in ulmus.__all__ if name[0].isupper()}
    inside = {type(model).__name__ for model, _, _ in CASES.values()}
    assert public <= inside


@pytest.mark.parametrize("name", CASES)
def test_fitted_models_come_back(name, fitted, tmp_path):
    model, rows = fitted(name), CASES[name][1]
    same = back(model, tmp_path / "model.ulmus")
    assert_same(model, same)
    if rows is not None:
        assert_answers(model, same, rows)


@pytest.mark.parametrize("name", CASES)
def test_unfitted_models_come_back(name, tmp_path):
    model = CASES[name][0]
    same = back(model, tmp_path / "model.ulmus")
    assert_same(model, same)
    assert_same(clone(model), clone(same))


@pytest.mark.parametrize("name", CASES)
def test_pickle_and_joblib_work_too(name, fitted):
    model, rows = fitted(name), CASES[name][1]
    stream = io.BytesIO()
    joblib.dump(model, stream)
    stream.seek(0)
    for same in (pickle.loads(pickle.dumps(model)), joblib.load(stream)):
        assert_same(model, same)
        if rows is not None:
            assert_answers(model, same, rows)


def test_skops_works_as_the_guide_says(fitted):
    content = skops.dumps(fitted("elm"))
    trusted = skops.get_untrusted_types(data=content)
    assert all(name.startswith("ulmus.") for name in trusted)
    assert_answers(fitted("elm"), skops.loads(content, trusted=trusted), X)


@pytest.mark.parametrize("name", ["elm", "elm, rbf", "elm, float32", "regressor", "GELM"])
def test_a_loaded_model_goes_on_learning(name, fitted, tmp_path):
    _, rows, y = CASES[name]
    model = pickle.loads(pickle.dumps(fitted(name)))
    same = back(model, tmp_path / "model.ulmus")
    for part, options in ((slice(0, 9), {}), (slice(5, 40), {"decay": 0.9}), (slice(0, 5), {})):
        for one in (model, same):
            one.partial_fit(rows[part], y[part], **options)
        assert_answers(model, same, rows)
    for one in (model, same):
        one.partial_fit(rows[:5], y[:5], forget=True)
    assert_same(model, same)


def test_a_loaded_model_goes_on_summing(tmp_path, monkeypatch):
    monkeypatch.setattr(ulmus.reservoir, "_LEAST", 20)
    for rows in (X, sp.csr_array(X)):
        model = ELMClassifier(n_hidden=10, random_state=0).fit(rows[::2], Y[::2])
        same = back(model, tmp_path / "model.ulmus")
        for part, options in ((slice(1, 40), {"decay": 0.9}), (slice(1, 20), {"forget": True})):
            for one in (model, same):
                one.partial_fit(rows[part], Y[part], **options)
            assert_same(model, same)


@pytest.mark.parametrize("name", ["SS-ELM", "SS-ELM, cg", "SS-ELM, affinity"])
def test_a_loaded_model_can_be_relabelled(name, fitted, tmp_path):
    model = fitted(name)
    same = back(model, tmp_path / "model.ulmus")
    other = np.where(np.arange(len(Y)) % 4, -1, Y)
    assert_answers(model.relabel(other), same.relabel(other), X)


def test_a_loaded_model_can_be_fitted_again(fitted, tmp_path):
    same = back(fitted("hinge"), tmp_path / "model.ulmus").set_params(warm_start=True)
    same.fit(X, NAMES)
    # The seed's state was stored as well, so the next fit draws what it would have drawn.
    model = CASES["elm, random state"][0]
    same = back(model, tmp_path / "model.ulmus")
    assert_same(clone(model).fit(X, Y).beta_, same.fit(X, Y).beta_)


@pytest.mark.parametrize("name", ["elm", "elm, more units than rows", "SS-ELM", "SS-ELM values"])
def test_what_no_prediction_needs_may_be_left_out(name, fitted, tmp_path):
    model, rows, y = fitted(name), *CASES[name][1:]
    save(model, tmp_path / "whole")
    same = back(model, tmp_path / "part", for_update=False)
    assert (tmp_path / "part").stat().st_size < (tmp_path / "whole").stat().st_size
    for output in OUTPUTS:
        if hasattr(model, output):
            assert_same(getattr(model, output)(rows), getattr(same, output)(rows), output)
    with pytest.raises(ValueError, match="for_update"):
        same.partial_fit(rows, y) if hasattr(same, "partial_fit") else same.relabel(y)


def test_one_array_is_stored_once(fitted, tmp_path):
    same = back(fitted("k-means"), tmp_path / "model.ulmus")
    assert same.cluster_centers_ is same.kmeans_.cluster_centers_
    drawn = back(
        ELMClassifier(RandomFeatures(random_state=(state := np.random.RandomState(0)))).set_params(
            random_state=state
        ),
        tmp_path / "model.ulmus",
    )
    assert drawn.random_state is drawn.features.random_state


def test_a_file_is_no_larger_than_its_arrays_and_a_tenth(tmp_path):
    wide = np.random.default_rng(0).standard_normal((1100, 30))
    model = ELMClassifier(n_hidden=600, C=1.0, random_state=0).fit(wide, np.arange(1100) % 10)
    save(model, tmp_path / "model.ulmus")
    moments, units = model._moments, model.features_
    arrays = [model.beta_, moments.gram, moments.cross, units.weights_, units.biases_]
    arrays.append(model._kept.X)
    assert (tmp_path / "model.ulmus").stat().st_size < 1.1 * sum(a.nbytes for a in arrays)
    # Half of a symmetric matrix is enough.
    assert (tmp_path / "model.ulmus").stat().st_size < 0.8 * moments.gram.nbytes + arrays[-1].nbytes
    same = load(tmp_path / "model.ulmus")
    assert_same(model, same)
    assert same._moments.gram.flags.f_contiguous == moments.gram.flags.f_contiguous


def test_the_same_model_gives_the_same_bytes(fitted, tmp_path):
    for name in ("one", "two"):
        save(fitted("columns"), tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
