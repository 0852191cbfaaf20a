"""Labels on a graph: what conjugate gradients find is what inverses say."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import kneighbors_graph
from sklearn.semi_supervised import LabelSpreading

from ulmus.backends import neighbors
from ulmus.backends.neighbors import exact_neighbors
from ulmus.exceptions import UnreachedRowsWarning
from ulmus.graphs import KNNGraph, Laplacian, affinity_of, laplacian
from ulmus.methods.iterative import ConjugateGradients
from ulmus.methods.propagation import kernel_blocks, spread
from ulmus.methods.spreading import Spreading
from ulmus.sources.source import OnGraph
from ulmus.targets import ClassTargets, ValueTargets, coded

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 4))
GRAPH = KNNGraph(6).laplacian(X)
DENSE = GRAPH.matrix.toarray()
LAMS = np.array([0.5, 3.0, 99.0, 999.0])


def kernel(lam, matrix=DENSE):
    return np.linalg.inv(np.eye(len(matrix)) + lam * matrix)


def test_one_search_serves_every_lam():
    rows, columns = RNG.choice(150, 20, replace=False), RNG.choice(150, 12, replace=False)
    found = kernel_blocks(GRAPH, rows, columns, LAMS, tol=1e-12)
    for K, lam in zip(found, LAMS, strict=True):
        assert_allclose(K, kernel(lam)[np.ix_(rows, columns)], atol=1e-10)


@pytest.mark.parametrize("lam", LAMS)
def test_spreading_is_the_kernel_times_the_labels(lam):
    Y = RNG.normal(size=(150, 3))
    exact = kernel(lam) @ Y
    cold = spread(GRAPH, Y, lam, tol=1e-12)
    assert_allclose(cold.values, exact, atol=1e-9)
    warm = spread(GRAPH, Y, lam, start=exact + 1e-10, tol=1e-6)
    assert warm.steps == 0
    assert_allclose(warm.values, exact, atol=1e-9)


def test_steps_that_do_not_suffice_are_told_with_the_residual():
    Y = RNG.normal(size=(150, 3))
    with pytest.warns(ConvergenceWarning, match=r"after 2 steps .* residual of .*raise max_iter"):
        found = spread(GRAPH, Y, 99.0, max_iter=2)
    left = np.linalg.norm(Y - found.values - 99.0 * DENSE @ found.values, axis=0)
    assert_allclose(found.residual, (left / np.linalg.norm(Y, axis=0)).max(), rtol=1e-6)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        kernel_blocks(GRAPH, np.arange(3), np.arange(3), LAMS, max_iter=2)


def labelled(count=30, classes=3, seed=0):
    rng = np.random.default_rng(seed)
    known = np.zeros(150, dtype=bool)
    known[rng.choice(150, count, replace=False)] = True
    codes = np.concatenate([np.arange(classes), rng.integers(classes, size=count - classes)])
    return known, ClassTargets(codes, classes)


def said(known, targets, lams, weight=None, matrix=GRAPH):
    weight = np.ones(len(targets)) if weight is None else weight
    source = OnGraph(None, known, targets, weight, matrix)
    return Spreading(1.0, np.asarray(lams), ConjugateGradients(1e-6, 1000)).spread(source)


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_the_error_on_rows_left_out_is_that_of_spreading_without_them(kind):
    known, targets = labelled()
    weight = RNG.uniform(0.5, 2.0, 30)
    if kind == "numbers":
        targets = ValueTargets(RNG.normal(size=(30, 2)))
    found = said(known, targets, LAMS, weight)
    rows = np.flatnonzero(known)
    T = coded(targets, slice(0, 30), np.dtype(float))
    for lam, error in zip(LAMS, found.path["error"], strict=True):
        K, errors = kernel(lam), []
        for i in range(30):
            others = np.delete(np.arange(30), i)
            source = K[rows[i], rows[others]] * weight[others]
            f = source @ T[others] / source.sum()
            wrong = f.argmax() != T[i].argmax()
            errors.append(wrong if kind == "classes" else ((f - T[i]) ** 2).sum())
        assert_allclose(error, np.average(errors, weights=weight), rtol=1e-4)


def test_the_classes_are_those_of_label_spreading():
    known, targets = labelled(seed=3)
    W = KNNGraph(6).affinity(X)
    y = np.full(150, -1)
    y[known] = targets.codes
    model = LabelSpreading(lambda a, b=None: W.toarray(), alpha=0.99, max_iter=20_000, tol=1e-12)
    model.fit(X, y)
    # scikit-learn then puts the given labels back only where alpha is zero.
    found = said(known, targets, [99.0])
    assert np.mean(found.outputs.argmax(axis=1) == model.transduction_) > 0.99
    P = (1 + found.outputs) / 2
    assert_allclose(P.sum(axis=1), 1, rtol=1e-5)
    assert_allclose(P, model.label_distributions_, atol=1e-3)


def test_equal_errors_leave_lam_at_the_usual_value():
    known, _ = labelled()
    only_one_of_each = np.flatnonzero(known)[:3]
    known = np.zeros(150, dtype=bool)
    known[only_one_of_each] = True
    found = said(known, ClassTargets(np.arange(3), 3), LAMS)
    assert found.error is None
    assert found.lam == 99.0


def test_rows_that_no_label_leads_to():
    blocks = sp.block_diag(
        [GRAPH.matrix, KNNGraph(3).laplacian(X[:10]).matrix, sp.csr_array((1, 1))]
    )
    matrix = Laplacian(sp.csr_array(blocks))
    known, targets = labelled()
    known = np.concatenate([known, np.zeros(11, dtype=bool)])
    with pytest.warns(UnreachedRowsWarning, match="11 of 161 rows"):
        found = said(known, targets, LAMS, matrix=matrix)
    assert not found.reached[150:].any()
    assert found.reached[:150].all()
    assert (found.outputs[150:] == 0).all()


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
    found = spread(matrix, Y, 9.0, tol=1e-12)
    assert_allclose(found.values, kernel(9.0, matrix.matrix.toarray()) @ Y, atol=1e-9)
