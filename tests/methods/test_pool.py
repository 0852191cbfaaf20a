"""Candidates for few labels: what is said of a row without its label, and how they are weighed."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs

from ulmus import SemiSupervisedELMClassifier
from ulmus.estimators.row_graphs import graphs_of
from ulmus.graphs import KNNGraph, all_laplacians, laplacian
from ulmus.hidden import GivenRows, Hidden
from ulmus.methods import candidates, pool, weighing
from ulmus.methods import pseudo_ridge as own
from ulmus.methods.candidates import FewLabels, ridge_left_out
from ulmus.methods.propagation import contradicted
from ulmus.methods.pseudo_ridge import SampledRows, own_classes
from ulmus.targets import ClassTargets, ValueTargets, chosen, signed

CODES = np.array([0, 0, 0, 1, 1, 2, 2, 2, 2])


def labels_of(codes, balanced, n_classes=3):
    counts = np.bincount(codes, minlength=n_classes)
    weight = len(codes) / (n_classes * counts[codes]) if balanced else np.ones(len(codes))
    return FewLabels(ClassTargets(codes, n_classes), weight, counts, balanced)


def rows(count, width, seed=0):
    return np.random.default_rng(seed).standard_normal((count, width))


@pytest.mark.parametrize("balanced", [False, True], ids=["plain", "balanced"])
def test_a_row_left_out_of_the_ridge_is_a_fit_without_it(balanced):
    H, labels = rows(9, 5), labels_of(CODES, balanced)
    for C, found in zip(
        (0.3, 20.0), ridge_left_out(H @ H.T, labels, np.array([0.3, 20.0])), strict=True
    ):
        for i in range(9):
            rest = np.delete(np.arange(9), i)
            without = labels_of(CODES[rest], balanced)
            K = H[rest] @ H[rest].T + np.diag(1 / (C * without.weight))
            alone = H[i] @ H[rest].T @ np.linalg.solve(K, without.coded)
            assert_allclose(found[i], alone, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("balanced", [False, True], ids=["plain", "balanced"])
def test_a_row_left_out_of_the_spread_labels_is_a_mean_without_it(balanced):
    A = rows(9, 9)
    K, labels = np.exp(A + A.T)[None], labels_of(CODES, balanced)
    found = candidates.spread_left_out(K, labels)[0]
    for i in range(9):
        rest = np.delete(np.arange(9), i)
        without = labels_of(CODES[rest], balanced)
        share = K[0, i, rest] * without.weight
        assert_allclose(found[i], share @ without.coded / share.sum(), rtol=1e-6)


def test_numbers_that_are_spread_are_left_out_alike():
    A, values = rows(8, 8), rows(8, 2, seed=1)
    K, labels = np.exp(A + A.T)[None], FewLabels(ValueTargets(values), np.ones(8), None, False)
    found = candidates.spread_left_out(K, labels)[0]
    for i in range(8):
        rest = np.delete(np.arange(8), i)
        assert_allclose(found[i], K[0, i, rest] @ values[rest] / K[0, i, rest].sum(), rtol=1e-5)


def test_numbers_are_left_out_alike():
    H, values = rows(8, 3), rows(8, 2, seed=1)
    labels = FewLabels(ValueTargets(values), np.ones(8), None, False)
    (found,) = ridge_left_out(H @ H.T, labels, np.array([2.0]))
    rest = np.arange(1, 8)
    beta = np.linalg.solve(H[rest].T @ H[rest] + np.eye(3) / 2.0, H[rest].T @ values[rest])
    assert_allclose(found[0], H[0] @ beta, rtol=1e-8)


def test_graphs_of_one_search_are_those_of_their_own():
    X = rows(60, 3)
    found = all_laplacians([KNNGraph(k, width="local") for k in (5, 12)], X)
    for k, L in zip((5, 12), found, strict=True):
        own_search = KNNGraph(k, width="local").laplacian(X)
        assert_allclose(L.matrix.toarray(), own_search.matrix.toarray(), atol=1e-12)


def test_there_are_no_more_neighbours_than_rows():
    assert len(graphs_of(None, "pool", 4)) == 1


def clouds(n=120, seed=0):
    rng = np.random.default_rng(seed)
    codes = rng.integers(3, size=n)
    return codes, rng.standard_normal((n, 8)) + 4.0 * np.eye(3, 8)[codes]


def hidden(H):
    return Hidden(GivenRows(H.shape[1], H.dtype, 0.0), H)


def fitted(H, known, labels, C):
    every = hidden(H)
    (found,) = own_classes(SampledRows(every), every.take(known), known, labels, np.array([C]))
    return found


def test_own_classes_find_clusters_from_two_labels_each():
    codes, H = clouds()
    known = np.sort(np.concatenate([np.flatnonzero(codes == c)[:2] for c in range(3)]))
    found = fitted(H, known, labels_of(codes[known], True), 10.0)
    F = H @ found.coef()[:-1] + found.coef()[-1]
    assert np.mean(F.argmax(axis=1) == codes) > 0.97


def test_own_classes_leave_a_part_of_the_labels_out(monkeypatch):
    monkeypatch.setattr(own, "_PARTS", 6)
    codes, H = clouds(seed=3)
    known = np.sort(np.concatenate([np.flatnonzero(codes == c)[:2] for c in range(3)]))
    whole = labels_of(codes[known], False)
    found = fitted(H, known, whole, 1.0).left_out
    without = fitted(H, known[1:], labels_of(codes[known[1:]], False), 1.0)
    assert_allclose(found[0], H[known[0]] @ without.coef()[:-1] + without.coef()[-1], atol=1e-5)


@pytest.mark.parametrize("most", [2000, 60], ids=["all rows", "a sample"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_last_step_has_classes_that_it_gives_itself(most, n_classes, monkeypatch):
    monkeypatch.setattr(own, "_ROWS", most)
    codes, H = clouds()
    codes %= n_classes
    known = np.sort(np.concatenate([np.flatnonzero(codes == c)[:4] for c in range(n_classes)]))
    labels = labels_of(codes[known], True, n_classes)
    found = fitted(H, known, labels, 10.0)
    # Labelled rows are there besides those of the sample.
    rows = np.union1d(SampledRows(hidden(H)).numbers, known)
    F = H[rows] @ found.coef()[:-1]
    assert_allclose(found.coef()[-1], -F.mean(axis=0), atol=1e-5)
    classes = chosen(F - F.mean(axis=0))
    classes[np.searchsorted(rows, known)] = codes[known]
    A = H[rows].T @ H[rows] + np.eye(8) / 10.0
    T = signed(np.eye(n_classes)[classes])
    assert_allclose(found.coef()[:-1], np.linalg.solve(A, H[rows].T @ T), rtol=1e-3, atol=1e-5)


def test_weights_follow_half_the_log_likelihood_and_the_prior_of_the_kind():
    kinds = ["alone", "alone", "tight", "free"]
    given = [-3.0, -5.0, -1.0, -8.0]
    given_ones = [
        candidates.Candidate(kind, np.zeros((1, 1)), log_likelihood=value)
        for kind, value in zip(kinds, given, strict=True)
    ]
    found = weighing._weighed(given_ones, np.array([0.5, 0.5, 2.0, 3.0]))
    assert sum(weight for _, weight in found) == pytest.approx(1.0)
    assert [each.kind for each, _ in found] == ["tight", "alone", "free", "alone"]
    heaviest, second = found[0][1], found[1][1]
    assert heaviest / second == pytest.approx(2.0 * np.exp(-0.5) / (0.5 * np.exp(-1.5)))


@pytest.mark.parametrize(("k", "part"), [(1, 1.0), (2, 1.0), (10, 0.2), (50, 0.04)])
def test_self_given_classes_have_less_the_more_labels_a_class_has(k, part):
    setting = SimpleNamespace(
        numbers=np.arange(3 * k),
        targets=SimpleNamespace(n_classes=3),
        classes=True,
        sources=[None],
        kinds=candidates.KINDS,
        one_unit=False,
    )
    given = [candidates.Candidate(kind, np.zeros((1, 1))) for kind in ("alone", "clusters")]
    assert weighing._priors(setting, given) == pytest.approx([1.0, part])


def test_mass_goes_from_spread_labels_to_clusters_as_the_graph_is_trusted_less():
    kinds = ["free", "alone", "clusters"]
    given = [
        (candidates.Candidate(kind, np.zeros((1, 1))), part)
        for kind, part in zip(kinds, (6 / 8, 1 / 8, 1 / 8), strict=True)
    ]
    for trust, masses in ((1.0, (6, 1, 1)), (0.0, (1, 1, 6)), (0.5, (3.5, 1, 3.5))):
        found = {each.kind: weight for each, weight in weighing.trusted(given, 6.0, trust)}
        assert found == pytest.approx(dict(zip(kinds, np.array(masses) / 8, strict=True)))


def test_the_graph_is_trusted_where_its_rows_contradict_clusters_more_often():
    trust = [weighing.trust_in_graph(0.1, clusters) for clusters in (0.05, 0.11, 0.3)]
    assert trust == pytest.approx([0.0, 0.5, 1.0], abs=1e-3)
    assert weighing.trust_in_graph(0.0, 0.0) == 1.0


EDGES = KNNGraph(10).affinity(np.random.default_rng(0).normal(size=(200, 3)))


@pytest.mark.parametrize("graph", [None, KNNGraph(10), EDGES], ids=["default", "found", "given"])
def test_spread_labels_have_half_a_part_where_columns_have_units_of_their_own(graph):
    X, y = make_blobs(200, centers=2, n_features=3, cluster_std=4.0, random_state=0)
    few = np.full(200, -1)
    few[[np.argmin(y), np.argmax(y)]] = 0, 1  # nothing can be left out: weights are the prior
    shares = []
    for units in (1.0, [1.0, 100.0, 1e4]):
        model = SemiSupervisedELMClassifier(n_hidden=50, graph=graph, random_state=0).fit(
            X * units, few
        )
        kinds, weights = model.candidates_["kind"], model.candidates_["weight"]
        shares.append(weights[kinds == "free"].sum() / weights[kinds == "alone"].sum())
        again = model.relabel(few)
        assert_array_equal(again.candidates_["weight"], weights)
    if graph is not EDGES:
        assert shares[0] > 1.0
        assert shares[1] == pytest.approx(0.5)
    else:
        assert min(shares) > 1.0


def test_rows_are_contradicted_by_most_of_their_neighbours():
    W = sp.csr_array(rows(12, 12) ** 2)
    W, codes = W + W.T, np.random.default_rng(1).integers(3, size=12)
    L = laplacian(W, normalized=False)
    dense = W.toarray() - np.diag(W.diagonal())
    votes = np.array([[dense[i, codes == c].sum() for c in range(3)] for i in range(12)])
    expected = np.mean(votes.argmax(axis=1) != codes)
    assert 0.0 < expected < 1.0
    assert contradicted(L, ClassTargets(codes, 3)) == pytest.approx(expected)
    alone = laplacian(sp.csr_array((12, 12)))
    assert contradicted(alone, ClassTargets(codes, 3)) == 0.0


@pytest.mark.parametrize(
    ("counts", "least", "most"),
    [([60, 20], 0.0, 1e-2), ([40, 40], 1.0, 1.0), ([10] * 5, 1.0, 1.0), ([2, 1], 1.0, 1.0)],
)
def test_counts_of_labels_say_whether_classes_may_be_equally_large(counts, least, most):
    counts = np.array(counts)
    assert least <= weighing._odds_of_equal_sizes(counts) <= most


def test_the_odds_are_those_of_counts_drawn_from_all_sizes():
    counts, rng = np.array([7, 1, 1]), np.random.default_rng(0)
    shares = rng.dirichlet(np.ones(3), 200_000)
    of_any = np.exp(counts @ np.log(shares).T).mean()
    expected = (1 / 3) ** counts.sum() / of_any
    assert expected < 1.0
    assert weighing._odds_of_equal_sizes(counts) == pytest.approx(expected, rel=0.05)


def test_copies_in_the_graph_do_no_harm():
    X = np.repeat(rows(4, 2), 30, axis=0)
    for L in all_laplacians(graphs_of(None, "pool", len(X)), X):
        assert sp.issparse(L.matrix)
        assert_array_equal(np.isfinite(L.matrix.data), True)


def test_outputs_are_carried_on_edge_by_edge_and_not_to_other_parts():
    W = sp.csr_array(np.diag([1.0, 1.0, 0.0, 1.0], 1) + np.diag([1.0, 1.0, 0.0, 1.0], -1))
    F, near = np.array([[1.0], [0.0], [0.0], [0.0], [0.0]]), np.array([True] + 4 * [False])
    found, known = pool._carried_on(F, near, laplacian(W))
    assert_array_equal(known, [True, True, True, False, False])
    assert_allclose(found[:3], 1.0)
