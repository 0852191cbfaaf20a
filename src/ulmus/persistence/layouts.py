"""What the objects of Ulmus in a file must be like before they are handed out.

Only what predictions read is here: sums, paths and scores that a later fit reads are checked there.
"""

from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from ulmus.calibration import TEMPERATURES
from ulmus.features.base import FeatureMap
from ulmus.features.random_units import ACTIVATIONS
from ulmus.features.scaling import Scaling
from ulmus.kernels import Kernel, Pairwise, Precomputed
from ulmus.kernels.definition import parameters_of
from ulmus.kernels.pairs import Shifted
from ulmus.methods.spreading import GraphLabels
from ulmus.persistence.rules import (
    Layout,
    Rule,
    Sizes,
    any_of,
    array,
    flag,
    floats,
    has,
    is_a,
    labels,
    maybe,
    names,
    nothing,
    number,
    places,
    precision,
    size,
    sparse_rows,
    text,
    whole,
    word,
)
from ulmus.problem import Moments
from ulmus.targets import ClassTargets, ValueTargets

__all__ = ["LAYOUTS", "kernel_layout"]

# A graph is raised to its power by as many products.
_MOST_PRODUCTS = 1000


def _function(value: Any, sizes: Sizes) -> bool:
    return isinstance(value, np.ufunc | FunctionType)


def _scaling(dim: str) -> Rule:
    def rule(value: Any, sizes: Sizes) -> bool:
        return isinstance(value, Scaling) and floats(dim)(value.center, sizes)

    return rule


def _shifted(*dims: str) -> Rule:
    def rule(value: Any, sizes: Sizes) -> bool:
        rows = any_of(sparse_rows(*dims), floats(*dims))
        return isinstance(value, Shifted) and rows(value.rows, sizes)

    return rule


def _threshold(value: Any, sizes: Sizes) -> bool:
    return type(value) is float and value > 0


def _counted(kept: Any, sizes: Sizes) -> bool:
    """Rows that weigh something, each drawn from what is below the threshold."""
    return bool((kept.weight > 0).all() and (kept.draw >= 0).all())


def _map(value: Any, sizes: Sizes) -> bool:
    """A transformer; one of our own does not say by itself that it is not fitted."""
    fitted = not isinstance(value, FeatureMap) or hasattr(value, "n_features_in_")
    return fitted and has("transform")(value, sizes)


# ---------------------------------------------------------------- estimators
_COLUMNS: dict[str, Rule] = {"n_features_in_": size("d"), "feature_names_in_": maybe(names("d"))}
_READ: dict[str, Rule] = {"dtype": precision}
_HIDDEN: dict[str, Rule] = {
    **_COLUMNS,
    "features_": _map,
    "beta_": floats("h", "m"),
    "intercept_": floats("m"),
}
_CLASSES: dict[str, Rule] = {"classes_": labels("k")}
_TEMPERATURE: dict[str, Rule] = {"temperature_": number(*TEMPERATURES)}
_VALUES: dict[str, Rule] = {"_flat": flag}


def _one_output_each(model: Any, sizes: Sizes) -> bool:
    """An output for each class, or one for two."""
    return sizes["m"] == sizes["k"] or (sizes["k"], sizes["m"]) == (2, 1)


def _one_column_if_flat(model: Any, sizes: Sizes) -> bool:
    return sizes["m"] == 1 or not model._flat


_CLASSIFIER = Layout({**_HIDDEN, **_CLASSES, **_TEMPERATURE}, _READ, _one_output_each)
_REGRESSOR = Layout({**_HIDDEN, **_VALUES}, _READ, _one_column_if_flat)

# ---------------------------------------------------------------- kernels
_KERNEL: dict[str, Rule] = {**_COLUMNS, "kernel_": is_a(Kernel), "scaling_": _scaling("d")}
_KERNEL_READ: dict[str, Rule] = {
    **_READ,
    "kernel": any_of(text, _function, is_a(Kernel)),
    "scaling": word("auto", None),
}
_DUAL: dict[str, Rule] = {"dual_coef_": floats("l", "m"), "intercept_": floats("m")}


def _landmarks(rows: Any, model: Any, sizes: Sizes) -> bool:
    """Rows of the inputs, or their numbers where the kernel is precomputed."""
    given = model.kernel == "precomputed" if isinstance(model.kernel, str) else False
    if given != isinstance(model.kernel_, Precomputed):
        return False
    if given:
        return places("l", within="d")(rows, sizes)
    if not model._rescales and model.scaling_.shift.any():
        return False
    kinds = [floats("l", "d"), sparse_rows("l", "d")]
    return any_of(*kinds, *[_shifted("l", "d")] * model._rescales)(rows, sizes)


def _kernel_classifier(model: Any, sizes: Sizes) -> bool:
    return _landmarks(model.landmarks_, model, sizes) and _one_output_each(model, sizes)


def _kernel_regressor(model: Any, sizes: Sizes) -> bool:
    return _landmarks(model.landmarks_, model, sizes) and _one_column_if_flat(model, sizes)


def _sparse_classifier(model: Any, sizes: Sizes) -> bool:
    """Hidden rows and β, or a kernel and support vectors."""
    if model.kernel is None:
        Layout(_HIDDEN, _READ).check(model)
        return model.beta_.shape[1] == sizes["m"]
    Layout(_KERNEL, {"kernel": _KERNEL_READ["kernel"]}).check(model)
    given = isinstance(model.kernel_, Precomputed)
    rows = model.support_ if given else model.support_vectors_
    return _landmarks(rows, model, sizes)


def kernel_layout(cls: type[Kernel]) -> Layout:
    """What the kernel itself says of its parameters."""

    def rule(sound: Callable[[Any], bool]) -> Rule:
        return lambda value, sizes: sound(value)

    return Layout({name: rule(sound) for name, sound in parameters_of(cls).items()})


_ANY = has("__init__")

# ---------------------------------------------------------------- clusters
_CLUSTERS: dict[str, Rule] = {
    **_COLUMNS,
    "features_": _map,
    "kmeans_": is_a(object, n_clusters="k"),
    "cluster_centers_": floats("k", "c"),
}
_CLUSTERS_READ: dict[str, Rule] = {**_READ, "n_clusters": size("k")}


def _is_k_means(model: Any, sizes: Sizes) -> bool:
    """The centres are k-means' own, where the model has any."""
    fitted = type(model.kmeans_).__name__ == "KMeans" and hasattr(model.kmeans_, "cluster_centers_")
    if not fitted or not hasattr(model, "cluster_centers_"):
        return fitted
    own, centers = model.cluster_centers_, model.kmeans_.cluster_centers_
    return own.shape == centers.shape and own.dtype == centers.dtype


def _is_factorised(model: Any, sizes: Sizes) -> bool:
    fitted = type(model.nmf_).__name__ == "NMF" and hasattr(model.nmf_, "components_")
    return fitted and model.nmf_.components_.shape[0] == sizes["k"] and _is_k_means(model, sizes)


def _spectral(model: Any, sizes: Sizes) -> bool:
    """Hβ, or an embedding and k-means."""
    if hasattr(model, "beta_"):
        Layout(_HIDDEN, _READ).check(model)
        return True
    embedded = type(model.embedding_).__name__ == "ELMEmbedding" and _is_k_means(model, sizes)
    return embedded and hasattr(model.embedding_, "beta_")


LAYOUTS: dict[str, Layout] = {
    "ulmus.ELMClassifier": _CLASSIFIER,
    "ulmus.ELMEmbedding": Layout(_HIDDEN, {**_READ, "row_normalize": flag}),
    "ulmus.ELMKMeans": Layout(_CLUSTERS, _CLUSTERS_READ, _is_k_means),
    "ulmus.ELMNMF": Layout(
        {**_CLUSTERS, "nmf_": _ANY, "components_": floats("k", "h")}, _CLUSTERS_READ, _is_factorised
    ),
    "ulmus.ELMRegressor": _REGRESSOR,
    "ulmus.ELMSpectralClustering": Layout(
        {**_COLUMNS, "embedding_": _ANY, "kmeans_": _ANY}, _READ, _spectral
    ),
    "ulmus.GraphELMClassifier": _CLASSIFIER,
    "ulmus.KNNGraph": Layout(),
    "ulmus.KernelELMClassifier": Layout(
        {**_KERNEL, **_DUAL, **_CLASSES, **_TEMPERATURE, "landmarks_": _ANY},
        _KERNEL_READ,
        _kernel_classifier,
    ),
    "ulmus.KernelELMRegressor": Layout(
        {**_KERNEL, **_DUAL, **_VALUES, "landmarks_": _ANY}, _KERNEL_READ, _kernel_regressor
    ),
    "ulmus.KernelFeatures": Layout(
        {**_KERNEL, "weights_": floats("l", "r"), "rank_": size("r"), "landmarks_": _ANY},
        _KERNEL_READ,
        lambda model, sizes: _landmarks(model.landmarks_, model, sizes),
    ),
    "ulmus.ManifoldELMClassifier": _CLASSIFIER,
    "ulmus.RBFFeatures": Layout(
        {
            **_COLUMNS,
            "centers_": floats("h", "d"),
            "rates_": floats("h"),
            "scaling_": _scaling("d"),
        },
        {
            **_READ,
            "node": word("gaussian", "random_gaussian", "exponential", "robust"),
            "scaling": word("auto", None),
        },
    ),
    "ulmus.RandomFeatures": Layout(
        {
            **_COLUMNS,
            "weights_": floats("h", "d"),
            "biases_": floats("h"),
            "scaling_": _scaling("d"),
        },
        {
            **_READ,
            "activation": any_of(word(*ACTIVATIONS), _function),
            "scaling": word("auto", None),
        },
    ),
    "ulmus.SemiSupervisedELMClassifier": _CLASSIFIER,
    "ulmus.SemiSupervisedELMRegressor": _REGRESSOR,
    "ulmus.SparseELMClassifier": Layout(
        {**_COLUMNS, **_CLASSES, "dual_coef_": floats("m", "l"), "support_": array("iu", "l")},
        {"kernel": any_of(nothing, _KERNEL_READ["kernel"])},
        lambda model, sizes: _one_output_each(model, sizes) and _sparse_classifier(model, sizes),
    ),
    "ulmus.features.scaling.ColumnStatistics": Layout(
        {
            "weight": number(0, above=True),
            **dict.fromkeys(("mean", "deviation", "least", "greatest"), floats("d")),
        }
    ),
    "ulmus.features.scaling.Scaling": Layout({"center": floats("d"), "factor": floats("d")}),
    "ulmus.graphs.Laplacian": Layout(
        {"matrix": sparse_rows("n", "n"), "power": whole(1, _MOST_PRODUCTS)}
    ),
    "ulmus.kernels.Pairwise": kernel_layout(Pairwise),
    "ulmus.kernels.pairs.Shifted": Layout(
        {"rows": any_of(sparse_rows("n", "d"), floats("n", "d")), "shift": floats("d")}
    ),
    "ulmus.problem.Moments": Layout(
        {
            "gram": floats("h", "h"),
            "cross": floats("h", "b"),
            "energy": floats("b"),
            "hidden": floats("h"),
            "target": floats("b"),
            **dict.fromkeys(("weight", "rows", "rounding"), number()),
        }
    ),
    "ulmus.reservoir.Reservoir": Layout(
        {
            "seed": whole(0, 2**63),
            "capacity": maybe(whole(1, 2**63)),
            "X": any_of(
                sparse_rows("n", "d", types="fd?bBhHiIlLqQ"),
                floats("n", "d"),
                array("biu", "n", "d"),
            ),
            "y": any_of(array("biufUO", "n"), floats("n", "m")),
            "weight": floats("n"),
            "draw": floats("n"),
            "threshold": _threshold,
            "seen": whole(0, 2**63),
            "settled": whole(0, 2**63),
            "total": number(0),
            "fresh": number(0),
        },
        more=_counted,
    ),
    "ulmus.methods.manifold_basis.ManifoldBasis": Layout(
        {"basis": floats("h", "r"), "values": floats("r")}
    ),
    "ulmus.LowRank": Layout(),
    "ulmus.Randomized": Layout(),
    "ulmus.ConjugateGradients": Layout(),
    "ulmus.methods.spreading.Followed": Layout(
        {
            "labels": is_a(GraphLabels),
            "pseudo": is_a(ClassTargets, ValueTargets),
            "C": number(0, above=True),
            "sums": maybe(is_a(Moments)),
        }
    ),
    "ulmus.methods.spreading.GraphLabels": Layout(
        {
            "targets": is_a(ClassTargets, ValueTargets),
            "mass": floats("n", "b"),
            "reached": array("b", "n"),
            "lam": number(),
            "error": maybe(number()),
        }
    ),
    "ulmus.targets.ClassTargets": Layout(
        {"n_classes": size("k"), "codes": places("n", within="k")}
    ),
    "ulmus.targets.ValueTargets": Layout({"values": floats("n", "m")}),
}
