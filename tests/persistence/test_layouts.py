"""Attributes that do not fit each other are refused before compiled code can trust them."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.cluster import KMeans
from sklearn.compose import (
    ColumnTransformer,
    TransformedTargetRegressor,
    make_column_selector,
)
from sklearn.datasets import load_iris
from sklearn.decomposition import NMF, PCA, TruncatedSVD
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.neighbors import KNeighborsTransformer, RadiusNeighborsTransformer
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)

import ulmus
from persistence.forging import save_forged
from ulmus import load, save
from ulmus.exceptions import ModelFileError, UlmusError, UnsupportedModelError
from ulmus.features.scaling import Scaling
from ulmus.kernels import KERNELS, RBF, Pairwise, Polynomial, Precomputed
from ulmus.kernels.pairs import Shifted
from ulmus.persistence import classes, layouts, scikit
from ulmus.persistence.rules import Layout
from ulmus.tables import Table, TableEncoder, fit_table

X, Y = load_iris(return_X_y=True)
X, Y = X[::3], Y[::3]
HOLES = np.round(np.where(X > 6.5, np.nan, X))
RARE = [["a"], ["b"], ["b"], ["c"], ["c"], ["c"]]
SPOTTED = np.array([*RARE, [np.nan]], dtype=object)
TABLE = Table(
    ("size", "kind", "y"),
    {"size": X[:, 0], "kind": np.array(["u", "v"], dtype=object)[Y % 2], "y": X[:, 1]},
)
few = {"n_hidden": 7, "random_state": 0}


def fitted(model, rows=X, y=Y):
    return model.fit(rows, y)


NAN_PLACES = fitted(OrdinalEncoder(), HOLES)._missing_indices

MODELS = {
    "k-means": lambda: fitted(KMeans(3, n_init=1, random_state=0)),
    "NMF": lambda: fitted(NMF(2, random_state=0, max_iter=500)),
    "PCA": lambda: fitted(PCA(2)),
    "SVD": lambda: fitted(TruncatedSVD(2)),
    "Nystroem": lambda: fitted(Nystroem(n_components=5, random_state=0)),
    "sampler": lambda: fitted(RBFSampler(n_components=5, random_state=0)),
    "neighbours": lambda: KNeighborsTransformer(algorithm="brute"),
    "neighbours in a radius": lambda: RadiusNeighborsTransformer(algorithm="brute"),
    "one-hot": lambda: fitted(OneHotEncoder(), RARE),
    "one-hot, rare": lambda: fitted(OneHotEncoder(min_frequency=2, drop="first"), RARE),
    "ordinal": lambda: fitted(OrdinalEncoder(), RARE),
    "ordinal, NaN": lambda: fitted(OrdinalEncoder(), HOLES),
    "ordinal, NaN and rare": lambda: fitted(OrdinalEncoder(min_frequency=2), SPOTTED),
    "powers": lambda: fitted(PolynomialFeatures(2)),
    "standard": lambda: fitted(StandardScaler()),
    "robust": lambda: fitted(RobustScaler()),
    "min-max": lambda: fitted(MinMaxScaler()),
    "max-abs": lambda: fitted(MaxAbsScaler()),
    "imputer": lambda: fitted(SimpleImputer()),
    "imputer, indicator": lambda: fitted(SimpleImputer(add_indicator=True), HOLES),
    "indicator": lambda: fitted(MissingIndicator(features="all")),
    "columns": lambda: fitted(ColumnTransformer([("a", StandardScaler(), [0, 1])])),
    "named columns": lambda: fitted(
        ColumnTransformer([("a", StandardScaler(), ["a", "b"])]),
        pd.DataFrame(X, columns=list("abcd")),
    ),
    "all columns": lambda: fitted(
        ColumnTransformer(
            [("a", StandardScaler(), make_column_selector("[ab]"))], remainder="passthrough"
        ),
        pd.DataFrame(X, columns=list("abcd")),
    ),
    "pipeline": lambda: fitted(make_pipeline(StandardScaler(), PCA(2))),
    "union": lambda: fitted(make_union(StandardScaler(), PCA(2))),
    "function": lambda: FunctionTransformer(np.tanh),
    "target": lambda: TransformedTargetRegressor(
        ulmus.ELMRegressor(**few), transformer=StandardScaler()
    ).fit(X, X[:, 0]),
    "units": lambda: fitted(ulmus.RandomFeatures(7, random_state=0)),
    "units from rows": lambda: fitted(ulmus.RowFeatures(7, random_state=0)),
    "RBF units": lambda: fitted(ulmus.RBFFeatures(7, random_state=0)),
    "kernel features": lambda: fitted(ulmus.KernelFeatures(rank=5, random_state=0)),
    "elm": lambda: fitted(ulmus.ELMClassifier(**few)),
    "regressor": lambda: ulmus.ELMRegressor(**few).fit(X, X[:, 0]),
    "kernel": lambda: fitted(ulmus.KernelELMClassifier(C=1.0)),
    "kernel, given": lambda: fitted(ulmus.KernelELMClassifier("precomputed", C=1.0), X @ X.T),
    "kernel, sparse rows": lambda: fitted(
        ulmus.KernelELMClassifier("rbf", C=1.0), sp.csr_array(np.where(X > 3, X, 0.0))
    ),
    "kernel, sparse rows as they are": lambda: fitted(
        ulmus.KernelELMClassifier("rbf", C=1.0, scaling=None), sp.csr_array(np.where(X > 3, X, 0.0))
    ),
    "hinge": lambda: fitted(ulmus.SparseELMClassifier(**few)),
    "hinge, kernel": lambda: fitted(ulmus.SparseELMClassifier(kernel="rbf")),
    "embedding": lambda: fitted(ulmus.ELMEmbedding(**few)),
    "spectral": lambda: fitted(ulmus.ELMSpectralClustering(3, coupling="tight", **few)),
    "ELM k-means": lambda: fitted(ulmus.ELMKMeans(3, **few)),
    "ELM NMF": lambda: fitted(ulmus.ELMNMF(3, **few)),
    "SS-ELM": lambda: fitted(
        ulmus.SemiSupervisedELMClassifier(**few), X, np.where(np.arange(len(Y)) % 5, -1, Y)
    ),
    "table": lambda: fit_table(TABLE, "y"),
    "graph": lambda: ulmus.KNNGraph(3),
}
HUGE = 10**400
ENCODER = TableEncoder().fit(TABLE.without("y"))
NAN = np.full((2, 4), np.nan)
KEPT = ulmus.reservoir.Reservoir(0, 20).add(X, Y)


def arrays(name, shape, *others):
    """Another shape, a NaN, text, and no array at all."""
    wrong = np.ones(shape)
    return [
        {name: np.ones(tuple(n + 1 for n in shape))}, {name: np.full(shape, np.nan)},
        {name: wrong.astype("U3")}, {name: wrong[..., None]}, {name: None}, {name: 7.0},
        {name: wrong.astype(complex)}, *({name: other} for other in others),
    ]  # fmt: skip


CHANGES = {
    "k-means": [
        *arrays("cluster_centers_", (3, 4), np.ones((3, 4), order="F")),
        {"n_clusters": 4}, {"n_features_in_": 3}, {"n_features_in_": 4.0}, {"algorithm": "none"},
    ],
    "NMF": [
        *arrays("components_", (2, 4)), {"max_iter": 10**9}, {"_n_components": 3},
        {"alpha_W": 1e308},
    ],
    "PCA": [
        *arrays("components_", (2, 4)), *arrays("mean_", (4,)), {"whiten": "yes"},
        *arrays("explained_variance_", (2,)),
        {"whiten": True, "explained_variance_": np.array([1.0, -1.0])},
    ],
    "SVD": arrays("components_", (2, 4)),
    "Nystroem": [
        *arrays("components_", (5, 4)), *arrays("normalization_", (5, 5)), {"kernel": 3},
        {"n_jobs": "many"}, {"n_jobs": 10**9}, {"kernel": np.tanh}, {"kernel_params": {0: 1}},
        {"kernel_params": {"gamma": "wide"}},
    ],
    "sampler": [*arrays("random_weights_", (4, 5)), {"n_components": 4}],
    "neighbours": [
        {"_fit_X": X}, {"n_samples_fit_": 9}, {"_fit_method": "brute"}, {"n_features_in_": 4},
        {"effective_metric_": "euclidean"}, {"_tree": None},
    ],
    "neighbours in a radius": [{"_fit_X": X}, {"n_samples_fit_": 9}, {"_fit_method": "brute"}],
    "one-hot": [
        {"_n_features_outs": [9]}, {"_n_features_outs": [2]}, {"categories_": []},
        {"categories_": [np.arange(9)]}, {"categories_": [np.array([3.0, 1.0, 2.0])]},
        {"categories_": [np.array([1.0, np.nan, 2.0])]}, {"categories_": ["abc"]},
        {"_infrequent_enabled": True, "_infrequent_indices": [np.array([10**6])],
         "_default_to_infrequent_mappings": [None]},
        {"dtype": object}, {"n_features_in_": 2}, {"_infrequent_enabled": 1},
        {"dtype": np.dtype(float).newbyteorder()},
        {"dtype": np.float16}, {"_n_features_outs": np.int64(3)},
    ],
    "one-hot, rare": [
        {"_infrequent_indices": [np.array([10**6])]}, {"_infrequent_indices": [None]},
        {"_default_to_infrequent_mappings": [np.array([0, 1, 9])]},
        {"_default_to_infrequent_mappings": [np.array([0, -1, 1])]},
        {"_default_to_infrequent_mappings": [np.array([0, 1])]},
        {"_drop_idx_after_grouping": np.array([7], dtype=object)},
        {"_drop_idx_after_grouping": np.array([None], dtype=object)},
    ],
    "ordinal": [
        {"categories_": [np.array([2.0, 1.0])]}, {"_missing_indices": {9: 1}},
        {"_missing_indices": None}, {"_infrequent_enabled": True}, {"dtype": "O"},
        {"_missing_indices": {0: 1}}, {"_missing_indices": {0: []}},
        *({"handle_unknown": "use_encoded_value", "unknown_value": value, "dtype": dtype}
          for value, dtype in ((10**30, "int64"), (-1, "uint8"), (1e9, "float16"), (HUGE, "f8"))),
    ],
    "ordinal, NaN": [
        {"_missing_indices": {}}, {"_missing_indices": {0: 1}}, {"_missing_indices": {0: [2]}},
        {"_missing_indices": {float(j): i for j, i in NAN_PLACES.items()}},
        {"_missing_indices": {j: float(i) for j, i in NAN_PLACES.items()}},
        {"dtype": "int64"}, {"encoded_missing_value": HUGE},
    ],
    "ordinal, NaN and rare": [
        {"_missing_indices": {}}, {"categories_": [np.array(list("abc"), dtype=object)]},
        {"_infrequent_indices": [np.array([3])]},
        *({"_default_to_infrequent_mappings": [np.array(places)]}
          for places in ([0, 1], [2, 0, 3], [2, 0, 1, 2])),
    ],
    "powers": [
        {"_n_out_full": 16}, {"n_output_features_": 16}, {"_max_degree": 3}, {"degree": 3},
        {"_max_degree": 60, "degree": 60}, {"_min_degree": -1}, {"include_bias": "yes"},
    ],
    "standard": [
        *arrays("mean_", (4,)), *arrays("scale_", (4,)), {"scale_": np.zeros(4)},
        {"_sklearn_output_config": 3}, {"with_mean": 3},
    ],
    "robust": [*arrays("center_", (4,)), *arrays("scale_", (4,)), {"scale_": np.full(4, 5e-324)}],
    "min-max": [
        *arrays("min_", (4,)), *arrays("scale_", (4,)), {"clip": "no"},
        *({"clip": True, "feature_range": ends}
          for ends in ((0, HUGE), ("a", "b"), (1, 0), (0.0, np.nan), (1,), None)),
    ],
    "max-abs": [*arrays("scale_", (4,)), {"scale_": np.zeros(4)}],
    "imputer": [
        {"statistics_": np.ones(3)}, {"statistics_": [1.0]}, {"indicator_": 3},
        {"_fill_dtype": "float"}, {"indicator_": fitted(MissingIndicator())},
        {"missing_values": HUGE},
    ],
    "imputer, indicator": [{"indicator_": fitted(MissingIndicator(sparse=True), HOLES)}],
    "indicator": [
        {"missing_values": HUGE},
        {"features_": np.array([0, 9])}, {"_n_features": 3}, {"_precomputed": 2}],
    "named columns": [{"transformers_": [("a", StandardScaler().fit(X[:, :2]), ["a", "a"])]}],
    "all columns": [{"feature_names_in_": np.array(list("abdd"), dtype=object)}],
    "columns": [
        {"transformers_": [("a", StandardScaler(), [9])]}, {"transformers_": [("a", 3, [0])]},
        {"transformers_": [("z", StandardScaler(), [0])]}, {"transformers_": "abc"},
        {"_transformer_to_input_indices": {"a": [9], "remainder": []}},
        {"_transformer_to_input_indices": {"a": [0], "remainder": [1, 2, 3]}},
        {"transformers_": [("a", StandardScaler(), ["nowhere"])]}, {"n_jobs": 2.5},
        {"transformer_weights": {"a": "heavy"}},
    ],
    "pipeline": [{"steps": []}, {"steps": [("a", 3)]}, {"steps": [(1, StandardScaler())]}],
    "union": [{"transformer_list": [("a", "b")]}, {"transformer_weights": {"a": None}}],
    "function": [
        {"kw_args": {"where": False}}, {"kw_args": {"out": np.zeros(3)}}, {"kw_args": [1]},
        {"func": "tanh"}, {"inv_kw_args": {"where": False}}, {"validate": "no"},
        {"feature_names_out": np.tanh}, {"feature_names_out": str}, {"feature_names_in_": True},
        {"feature_names_in_": np.array(["a"], dtype=object)}, {"n_features_in_": "a"},
    ],
    "target": [
        {"regressor_": None}, {"transformer_": np.float64}, {"_training_dim": 9},
        {"regressor_": fitted(ulmus.ELMSpectralClustering(3, **few))},
        *({"transformer_": fitted(other)} for other in (
            PCA(2), NMF(2, max_iter=500), StandardScaler(), make_pipeline(MinMaxScaler(), PCA(2)),
            FrozenEstimator(fitted(PCA(2))), SimpleImputer(), OrdinalEncoder(),
        )),
        {"transformer_": make_pipeline(fitted(StandardScaler()), fitted(PCA(1), X[:, :3]))},
        {"regressor_": fitted(TransformedTargetRegressor(ulmus.ELMRegressor(**few)), X, X[:, :2])},
    ],
    "units": [
        *arrays("weights_", (7, 4)), *arrays("biases_", (7,)), {"scaling_": None},
        {"activation": "cube"}, {"dtype": "int8"}, {"n_features_in_": 5}, {"dtype": np.float16},
        {"feature_names_in_": np.array(["a"], dtype=object)}, {"scaling": "none"},
    ],
    "units from rows": [
        *arrays("weights_", (4, 4)), *arrays("centers_", (3, 4)), *arrays("rates_", (3,)),
        {"centers_": np.ones((2, 4)), "rates_": np.ones(2)}, {"scaling": "none"},
    ],
    "RBF units": [*arrays("centers_", (7, 4)), *arrays("rates_", (7,)), {"node": "cube"}],
    "kernel features": [
        *arrays("landmarks_", (5, 4)), *arrays("weights_", (5, 5)), {"rank_": 4},
        {"kernel_": "rbf"}, {"kernel": "precomputed"}, {"kernel_": Precomputed()},
    ],
    "elm": [
        *arrays("beta_", (7, 3)), *arrays("intercept_", (3,)), {"features_": 3},
        {"features_": np.float64}, {"classes_": np.array([0, 1])}, {"classes_": [0, 1, 2]},
        {"temperature_": 0.0}, {"temperature_": "1"}, {"dtype": 7}, {"n_features_in_": True},
        {"classes_": np.array([0.0, 1.0, np.nan])}, {"temperature_": 1e308},
        {"class_scaling_": np.ones((2, 4))}, {"class_scaling_": np.full((2, 3), 99.0)},
        {"class_scaling_": np.zeros((2, 3))}, {"class_scaling_": "1"},
        {"temperature_": np.ones(3)}, {"_indicator": True}, {"_indicator": 1},
    ],
    "regressor": [{"_flat": 1}, {"beta_": np.ones((7, 2)), "intercept_": np.ones(2)}],
    "kernel": [
        *arrays("landmarks_", (50, 4)), *arrays("dual_coef_", (50, 3)), {"kernel_": np.float64},
        {"kernel_": Precomputed()}, {"kernel": np.ones(3)}, {"scaling_": None},
    ],
    "kernel, given": [
        {"landmarks_": np.arange(50) + 1}, {"landmarks_": np.arange(50) - 1},
        {"landmarks_": np.ones(50)}, {"kernel_": RBF(1.0)},
    ],
    "kernel, sparse rows": [
        {"landmarks_": sp.csr_array((50, 9))}, {"scaling": None},
        {"landmarks_": sp.csr_array(np.eye(50, 4))},
    ],
    "kernel, sparse rows as they are": [
        {"landmarks_": Shifted(sp.csr_array(np.eye(50, 4)), np.ones(4))},
        {"scaling_": MODELS["kernel, sparse rows"]().scaling_},
    ],
    "hinge": [*arrays("beta_", (7, 3)), {"dual_coef_": np.ones((2, 2))}, {"kernel": "rbf"}],
    "hinge, kernel": [
        {"support_vectors_": np.ones((2, 2))}, {"kernel": None}, {"scaling_": None},
        {"scaling": None},
    ],
    "embedding": [*arrays("beta_", (7, 2)), {"row_normalize": None}],
    "spectral": [{"kmeans_": None}, {"embedding_": PCA(2)}, {"kmeans_": KMeans(3)}],
    "ELM k-means": [
        {"kmeans_": None}, {"kmeans_": KMeans(3)}, {"cluster_centers_": np.ones((2, 7))},
        {"n_clusters": 10**9}, {"cluster_centers_": np.ones((3, 6))},
        {"cluster_centers_": np.ones((3, 7), np.float32)},
    ],
    "ELM NMF": [
        {"cluster_centers_": np.ones((3, 7))}, {"cluster_centers_": np.ones((3, 3), np.float32)},
        {"nmf_": NMF(3)}, {"components_": None}, {"n_clusters": 4}],
    "SS-ELM": [*arrays("beta_", (7, 3)), {"temperature_": np.inf}],
    "table": [
        {"encoder": None}, {"view": PCA(2)}, {"estimator": None}, {"target": 3}, {"task": "sort"},
        *({"encoder": replace(ENCODER, columns=ENCODER.columns | {"kind": other})} for other in (
            {"kind": "category", "categories": ("u",)},
            {"kind": "category", "categories": ("u", "v"), "blank": True},
        )),
        {"task": "classification"}, {"estimator": MODELS["elm"]()},
        {"task": "classification", "estimator": MODELS["ELM k-means"]()},
        {"encoder": replace(ENCODER, feature_names_out=ENCODER.feature_names_out[1:])},
    ],
    "graph": [],
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_what_does_not_fit_is_refused(name, tmp_path):
    path, model = tmp_path / "model.ulmus", MODELS[name]()
    save(model, path)
    load(path)
    for change in CHANGES[name]:
        other = MODELS[name]() if name == "table" else model
        before = dict(vars(other))
        vars(other).update(change)
        save_forged(other, path)
        if change == {"n_jobs": 10**9}:
            assert load(path).n_jobs < 10**6
            continue
        with pytest.raises(ModelFileError):
            raise AssertionError(f"{name} with {change} is {load(path)}")
        vars(other).clear()
        vars(other).update(before)


@pytest.mark.parametrize(
    "columns",
    [
        [0, 2], [-1, 1], ["d", "a"], slice(0, 2), slice("b", "c"), slice(None, "b"),
        slice("c", None), slice(None), [True, False, True, False], np.array([1, 2]),
        make_column_selector("[ab]"),
    ],
    ids=lambda value: None if callable(value) else str(value),
)  # fmt: skip
def test_columns_are_read_however_they_were_chosen(columns, tmp_path):
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = ColumnTransformer([("a", StandardScaler(), columns)], remainder="passthrough")
    model.fit(frame)
    save(model, tmp_path / "model.ulmus")
    assert_array_equal(load(tmp_path / "model.ulmus").transform(frame), model.transform(frame))


@pytest.mark.parametrize("name", ["_fit_dtype", "_fill_dtype"])
def test_fills_that_are_words_are_no_numbers(name, tmp_path):
    words = np.array([["a", "b"], ["a", "c"]], dtype=object)
    model = SimpleImputer(strategy="most_frequent").fit(words)
    save(model, tmp_path / "model.ulmus")
    assert_array_equal(load(tmp_path / "model.ulmus").transform(words), words)
    setattr(model, name, np.dtype("g"))
    save_forged(model, tmp_path / "model.ulmus")
    with pytest.raises(ModelFileError):
        load(tmp_path / "model.ulmus")


def test_what_could_not_be_read_is_not_saved(tmp_path):
    for model, why in (
        (fitted(KNeighborsTransformer(algorithm="brute")), "a fitted KNeighborsTransformer holds"),
        (fitted(KNeighborsTransformer(algorithm="kd_tree")), "KDTree"),
        (fitted(NMF(2, max_iter=10**6, random_state=0)), "max_iter of NMF does not fit"),
    ):
        with pytest.raises(UnsupportedModelError, match=why):
            save(model, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_every_class_that_a_file_may_hold_has_a_layout():
    public = {f"ulmus.{name}" for name in ulmus.__all__ if name[0].isupper()}
    kernels = {f"ulmus.kernels.{cls.__name__}" for cls in (Pairwise, *KERNELS.values())}
    assert set(classes._KNOWN) == kernels.union(public, layouts.PARTS, scikit.LAYOUTS)
    unchecked = [known for known in classes._KNOWN.values() if known.layout == Layout()]
    # Parameters and no fitted state, which are checked where they are used; or no state at all.
    parameters = {"sklearn.compose.make_column_selector", "ulmus.LowRank"}
    parameters |= {"ulmus.ConjugateGradients", "ulmus.Randomized"}
    assert {known.name for known in unchecked if vars(known.load()())} == parameters


@pytest.mark.parametrize(
    "name",
    [
        "conformal.LeftOut",
        "features.scaling.ColumnStatistics",
        "features.scaling.Scaling",
        "graphs.Laplacian",
        "kernels.pairs.Shifted",
        "methods.manifold_basis.ManifoldBasis",
        "methods.pool.Pooled",
        "methods.propagation.SpreadLabels",
        "methods.pseudo_ridge.PseudoRidge",
        "problem.Moments",
        "reservoir.Reservoir",
        "tables.TableEncoder",
        "tables.TableModel",
        "tables.clipped_columns.ClippedColumns",
        "targets.ClassTargets",
        "targets.ValueTargets",
    ],
)
def test_classes_are_found_by_the_names_that_they_had_in_earlier_files(name):
    entry = classes.known(f"ulmus.{name}")
    assert entry is not None, "a class that has moved needs a line in classes._MOVED"
    assert entry.load().__name__ == name.rpartition(".")[2]


class Variant(ulmus.ELMRegressor):
    """An estimator that no file knows."""


@pytest.mark.parametrize(
    "change", [*arrays("beta_", (7, 1)), *arrays("intercept_", (1,)), {"_flat": 1}], ids=str
)
def test_a_class_without_an_entry_is_checked_by_what_it_declares(change):
    model, layout = Variant(**few).fit(X, X[:, 0]), layouts.layout_of(Variant)
    layout.check(model)
    vars(model).update(change)
    with pytest.raises(ValueError, match="Variant"):
        layout.check(model)


@pytest.mark.parametrize(
    "part",
    [
        Polynomial(degree=10**12), Polynomial(degree=2.5), Polynomial(gamma=-1.0), RBF("wide"),
        RBF(float("nan")), ulmus.graphs.Laplacian(sp.csr_array(np.eye(3)), 10**12),
        ulmus.graphs.Laplacian(sp.csr_array(np.ones((2, 3)))), ulmus.graphs.Laplacian(np.eye(3)),
        ulmus.targets.ClassTargets(np.array([0, 9]), 3), ulmus.targets.ValueTargets(NAN),
        replace(KEPT, X=X[:3]), replace(KEPT, X=None), replace(KEPT, y=Y[:3]),
        replace(KEPT, weight=0.0 * KEPT.weight), replace(KEPT, draw=-KEPT.draw),
        replace(KEPT, threshold=float("nan")), replace(KEPT, seed=-1), replace(KEPT, seen=0.5),
        replace(KEPT, total=float("inf")), replace(KEPT, capacity=0),
        Scaling(np.zeros(2), np.ones(2), least=np.zeros(2)),
        Scaling(np.zeros(2), np.ones(2), greatest=np.zeros(2)),
    ],
    ids=repr,
)  # fmt: skip
def test_small_parts_that_cannot_be(part, tmp_path):
    save_forged(part, tmp_path / "part")
    with pytest.raises(ModelFileError):
        load(tmp_path / "part")


def test_attributes_that_a_class_has_itself_cannot_be_set(tmp_path):
    model = fitted(StandardScaler())
    model._parameter_constraints = {}
    save_forged(model, tmp_path / "model")
    with pytest.raises(ModelFileError, match="should not: '_parameter_constraints'"):
        load(tmp_path / "model")


def test_functions_in_files_take_one_array(tmp_path):
    save(FunctionTransformer(np.tanh), tmp_path / "one")
    assert load(tmp_path / "one").func is np.tanh
    for function in (np.add, np.frexp):
        with pytest.raises(ModelFileError, match="func is a function"):
            save(FunctionTransformer(function), tmp_path / "two")


@pytest.mark.parametrize("name", ["elm", "embedding", "ELM k-means", "ELM NMF", "hinge"])
@pytest.mark.parametrize(
    "features",
    [
        lambda: fitted(ulmus.RandomFeatures(7), X[:, :3]),
        lambda: FrozenEstimator(fitted(ulmus.RandomFeatures(7), X[:, :3])),
        lambda: FrozenEstimator(ulmus.RandomFeatures(7)),
    ],
    ids=["of other columns", "frozen, of other columns", "frozen, not fitted"],
)
def test_a_map_from_a_file_that_does_not_suit_is_named(name, features, tmp_path):
    model = MODELS[name]()
    model.features_ = features()
    save_forged(model, tmp_path / "model")
    found = load(tmp_path / "model")
    with pytest.raises((UlmusError, NotFittedError), match="RandomFeatures"):
        (found.predict if hasattr(found, "predict") else found.transform)(X)
