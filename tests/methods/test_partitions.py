"""Forms of US-ELM that are compared without a label."""

from dataclasses import replace

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs

from ulmus.features import RandomFeatures
from ulmus.graphs import KNNGraph
from ulmus.hidden import Hidden
from ulmus.methods.agreement import agreement
from ulmus.methods.partitions import Forms, judged, table
from ulmus.methods.unsupervised import Tight

X, TRUTH = make_blobs(90, n_features=5, centers=3, random_state=0)
MAP = RandomFeatures(20, random_state=0).fit(X)
H = MAP.transform(X)
FORMS = Forms(("tight", "free"), (1.0, 10.0), (2, 3, 6), (False, True))
GRAPH = KNNGraph(10).laplacian(X)
BOTH = {"tight": [GRAPH], "free": [GRAPH]}


def test_every_form_is_judged_once_and_the_best_is_first():
    forms, labels, scores = judged(FORMS, H, BOTH, 3)
    assert set(forms) == set(FORMS.all(1))
    assert len(forms) == len(labels) == 3 * 6
    assert_array_equal(np.sort(scores)[::-1], scores)
    assert_allclose(agreement(labels, [form.coupling for form in forms]), scores)
    assert len(np.unique(labels[0][TRUTH == 0])) == 1


def test_a_cut_is_the_embedding_with_as_many_columns():
    few = replace(FORMS, columns=(2,), couplings=("tight",), lams=(1.0,), unit_rows=(False,))
    many = replace(few, columns=(2, 6))
    (_,), (labels,), _ = judged(few, H, BOTH, 3)
    forms, others, _ = judged(many, H, BOTH, 3)
    assert_array_equal(labels, others[[form.n_components for form in forms].index(2)])
    whole = Tight(1.0, 6).fit(Hidden(MAP.layer(X), X), GRAPH).coef
    part = Tight(1.0, 2).fit(Hidden(MAP.layer(X), X), GRAPH).coef
    assert_allclose(whole[:, :2], part, atol=1e-6)


def test_a_graph_in_pieces_takes_no_part():
    apart = KNNGraph(10).laplacian(X)
    apart = replace(apart, matrix=0.0 * apart.matrix)
    apart.matrix.eliminate_zeros()
    forms, _, _ = judged(FORMS, H, {"tight": [GRAPH], "free": [apart]}, 3)
    assert {form.coupling for form in forms} == {"tight"}
    nothing = replace(FORMS, couplings=("free",))
    assert judged(nothing, H, {"free": [apart]}, 3)[0] == []


def test_the_table_has_a_row_for_each_form():
    forms, _, scores = judged(FORMS, H, BOTH, 3)
    found = table(forms, scores, ["ten"])
    assert found.keys() == {"kind", "graph", "lam", "n_components", "row_normalize", "agreement"}
    assert all(len(column) == len(forms) for column in found.values())
    assert set(found["graph"].tolist()) == {"ten"}
