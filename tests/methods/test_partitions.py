"""Forms of US-ELM that are compared without a label."""

from dataclasses import replace
from itertools import product

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs

from ulmus.features import RandomFeatures
from ulmus.graphs import KNNGraph
from ulmus.hidden import Hidden
from ulmus.methods.agreement import agreement, edge_information
from ulmus.methods.partitions import _ABOUT, Form, Forms, judged, mean_affinity
from ulmus.methods.unsupervised import Tight

X, TRUTH = make_blobs(90, n_features=5, centers=3, random_state=0)
MAP = RandomFeatures(20, random_state=0).fit(X)
H = MAP.transform(X)
FORMS = Forms(("tight", "free"), (1.0, 10.0), (2, 3, 6), (False, True))
GRAPH = KNNGraph(10).laplacian(X)
BOTH = {"tight": [GRAPH], "free": [GRAPH]}


def test_every_form_is_judged_once_and_the_best_is_first():
    found = judged(FORMS, H, BOTH, 3)
    kinds = [("tight", 0, 1.0), ("tight", 0, 10.0), ("free", 0, 0.0)]
    cuts = product(FORMS.columns, FORMS.unit_rows)
    assert set(found.forms) == {Form(*kind, *cut) for kind, cut in product(kinds, cuts)}
    assert len(found.forms) == len(found.labels) == 3 * 6
    kinds = [form.coupling for form in found.forms]
    assert_allclose(agreement(found.labels, kinds), found.agreement)
    W = mean_affinity(BOTH["free"])
    assert_allclose([edge_information(each, W) for each in found.labels], found.information)
    assert len(np.unique(found.labels[0][TRUTH == 0])) == 1


def test_the_graph_decides_among_forms_that_agree_about_as_much():
    crowded, _ = make_blobs(150, n_features=5, centers=6, cluster_std=4.0, random_state=1)
    graph = {"tight": [KNNGraph(10).laplacian(crowded)], "free": [KNNGraph(5).laplacian(crowded)]}
    found = judged(FORMS, MAP.transform(crowded), graph, 6)
    alike = found.agreement >= found.agreement.max() - _ABOUT
    few = np.count_nonzero(alike)
    assert 1 < few < len(found.forms)
    assert found.agreement[0] < found.agreement.max()
    assert alike[:few].all()
    assert found.information[0] == found.information[:few].max()
    assert_array_equal(np.sort(found.agreement[few:])[::-1], found.agreement[few:])


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
    few = replace(FORMS, columns=(2,), couplings=("tight",), lams=(1.0,), unit_rows=(False,))
    many = replace(few, columns=(2, 6))
    (labels,) = judged(few, H, BOTH, 3).labels
    found = judged(many, H, BOTH, 3)
    columns = [form.n_components for form in found.forms]
    assert_array_equal(labels, found.labels[columns.index(2)])
    whole = Tight(1.0, 6).fit(Hidden(MAP.layer(X), X), GRAPH).coef
    part = Tight(1.0, 2).fit(Hidden(MAP.layer(X), X), GRAPH).coef
    assert_allclose(whole[:, :2], part, atol=1e-6)


def test_a_graph_in_pieces_takes_no_part():
    apart = KNNGraph(10).laplacian(X)
    apart = replace(apart, matrix=0.0 * apart.matrix)
    apart.matrix.eliminate_zeros()
    found = judged(FORMS, H, {"tight": [GRAPH], "free": [apart]}, 3)
    assert {form.coupling for form in found.forms} == {"tight"}
    assert not found.information.any()
    nothing = replace(FORMS, couplings=("free",))
    assert judged(nothing, H, {"free": [apart]}, 3).forms == []


def test_the_table_has_a_row_for_each_form():
    judgement = judged(FORMS, H, BOTH, 3)
    found = judgement.table(["ten"])
    given = {"kind", "graph", "lam", "n_components", "row_normalize"}
    assert found.keys() == given | {"agreement", "information"}
    assert all(len(column) == len(judgement.forms) for column in found.values())
    assert set(found["graph"].tolist()) == {"ten"}
