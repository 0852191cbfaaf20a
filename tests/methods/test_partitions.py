"""Forms of US-ELM that are compared without a label."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score, mutual_info_score

from ulmus.features import RandomFeatures
from ulmus.graphs import KNNGraph
from ulmus.hidden import Hidden
from ulmus.methods.partitions import (
    _ABOUT,
    Form,
    adjusted_rand_table,
    agreement,
    clustered,
    edges_between,
    embeddings,
    information,
    judged,
    mean_affinity,
    separation,
    table_of,
)
from ulmus.methods.unsupervised import Tight

X, TRUTH = make_blobs(90, n_features=5, centers=3, random_state=0)
MAP = RandomFeatures(20, random_state=0).fit(X)
H = MAP.transform(X)
COLUMNS, UNIT_ROWS = (2, 3, 6), (False, True)
GRAPH = KNNGraph(10).laplacian(X)
BOTH = {"tight": {"ten": GRAPH}, "free": {"ten": GRAPH}}

rng = np.random.default_rng(0)
PARTITIONS = [rng.integers(0, k, 60) for k in (1, 2, 3, 3, 5, 9)]


def found_by(H, graphs, k, columns=COLUMNS):
    forms = clustered(embeddings(H, graphs, 10.0, max(columns)), columns, UNIT_ROWS, k)
    return judged(forms, list(graphs.values())[-1].values())


def test_every_form_is_judged_once_and_the_best_is_first():
    found = found_by(H, BOTH, 3)
    cuts = product([("tight", "ten", 10.0), ("free", "ten", 0.0)], COLUMNS, UNIT_ROWS)
    shapes = [(f.kind, f.graph, f.lam, f.n_components, f.row_normalize) for f in found]
    assert sorted(shapes) == sorted((*kind, k, unit) for kind, k, unit in cuts)
    labels = [form.labels for form in found]
    kinds = [form.kind for form in found]
    assert_allclose(agreement(labels, kinds), [form.agreement for form in found])
    W = mean_affinity([GRAPH])
    edges = [edges_between(each, W) for each in labels]
    assert_allclose([information(each) for each in edges], [form.information for form in found])
    assert_allclose([separation(each) for each in edges], [form.separation for form in found])
    assert len(np.unique(labels[0][TRUTH == 0])) == 1


def test_the_graph_decides_among_forms_that_agree_about_as_much():
    crowded, _ = make_blobs(150, n_features=5, centers=6, cluster_std=4.0, random_state=1)
    graphs = {
        "tight": {"ten": KNNGraph(10).laplacian(crowded)},
        "free": {"five": KNNGraph(5).laplacian(crowded)},
    }
    found = table_of(found_by(MAP.transform(crowded), graphs, 6))
    alike = found["agreement"] >= found["agreement"].max() - _ABOUT
    few = np.count_nonzero(alike)
    assert 1 < few < len(alike)
    assert found["agreement"][0] < found["agreement"].max()
    assert alike[:few].all()
    assert found["information"][0] == found["information"][:few].max()
    rest = found["agreement"][few:]
    assert_array_equal(np.sort(rest)[::-1], rest)


def test_the_mean_of_graphs_has_the_mean_of_their_edges():
    graphs = [KNNGraph(k) for k in (3, 8)]
    roots = [np.sqrt(graph.affinity(X).sum(axis=1)) for graph in graphs]
    expected = [
        graph.affinity(X).toarray() / np.outer(root, root)
        for graph, root in zip(graphs, roots, strict=True)
    ]
    found = mean_affinity([graph.laplacian(X) for graph in graphs]).toarray()
    assert_allclose(found, np.mean(expected, axis=0), atol=1e-12)


def test_a_cut_is_the_embedding_with_as_many_columns():
    tight = {"tight": BOTH["tight"]}
    few, many = (found_by(H, tight, 3, columns) for columns in ((2,), (2, 6)))
    for one in few:
        same = [f for f in many if (f.n_components, f.row_normalize) == (2, one.row_normalize)]
        assert_array_equal(one.labels, same[0].labels)
    whole = Tight(1.0, 6).fit(Hidden(MAP.layer(X), X), GRAPH).coef
    part = Tight(1.0, 2).fit(Hidden(MAP.layer(X), X), GRAPH).coef
    assert_allclose(whole[:, :2], part, atol=1e-6)


def test_a_graph_in_pieces_takes_no_part():
    apart = KNNGraph(10).laplacian(X)
    apart = replace(apart, matrix=0.0 * apart.matrix)
    apart.matrix.eliminate_zeros()
    found = found_by(H, {"tight": BOTH["tight"], "free": {"ten": apart}}, 3)
    assert {form.kind for form in found} == {"tight"}
    assert not any(form.information for form in found)
    assert found_by(H, {"free": {"ten": apart}}, 3) == []


def test_the_table_has_a_row_for_each_form():
    forms = found_by(H, BOTH, 3)
    found = table_of(forms)
    given = {"kind", "graph", "lam", "n_components", "row_normalize"}
    assert found.keys() == given | {"agreement", "information", "separation"}
    assert all(len(column) == len(forms) for column in found.values())
    assert set(found["graph"].tolist()) == {"ten"}


def test_the_table_has_scikit_learns_index():
    expected = [[adjusted_rand_score(a, b) for b in PARTITIONS] for a in PARTITIONS]
    assert_allclose(adjusted_rand_table(PARTITIONS), expected, atol=1e-12)


@pytest.mark.parametrize("n", [1, 2])
def test_partitions_of_one_cluster_or_of_single_rows_are_the_same(n):
    assert_allclose(adjusted_rand_table([np.arange(n), np.arange(n)]), 1.0)
    assert_allclose(adjusted_rand_table([np.zeros(n, int)] * 2), 1.0)


def test_a_name_of_a_cluster_is_of_no_account():
    a = PARTITIONS[3]
    assert_allclose(adjusted_rand_table([a, (a + 1) % 3 - 7]), 1.0)


def test_a_kind_of_many_does_not_outvote_another():
    right, wrong, near = np.arange(60) % 3, PARTITIONS[2], np.arange(60) % 3
    near = np.where(np.arange(60) < 6, 0, near)
    many = [wrong] * 9
    plain = agreement([right, near, *many], ["one"] * 11)
    fair = agreement([right, near, right, *many], ["few", "few", "many", *["many"] * 9])
    assert plain.argmax() >= 2
    assert fair[0] > fair[1:2].max()
    expected = np.mean([adjusted_rand_score(right, p) for p in [near, *many]])
    assert_allclose(plain[0], expected, atol=1e-8)


@pytest.mark.parametrize("labels", PARTITIONS, ids=lambda each: f"{each.max() + 1} clusters")
def test_an_edge_tells_what_scikit_learns_mutual_information_of_its_ends_is(labels):
    weights = rng.integers(0, 4, (60, 60))
    W = weights + weights.T
    here, there = np.nonzero(W)
    times = W[here, there]
    expected = mutual_info_score(np.repeat(labels[here], times), np.repeat(labels[there], times))
    assert_allclose(information(edges_between(labels, sp.coo_array(1.0 * W))), expected, atol=1e-8)


def test_a_row_without_a_cluster_and_a_graph_without_edges_tell_nothing():
    W = sp.coo_array(np.kron(np.eye(2), np.ones((3, 3))))

    def told(labels, W):
        return information(edges_between(np.array(labels), W))

    assert_allclose(told([0, 0, 0, 1, 1, 1], W), np.log(2.0))
    assert 0.0 < told([0, 0, 0, 1, 1, -1], W) < np.log(2.0)
    assert told([-1] * 6, W) == 0.0
    assert told([0, 0, 0, 1, 1, 1], 0.0 * W) == 0.0


def test_separation_is_that_of_the_cluster_with_most_edges_to_others():
    W = sp.coo_array(np.array([[0, 4, 0, 0], [4, 0, 1, 0], [0, 1, 0, 9], [0, 0, 9, 0]], float))
    assert separation(edges_between(np.array([0, 0, 1, 1]), W)) == round(8 / 9, 9)
    assert separation(edges_between(np.zeros(4, int), W)) == 1.0
    # A cluster without edges has nothing to itself.
    assert separation(edges_between(np.array([0, 0, 1, 2]), 0.0 * W)) == 0.0


def form(labels, kind):
    return Form(kind, "ten", 0.0, 2, False, 0.0, 0.0, 0.0, labels)


def test_separate_clusters_come_first_whatever_their_sizes():
    X = np.concatenate([np.linspace(0, 1, 90), np.linspace(9, 9.1, 10)])[:, None]
    graph, order = KNNGraph(5).laplacian(X), np.arange(100)
    right, halves = (order >= 90).astype(int), (order >= 45).astype(int)
    almost = (order >= 47).astype(int)
    forms = [form(each, "free") for each in (halves, almost, right, right)]
    found = judged(forms, [graph])
    assert found[0].labels is right
    assert found[0].information < max(each.information for each in found)
    # One cluster alone is separate, and not what is asked for.
    found = judged([*forms[:2], form(0 * order, "free")], [graph])
    assert found[0].labels.any()
