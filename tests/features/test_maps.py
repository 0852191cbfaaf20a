"""Every map is its formula, in naive NumPy, on rows of every kind."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import erf, expit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from ulmus import (
    KernelFeatures,
    RandomFeatures,
    RBFFeatures,
    RowFeatures,
    SemiSupervisedELMClassifier,
)
from ulmus.exceptions import InvalidParameterError
from ulmus.features.hidden_layer import layer_of
from ulmus.features.scaling import ColumnStatistics, Scaling

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 4)) * [1.0, 10.0, 0.1, 3.0] + [0.0, 50.0, -1.0, 2.0]
ACTIVATIONS = {
    "sigmoid": expit,
    "tanh": np.tanh,
    "relu": lambda Z: np.maximum(Z, 0.0),
    "sin": np.sin,
    "erf": erf,
    "gaussian": lambda Z: np.exp(-(Z**2)),
}
NODES = {
    "gaussian": lambda D, b: np.exp(-b * D),
    "random_gaussian": lambda D, b: np.exp(-b * D),
    "exponential": lambda D, b: np.exp(-np.sqrt(b * D)),
    "robust": lambda D, b: 1.0 / np.sqrt(1.0 + b * D),
}


def scaled(phi):
    return (X - phi.scaling_.center) * phi.scaling_.factor


@pytest.mark.parametrize("weights", ["uniform", "normal", "orthogonal"])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_random_units_are_the_activation_of_a_product(activation, weights):
    phi = RandomFeatures(9, activation=activation, weights=weights, random_state=0).fit(X)
    expected = ACTIVATIONS[activation](scaled(phi) @ phi.weights_.T + phi.biases_)
    assert_allclose(phi.transform(X), expected, rtol=1e-10, atol=1e-12)
    assert_allclose(phi.transform(sp.csr_array(X)), expected, rtol=1e-9, atol=1e-10)
    assert_allclose(phi.transform(X.astype(np.float32)), expected, atol=1e-4)


def test_how_weights_are_drawn():
    options = {"gain": 2.0, "random_state": 0}
    uniform = RandomFeatures(5000, weights="uniform", **options).fit(X).weights_
    assert -2.0 <= uniform.min() < -1.99
    assert 1.99 < uniform.max() <= 2.0
    normal = RandomFeatures(5000, weights="normal", **options).fit(X).weights_
    assert_allclose(normal.std(), 2.0, rtol=0.02)
    four = RandomFeatures(4, weights="orthogonal", random_state=0).fit(X).weights_
    products = four @ four.T
    assert_allclose(products - np.diag(np.diag(products)), 0.0, atol=1e-12)
    assert not RandomFeatures(5, bias=False).fit(X).biases_.any()


def test_a_unit_sees_as_many_columns_as_it_is_given_and_none_that_is_constant():
    rows = np.insert(X, 2, 7.0, axis=1)
    few = RandomFeatures(500, columns_per_unit=2, random_state=0).fit(rows)
    seen = few.weights_ != 0.0
    assert_array_equal(seen.sum(axis=1), 2)
    assert_array_equal(seen.any(axis=0), [True, True, False, True, True])
    every = RandomFeatures(500, random_state=0).fit(rows).weights_
    assert_allclose(few.weights_[seen], np.sqrt(2.0) * every[seen])
    first = RandomFeatures(20, columns_per_unit=2, random_state=0).fit(rows)
    assert_array_equal(first.weights_, few.weights_[:20])
    many = RandomFeatures(500, columns_per_unit=9, random_state=0).fit(rows)
    assert_array_equal(many.weights_, every)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"columns_per_unit": 0}, "columns_per_unit=0"),
        ({"columns_per_unit": 2, "weights": "orthogonal"}, "leave columns_per_unit out"),
    ],
)
def test_columns_that_a_unit_cannot_see_are_refused(options, words):
    with pytest.raises(InvalidParameterError, match=words):
        RandomFeatures(5, **options).fit(X)


@pytest.mark.parametrize("centers", ["rows", "uniform", "normal"])
@pytest.mark.parametrize("node", NODES)
def test_radial_units_are_the_node_of_a_distance(node, centers):
    phi = RBFFeatures(9, node=node, centers=centers, random_state=0).fit(X)
    squares = ((scaled(phi)[:, None] - phi.centers_) ** 2).sum(axis=2)
    expected = NODES[node](squares, phi.rates_)
    assert_allclose(phi.transform(X), expected, rtol=1e-8, atol=1e-10)
    assert_allclose(phi.transform(sp.csr_array(X)), expected, rtol=1e-6, atol=1e-8)


def test_the_width_is_the_mean_distance_to_the_centres():
    phi = RBFFeatures(9, random_state=0).fit(X)
    distances = np.sqrt(((scaled(phi)[:, None] - phi.centers_) ** 2).sum(axis=2))
    assert_allclose(phi.width_, distances[distances > 0].mean(), rtol=0.15)
    assert_allclose(phi.rates_, 0.5 / phi.width_**2)
    local = RBFFeatures(9, width="local", random_state=0).fit(X)
    assert_allclose(local.width_, 0.35 * phi.width_)


@pytest.mark.parametrize("kind", [RandomFeatures, RBFFeatures, RowFeatures])
def test_more_rows_change_the_scale_and_not_the_units(kind):
    phi = kind(6, random_state=0).partial_fit(X[:20])
    units = [getattr(phi, name) for name in phi._units]
    phi.partial_fit(X[20:])
    assert_allclose(phi.scaling_.center, Scaling.auto(ColumnStatistics.of(X)).center)
    for name, before in zip(phi._units, units, strict=True):
        assert_array_equal(getattr(phi, name), before)


@pytest.mark.parametrize("kind", [RandomFeatures, RBFFeatures, RowFeatures])
def test_a_narrower_map_is_its_first_units(kind):
    phi = kind(8, random_state=0).fit(X)
    assert_allclose(phi.truncate(3).transform(X), phi.transform(X)[:, :3])


def test_statistics_of_parts_are_those_of_the_whole():
    weight = RNG.uniform(0.5, 2.0, len(X))
    whole = ColumnStatistics.of(X, weight)
    parts = [ColumnStatistics.of(X[rows], weight[rows]) for rows in (slice(0, 17), slice(17, 60))]
    merged = parts[0].merge(parts[1])
    for name in ("weight", "mean", "deviation", "least", "greatest"):
        assert_allclose(getattr(merged, name), getattr(whole, name), rtol=1e-12)
    mean = np.average(X, axis=0, weights=weight)
    assert_allclose(whole.mean, mean)
    assert_allclose(whole.deviation**2, np.average((X - mean) ** 2, axis=0, weights=weight))


@pytest.mark.parametrize("norm", ["l1", "l2"])
@pytest.mark.parametrize("sparse", [False, True])
def test_a_layer_after_a_normalizer_is_what_the_pipeline_gives(sparse, norm):
    X = np.random.default_rng(0).poisson(0.3, (40, 30)).astype(float)
    X = sp.csr_array(X) if sparse else X
    pipeline = make_pipeline(Normalizer(norm), RandomFeatures(20, random_state=0)).fit(X)
    layer = layer_of(pipeline, X)
    assert_allclose(layer(X) + layer.offset, pipeline.transform(X), atol=1e-12)
    some = layer.units(slice(3, 9))
    assert_allclose(some(X) + some.offset, pipeline.transform(X)[:, 3:9], atol=1e-12)
    assert (layer.width, some.width) == (20, 6)


def test_the_units_of_words_are_placed_once_for_all_blocks(monkeypatch):
    words = sp.random_array((300, 2000), density=0.01, rng=np.random.default_rng(0)).tocsr()
    labels, made = np.where(np.arange(300) % 10 == 0, np.arange(300) // 10 % 2, -1), []
    layer = KernelFeatures.layer
    monkeypatch.setattr(
        KernelFeatures, "layer", lambda self, *given: made.append(1) or layer(self, *given)
    )
    with sklearn.config_context(working_memory=1):
        SemiSupervisedELMClassifier(n_hidden=40, random_state=0).fit(words, labels)
    assert len(made) <= 2
