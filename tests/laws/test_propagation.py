"""Labels on a graph: what conjugate gradients find is what inverses say."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import kneighbors_graph
from sklearn.semi_supervised import LabelSpreading

from ulmus.backends import neighbors
from ulmus.backends.neighbors import exact_neighbors
from ulmus.graphs import KNNGraph, Laplacian, affinity_of, laplacian
from ulmus.methods.prepared import Prepared
from ulmus.methods.propagation import (
    SpreadLabels,
    label_columns,
    label_strengths,
    means,
    spread,
)
from ulmus.targets import ClassTargets, ValueTargets

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 4))
GRAPH = KNNGraph(6).laplacian(X)
DENSE = GRAPH.matrix.toarray()
LAMS = np.array([0.5, 3.0, 99.0, 999.0])


def kernel(lam, matrix=DENSE):
    return np.linalg.inv(np.eye(len(matrix)) + lam * matrix)


# Without its degrees nothing says that the Laplacian is normalised.
LAPLACIANS = pytest.mark.parametrize(
    "graph", [GRAPH, Laplacian(GRAPH.matrix)], ids=["a series", "conjugate gradients"]
)


@LAPLACIANS
@pytest.mark.parametrize("columns", [0, 3, 40])
def test_spreading_is_the_kernel_times_the_labels(columns, graph):
    Y = RNG.normal(size=(150, columns))
    for lam, found in zip(LAMS, spread(graph, Y, LAMS, tol=1e-12), strict=True):
        assert_allclose(found, kernel(lam) @ Y, atol=1e-9)


@LAPLACIANS
def test_small_outputs_far_from_a_label_are_right_too(graph):
    line = laplacian(sp.csr_array(np.diag(np.ones(99), 1) + np.diag(np.ones(99), -1)))
    line = line if graph.degree is not None else Laplacian(line.matrix)
    Y = np.eye(100, 1, dtype=np.float32)
    for lam, found in zip(LAMS, spread(line, Y, LAMS, tol=1e-6), strict=True):
        expected = kernel(lam, line.matrix.toarray()) @ Y
        far = expected > 1e-9
        assert_allclose(found[far], expected[far], rtol=1e-2)


@LAPLACIANS
@pytest.mark.parametrize("steps", [2, 11])
def test_steps_that_do_not_suffice_are_told_with_the_residual(steps, graph):
    Y = RNG.normal(size=(150, 3))
    words = rf"after {steps} steps .* residual of .*raise max_iter"
    with pytest.warns(ConvergenceWarning, match=words):
        spread(graph, Y, LAMS, max_iter=steps)


def labelled(count=30, classes=3, seed=0):
    rng = np.random.default_rng(seed)
    rows = np.sort(rng.choice(150, count, replace=False))
    codes = np.concatenate([np.arange(classes), rng.integers(classes, size=count - classes)])
    return rows, ClassTargets(codes, classes)


def spread_labels(rows, targets, before=None, compared=None, lams=LAMS):
    compared = rows if compared is None else compared
    return SpreadLabels.of(GRAPH, lams, compared, rows, label_columns(targets), before)


def assert_the_same(found, expected):
    assert_allclose(found.between, expected.between, atol=2e-3)
    assert_allclose(found.mass, expected.mass, atol=2e-6)


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_labels_are_spread_from_every_row(kind):
    rows, targets = labelled()
    if kind == "numbers":
        targets = ValueTargets(RNG.normal(size=(30, 2)))
    found = spread_labels(rows, targets)
    Y = label_columns(targets)
    for lam, between, mass in zip(LAMS, found.between, found.mass, strict=True):
        K = kernel(lam)
        assert_allclose(between, K[np.ix_(rows, rows)], atol=2e-3)
        assert_allclose(mass, K[:, rows] @ Y, atol=1e-5)


@pytest.mark.parametrize("count", [3, 25], ids=["a few", "many"])
def test_other_labels_are_spread_as_if_there_had_been_none_before(count):
    rows, targets = labelled()
    before = spread_labels(rows, targets)
    gone, come = rows[:count], np.setdiff1d(np.arange(150), rows)[:count]
    codes = dict(zip(rows, targets.codes, strict=True)) | dict.fromkeys(come, 1)
    codes[rows[-1]] = (codes[rows[-1]] + 1) % 3
    now = np.setdiff1d(np.union1d(rows, come), gone)
    other = ClassTargets(np.array([codes[row] for row in now]), 3)
    assert_the_same(spread_labels(now, other, before), spread_labels(now, other))


def test_a_class_that_comes_before_others_moves_their_mass_along():
    rows, targets = labelled()
    two = ClassTargets(targets.codes[targets.codes > 0] - 1, 2)
    before = spread_labels(rows[targets.codes > 0], two)
    assert_the_same(spread_labels(rows, targets, before), spread_labels(rows, targets))


def test_the_classes_are_those_of_label_spreading():
    rows, targets = labelled(seed=3)
    W = KNNGraph(6).affinity(X)
    y = np.full(150, -1)
    y[rows] = targets.codes
    model = LabelSpreading(lambda a, b=None: W.toarray(), alpha=0.99, max_iter=20_000, tol=1e-12)
    model.fit(X, y)
    # scikit-learn then puts the given labels back only where alpha is zero.
    found = spread_labels(rows, targets, lams=np.array([99.0]))
    P = (1 + means(found.mass[0], targets)) / 2
    assert np.mean(P.argmax(axis=1) == model.transduction_) > 0.99
    assert_allclose(P.sum(axis=1), 1, rtol=1e-5)
    assert_allclose(P, model.label_distributions_, atol=1e-3)


@pytest.mark.parametrize("lam", LAMS)
def test_a_label_that_leaves_says_what_neighbours_would_of_a_row_that_leaves_the_graph(lam):
    rows, targets = labelled()
    i, others, Y = rows[0], rows[1:], label_columns(targets)[1:]
    # The matrix of the other rows, each with the degree that it had.
    rest = np.delete(np.arange(150), i)
    mass = np.linalg.inv((np.eye(150) + lam * DENSE)[np.ix_(rest, rest)])
    mass = mass[:, np.searchsorted(rest, others)] @ Y
    asked = -DENSE[i, rest] @ mass
    assert_allclose(means(asked, targets), means(kernel(lam)[i, others] @ Y, targets), rtol=1e-8)


def test_far_labels_have_the_same_say_whatever_the_degree_of_their_rows():
    rows = np.array([3, 70])
    strengths = label_strengths(GRAPH, rows)
    far = kernel(1e9)[:, rows] * strengths
    assert_allclose(far[:, 0], far[:, 1], rtol=1e-5)
    plain = laplacian(KNNGraph(6).affinity(X), normalized=False)
    assert_allclose(label_strengths(plain, rows), 1.0)


def test_rows_that_no_label_leads_to():
    blocks = sp.block_diag(
        [GRAPH.matrix, KNNGraph(3).laplacian(X[:10]).matrix, sp.csr_array((1, 1))]
    )
    (components,) = Prepared(None, [Laplacian(sp.csr_array(blocks))]).components
    reached = np.isin(components, components[[0, 40]])
    assert_array_equal(reached, np.arange(161) < 150)
    Y = np.zeros((161, 2), dtype=np.float32)
    Y[[0, 40], [0, 1]] = 1.0
    mass = spread(Laplacian(sp.csr_array(blocks)), Y, np.array([1.0, 300.0]), tol=1e-6)
    # Not a rounding error of it is there.
    assert_array_equal(mass.any(axis=(0, 2)), reached)
    nowhere = ClassTargets(np.array([0, 1]), 3)
    assert (means(np.zeros((5, 3)), nowhere) == 0).all()


def test_a_local_width_is_a_quarter_of_the_way_to_the_last_neighbour():
    D = kneighbors_graph(X, 5, mode="distance").toarray()
    t = D.max(axis=1) / 4
    W = np.where(D > 0, np.exp(-(D**2) / (2 * np.outer(t, t))), 0.0)
    found = affinity_of(sp.csr_array(kneighbors_graph(X, 5, mode="distance")), "heat", "local")
    assert_allclose(found.toarray(), np.maximum(W, W.T))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rows", ["apart", "repeated", "far from the origin", "nearly flat"])
def test_neighbours_by_products_are_the_nearest(monkeypatch, dtype, rows):
    Z = np.random.default_rng(1).normal(size=(700, 5))
    if rows == "nearly flat":  # most of the variance in three of thirty directions
        monkeypatch.setattr(neighbors, "_NARROW", 20)
        Z = (
            np.random.default_rng(1).normal(size=(700, 30))
            * np.r_[np.full(3, 5.0), np.full(27, 0.1)]
        )
        assert neighbors._projected(Z - Z.mean(axis=0)).shape == (700, 3)
    if rows == "repeated":
        Z = np.round(Z)
    if rows == "far from the origin":
        Z[::2] = 1e4 + 1e-3 * Z[::2]  # two clouds, whose products lose the difference
    Z = Z.astype(dtype)
    monkeypatch.setattr(neighbors, "_ENTRIES", 2**14)
    gap = np.linalg.norm(Z[:, None].astype(float) - Z[None].astype(float), axis=2)
    np.fill_diagonal(gap, np.inf)
    nearest = np.sort(gap, axis=1)[:, :7]
    G = exact_neighbors(Z, 7)
    assert (np.diff(G.indptr) == 7).all()
    assert (G.indices != np.repeat(np.arange(700), 7)).all()
    scale = 2e-3 if dtype == np.float32 and rows == "far from the origin" else 1e-5
    assert_allclose(np.sort(G.data.reshape(700, 7), axis=1), nearest, rtol=1e-5, atol=scale)
    assert G.shape == (700, 700)


def test_a_graph_of_a_laplacian_not_normalised_is_spread_over_too():
    matrix = laplacian(KNNGraph(6).affinity(X), normalized=False)
    Y = RNG.normal(size=(150, 2))
    (found,) = spread(matrix, Y, np.array([9.0]), tol=1e-12)
    assert_allclose(found, kernel(9.0, matrix.matrix.toarray()) @ Y, atol=1e-9)
