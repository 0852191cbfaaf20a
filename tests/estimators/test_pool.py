"""The default of the semi-supervised estimators: candidates of several kinds, averaged."""

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits, make_blobs, make_friedman1, make_moons
from sklearn.frozen import FrozenEstimator

from ulmus import (
    ConjugateGradients,
    ELMClassifier,
    KNNGraph,
    RandomFeatures,
    RowFeatures,
    SemiSupervisedELMClassifier,
    SemiSupervisedELMRegressor,
)
from ulmus.calibration import probabilities
from ulmus.estimators import row_graphs
from ulmus.exceptions import IllConditionedWarning, InvalidInputError, InvalidParameterError
from ulmus.methods import candidates, pool, prepared
from ulmus.summary import facts

MOONS, SIDE = make_moons(400, noise=0.08, random_state=0)
DIGITS, DIGIT = (part[:600] for part in load_digits(return_X_y=True))


def few(y, count, seed=0, unknown=-1):
    known = np.random.default_rng(seed).choice(len(y), count, replace=False)
    found = np.full(len(y), unknown, dtype=y.dtype)
    found[known] = y[known]
    return found


def model(**parameters):
    return SemiSupervisedELMClassifier(**{"n_hidden": 200, "random_state": 0} | parameters)


def test_every_kind_is_weighed_and_the_weights_sum_to_one():
    fitted = model().fit(DIGITS, few(DIGIT, 60))
    table = fitted.candidates_
    assert set(table["kind"]) == {"alone", "tight", "free", "clusters"}
    assert table["weight"].sum() == pytest.approx(1.0)
    assert_array_equal(np.sort(table["weight"])[::-1], table["weight"])
    assert set(table["graph"][table["kind"] == "free"]) == {0, 1}
    assert set(table["graph"][table["kind"] == "alone"]) == {-1}
    assert fitted.coupling_ == "pool"
    assert table["kind"][0] in fitted.coupling_reason_
    assert 0.0 <= fitted.loo_score_ <= 1.0
    assert np.mean(fitted.transduction_ == DIGIT) > 0.85


def test_a_printed_model_names_its_two_heaviest_kinds():
    fitted = model().fit(MOONS, few(SIDE, 30))
    first, second = str(fitted).split("\n")
    assert first == repr(fitted) == str(model())
    kinds = [word.rstrip(",") for word in second.split() if word.rstrip(",") in candidates.KINDS]
    assert len(kinds) == 2
    assert kinds[0] == fitted.candidates_["kind"][0]
    assert "\n" not in str(model(coupling="published").fit(MOONS, few(SIDE, 30)))


def test_a_kind_that_only_stands_by_is_not_named():
    words = str(model(coupling="free").fit(MOONS, few(SIDE, 30))).split("\n")[1]
    assert "free" in words
    assert "alone" not in words


def test_the_score_is_that_of_the_average_of_left_out_rows():
    fitted = model().fit(DIGITS, few(DIGIT, 60))
    rows, P = fitted.left_out_["rows"], fitted.left_out_["outputs"]
    assert fitted.loo_score_ == np.mean(fitted.classes_[P.argmax(axis=1)] == DIGIT[rows])
    # C and λ of one candidate say little of an average.
    assert not {"C", "lam"} & dict(facts(fitted)).keys()


def test_left_out_values_are_on_the_scale_of_the_targets():
    X, y = make_friedman1(200, noise=0.5, random_state=0)
    values = few(100.0 + y, 80, unknown=np.nan)
    fitted = SemiSupervisedELMRegressor(n_hidden=100, random_state=0).fit(X, values)
    rows, F = fitted.left_out_["rows"], fitted.left_out_["outputs"][:, 0]
    squares = np.mean((F - values[rows]) ** 2)
    assert fitted.loo_score_ == pytest.approx(1.0 - squares / np.nanvar(values))


def test_the_default_graphs_given_as_a_list_weigh_as_the_default():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)) * [1.0, 100.0, 1e4], rng.integers(2, size=200)
    graphs = [KNNGraph(k, width="local") for k in (10, 20)]
    default, given = (model(graph=graph).fit(X, few(y, 20)) for graph in (None, graphs))
    assert_allclose(given.candidates_["weight"], default.candidates_["weight"])
    # Edges that are given do not depend on how columns are scaled.
    W = KNNGraph(10).affinity(X / [1.0, 100.0, 1e4])
    free = [
        each.candidates_["weight"][each.candidates_["kind"] == "free"].sum()
        for each in (default, model(graph=W).fit(X, few(y, 20)))
    ]
    assert free[0] < free[1]


def test_beta_is_the_supervised_fit_to_the_classes_of_the_average():
    fitted = model(C=3.0).fit(DIGITS, few(DIGIT, 60))
    alone = ELMClassifier(RandomFeatures(200), C=3.0, random_state=0)
    alone.fit(DIGITS, fitted.transduction_)
    assert_allclose(fitted.beta_, alone.beta_, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("count", [60, 250], ids=["fewer labels than units", "more"])
@pytest.mark.parametrize("weighting", [None, "balanced"])
@pytest.mark.parametrize(
    ("kind", "layer"), [("alone", 0), ("alone", 1), ("alone", 2), ("tight", 0)]
)
def test_an_average_of_one_candidate_is_the_model_that_it_stands_for(
    kind, layer, weighting, count, monkeypatch
):
    chosen, wanted = {}, (kind, layer, bool(weighting))

    def only(found):
        (chosen["one"], _) = next(
            pair for pair in found if (pair[0].kind, pair[0].layer, pair[0].weighting) == wanted
        )
        return [(chosen["one"], 1.0)]

    every = pool.weighed_candidates
    monkeypatch.setattr(pool, "weighed_candidates", lambda setting: only(every(setting)))
    graph, labels = KNNGraph(7, width="local").laplacian(DIGITS), few(DIGIT, count)
    fitted = model(graph=graph).fit(DIGITS, labels)
    one = chosen["one"]
    parameters = {"graph": graph, "coupling": "published", "C": one.C, "lam": one.lam}
    if layer == 1:
        parameters |= {"features": RowFeatures(200, random_state=0), "n_hidden": None}
    if layer == 2:
        supervised = ELMClassifier(n_hidden=200, random_state=0)
        supervised.fit(DIGITS[labels >= 0], labels[labels >= 0])
        parameters |= {"features": FrozenEstimator(supervised.features_), "n_hidden": None}
    other = model(class_weight=weighting, **parameters).fit(DIGITS, labels)
    expected = probabilities(other.decision_function(DIGITS), one.temperature)
    assert_allclose(fitted.label_distributions_, expected, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("distinct", [10, 40])
def test_a_C_beyond_what_rounding_holds_is_fitted_still(distinct):
    copies = np.repeat(np.arange(distinct), 200 // distinct)
    with pytest.warns(IllConditionedWarning, match="C=1e"):
        fitted = model(C=1e18).fit(MOONS[copies], few(SIDE[copies], 60))
    assert np.isfinite(fitted.label_distributions_).all()


def test_balanced_weights_are_unlikely_where_the_labels_say_that_classes_are_not_equally_large():
    rng = np.random.default_rng(0)
    y = (rng.random(400) < 0.2).astype(int)
    X = rng.standard_normal((400, 3)) + y[:, None]
    labels = few(y, 100)
    weights = model().fit(X, labels).candidates_
    assert weights["weight"][weights["weighting"] == 1].sum() < 1e-3
    equal = np.where(
        labels == 0, np.where(np.cumsum(labels == 0) <= sum(labels == 1), 0, -1), labels
    )
    weights = model().fit(X, equal).candidates_
    assert weights["weight"][weights["weighting"] == 1].sum() > 0.2


def test_the_transduction_is_what_the_distributions_say():
    labels = few(DIGIT, 60)
    fitted = model().fit(DIGITS, labels)
    P = fitted.label_distributions_
    assert_allclose(P.sum(axis=1), 1.0, rtol=1e-5)
    assert P.min() >= 0.0
    unknown = labels < 0
    assert_array_equal(P.argmax(axis=1)[unknown], fitted.transduction_[unknown])
    assert_array_equal(fitted.transduction_[~unknown], labels[~unknown])


@pytest.mark.parametrize("classes", [2, 3])
def test_relabelling_is_a_fit_with_other_labels(classes):
    X, y = make_blobs(150, centers=classes, cluster_std=3.0, random_state=0)
    fitted = model(C=1.0).fit(X, few(y, 30))
    other = few(y, 25, seed=1)
    again, fresh = fitted.relabel(other), model(C=1.0).fit(X, other)
    # Labels are spread to single precision, by steps of their own.
    assert_allclose(again.label_distributions_, fresh.label_distributions_, atol=1e-4)
    assert_allclose(again.beta_, fresh.beta_, rtol=1e-6, atol=1e-8)
    assert_allclose(again.candidates_["weight"], fresh.candidates_["weight"], atol=1e-4)


@pytest.mark.parametrize("count", [20, 100])
def test_a_graph_of_noise_does_no_harm(count):
    """Twenty draws: the mean is at most half a point below that of the labelled rows alone."""
    X, y = load_digits(return_X_y=True)
    gains = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        rows, ends = rng.permutation(len(y))[:400], rng.integers(400, size=(2, 2000))
        W = sp.coo_array((np.ones(2000), ends), shape=(400, 400)).tocsr()
        digit = y[rows] % (2 if count == 20 else 10)
        labels = few(digit, count, seed)
        known = labels >= 0
        fitted = model(n_hidden=100, graph=W.maximum(W.T)).fit(X[rows], labels)
        alone = ELMClassifier(n_hidden=100, random_state=0).fit(X[rows][known], digit[known])
        right = np.mean(fitted.transduction_[~known] == digit[~known])
        gains.append(right - alone.score(X[rows][~known], digit[~known]))
    assert np.mean(gains) >= -0.005


def test_clouds_without_a_manifold_are_found_by_their_gaps():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=600)
    X = rng.standard_normal((600, 100)) + (2 * y[:, None] - 1) * rng.standard_normal(100) / 4.0
    labels = few(y, 20)
    fitted = model().fit(X, labels)
    known = labels >= 0
    alone = ELMClassifier(RandomFeatures(200), random_state=0).fit(X[known], y[known])
    right = np.mean(fitted.transduction_[~known] == y[~known])
    assert right > alone.score(X[~known], y[~known]) + 0.03


def test_one_label_a_class_leaves_the_choice_to_the_prior():
    labels = np.full(400, -1)
    for side in (0, 1):
        labels[np.flatnonzero(side == SIDE)[0]] = side
    fitted = model().fit(MOONS, labels)
    assert fitted.selection_ == "prior"
    assert not hasattr(fitted, "loo_score_")
    assert "error" not in fitted.candidates_
    by_kind = {
        kind: fitted.candidates_["weight"][fitted.candidates_["kind"] == kind].sum()
        for kind in ("alone", "tight", "free", "clusters")
    }
    parts = {"alone": 1.0, "tight": 0.2, "free": 17.0 * (1.0 + 200 / 200), "clusters": 1.0}
    assert by_kind == pytest.approx({kind: part / 36.2 for kind, part in parts.items()})


@pytest.mark.parametrize(("clusters", "heaviest"), [(0.2, "clusters"), (0.5, "free")])
def test_a_graph_that_contradicts_clusters_as_seldom_leaves_them_its_mass(
    clusters, heaviest, monkeypatch
):
    labels, parts, seen = np.full(400, -1), iter([0.2, clusters]), []
    labels[[np.flatnonzero(side == SIDE)[0] for side in (0, 1)]] = 0, 1

    def told(laplacian, targets):
        seen.append(targets.codes)
        return next(parts)

    monkeypatch.setattr(pool, "contradicted", told)
    table = model().fit(MOONS, labels).candidates_
    assert table["weight"][table["kind"] == heaviest].sum() > 0.8
    for codes in seen:  # classes of all rows, the given ones where they are known
        assert_array_equal(codes[labels >= 0], labels[labels >= 0])
        assert np.mean(codes == SIDE) > 0.7


def test_a_map_that_is_given_is_the_only_layer():
    own = model().fit(DIGITS, few(DIGIT, 60)).candidates_
    given = model(features=RandomFeatures(200), n_hidden=None).fit(DIGITS, few(DIGIT, 60))
    assert set(own["layer"][own["kind"] == "alone"]) == {0, 1, 2}
    assert set(own["layer"][own["kind"] != "alone"]) >= {0}
    assert set(given.candidates_["layer"]) == {0}


def test_rows_of_words_are_compared_by_their_angles():
    words = sp.random_array((60, 400), density=0.02, rng=np.random.default_rng(0)).tocsr()
    lengths = sp.dia_array((np.linspace(1, 9, 60), 0), shape=(60, 60))
    labels = np.where(np.arange(60) % 5 == 0, np.arange(60) // 5 % 2, -1)
    fitted = model(n_hidden=None).fit(words, labels)
    longer = model(n_hidden=None).fit((lengths @ words).tocsr(), labels)
    H = fitted.features_.transform(words)
    angles = (words @ words.T).toarray() / np.outer(*2 * [np.sqrt((words**2).sum(axis=1))])
    assert_allclose(H @ H.T, angles, atol=1e-6)
    assert_allclose(fitted.label_distributions_, longer.label_distributions_, atol=1e-3)


def test_rows_that_no_label_leads_to_are_named_by_the_others():
    far = MOONS[:50] + np.array([100.0, 0.0])
    X, labels = np.vstack([MOONS, far]), np.concatenate([few(SIDE, 20), np.full(50, -1)])
    fitted = model(graph=KNNGraph(5)).fit(X, labels)
    assert np.isfinite(fitted.label_distributions_).all()
    assert_allclose(fitted.label_distributions_.sum(axis=1), 1.0, rtol=1e-5)


@pytest.mark.parametrize("distance", [10.0, 40.0])
def test_a_label_on_a_far_row_does_not_drown_the_others(distance):
    X = np.vstack([MOONS, [[distance, distance]]])
    labels = np.append(few(SIDE, 30), 1)
    fitted = model(coupling="free").fit(X, labels)
    assert np.mean(fitted.transduction_[:-1] == SIDE) > 0.95
    assert np.isfinite(fitted.label_distributions_).all()


def test_a_list_of_graphs_is_weighed():
    graphs = [KNNGraph(3), KNNGraph(8, weights="binary"), KNNGraph(15, width="local")]
    fitted = model(graph=graphs).fit(MOONS, few(SIDE, 20))
    assert set(fitted.candidates_["graph"]) == {-1, 0, 1, 2}
    with pytest.raises(InvalidParameterError, match="takes one graph, and 3 are given"):
        model(graph=graphs, coupling="published").fit(MOONS, few(SIDE, 20))
    with pytest.raises(InvalidInputError, match="The graph has 3 rows"):
        model(graph=[KNNGraph(3), sp.csr_array(np.ones((3, 3)))]).fit(MOONS, few(SIDE, 20))
    with pytest.raises(InvalidParameterError, match="graph=\\[\\] is empty"):
        model(graph=[]).fit(MOONS, few(SIDE, 20))


def test_labels_of_copies_that_disagree():
    X = np.repeat(MOONS[:100], 3, axis=0)
    labels = np.full(300, -1)
    labels[:30] = np.tile([0, 1, 1], 10)
    fitted = model().fit(X, labels)
    assert_array_equal(fitted.transduction_[:30], labels[:30])
    assert np.isfinite(fitted.label_distributions_).all()


@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 2.0}])
def test_class_weights_that_are_given_are_the_only_ones(class_weight):
    fitted = model(class_weight=class_weight).fit(MOONS, few(SIDE, 20))
    assert set(fitted.candidates_["weighting"]) == {0}


def test_many_labels_are_compared_by_some_of_them(monkeypatch):
    monkeypatch.setattr(prepared, "_ENTRIES", 600 * 40)
    monkeypatch.setattr(prepared, "_LEAST_JUDGED", 40)
    fitted = model().fit(DIGITS, few(DIGIT, 300))
    assert np.mean(fitted.transduction_ == DIGIT) > 0.9


def test_many_labels_at_once_are_weighed_by_few_of_them(monkeypatch):
    labels = few(DIGIT, 60)
    fitted, many = model().fit(DIGITS, labels), np.maximum(labels, few(DIGIT, 270, seed=1))
    before, whole = fitted.left_out_["rows"], fitted.relabel(many)
    assert len(whole.left_out_["rows"]) == np.count_nonzero(many >= 0)
    monkeypatch.setattr(prepared, "_FRESH_ENTRIES", 600 * 10)
    waiting = fitted.relabel(many)
    assert np.isin(before, waiting.left_out_["rows"]).all()
    fresh = np.setdiff1d(waiting.left_out_["rows"], before)
    assert 1 <= len(fresh) <= 10
    assert np.isin(fresh, np.flatnonzero(many >= 0)).all()
    # All labels are learned from all the same.
    assert np.mean(waiting.transduction_ == whole.transduction_) > 0.98
    few_before = model().fit(DIGITS, few(DIGIT, 12, seed=2)).relabel(many)
    assert 10 <= len(few_before.left_out_["rows"]) <= 16


def test_labels_that_lie_together_do_not_draw_other_rows_to_their_class():
    labels = few(DIGIT, 60)
    start = np.flatnonzero(labels == 3)[0]
    near = np.argsort(((DIGITS - DIGITS[start]) ** 2).sum(axis=1))[:50]
    lasso = labels.copy()
    lasso[near[DIGIT[near] == 3]] = 3
    others = lasso < 0
    before, after = model().fit(DIGITS, labels), model().fit(DIGITS, lasso)
    assert np.count_nonzero(lasso == 3) > 35
    assert np.count_nonzero(DIGIT[after.left_out_["rows"]] == 3) < 20
    right = [np.mean((m.transduction_ == DIGIT)[others]) for m in (before, after)]
    assert right[1] > right[0] - 0.01


def test_numbers_are_averaged_too():
    t = np.linspace(3, 14, 500)
    X = np.column_stack([t * np.cos(t), t * np.sin(t)])
    y = few(t, 40, unknown=np.nan)
    fitted = SemiSupervisedELMRegressor(random_state=0).fit(X, y)
    assert fitted.coupling_ == "pool"
    assert set(fitted.candidates_["kind"]) == {"alone", "tight", "free"}
    assert np.abs(fitted.transduction_ - t).mean() < 0.2
    assert_array_equal(fitted.transduction_[~np.isnan(y)], y[~np.isnan(y)])
    other = y.copy()
    other[7] = t[7]
    assert np.abs(fitted.relabel(other).transduction_ - t).mean() < 0.2


COUPLINGS = pytest.mark.parametrize("coupling", ["auto", "published", "tight", "free"])


def test_columns_are_weighed_by_the_labels_where_few_of_them_matter():
    X, y = make_friedman1(300, noise=0.5, random_state=0)
    values = few(y, 100, unknown=np.nan)
    fitted = SemiSupervisedELMRegressor(n_hidden=300, random_state=0).fit(X, values)
    table = fitted.candidates_
    assert table["weight"][table["layer"] == 2].sum() > 0.9
    unknown = np.isnan(values)
    squares = (fitted.transduction_[unknown] - y[unknown]) ** 2
    assert squares.mean() < 0.25 * y[unknown].var()


def test_tight_is_the_average_of_published_models():
    graph, labels = KNNGraph(7, width="local").laplacian(DIGITS), few(DIGIT, 60)
    grids = {"C": [0.1, 10.0], "lam": [0.01, 1.0]}
    fitted = model(graph=graph, coupling="tight", **grids).fit(DIGITS, labels)
    table = fitted.candidates_
    assert (fitted.coupling_, set(table["kind"])) == ("tight", {"tight"})
    assert {(C, lam) for C, lam in zip(table["C"], table["lam"], strict=True)} == set(
        product(grids["C"], grids["lam"])
    )
    expected, total = 0.0, 0.0
    for C, lam, T, weighting, weight in zip(
        *(table[name] for name in ("C", "lam", "temperature", "weighting", "weight")), strict=True
    ):
        if weight > 1e-3 * table["weight"][0]:
            one = model(graph=graph, class_weight=[None, "balanced"][weighting], C=C, lam=lam)
            one.fit(DIGITS, labels)
            assert one.coupling_ == "published"
            expected = expected + weight * probabilities(one.decision_function(DIGITS), T)
            total += weight
    assert_allclose(fitted.label_distributions_, expected / total, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("solver", ["direct", ConjugateGradients()], ids=str)
@pytest.mark.parametrize("coupling", ["tight", "free"])
def test_an_average_refuses_what_belongs_to_one_published_model(coupling, solver):
    with pytest.raises(InvalidParameterError, match="solver belongs to coupling='published'"):
        model(coupling=coupling, solver=solver).fit(MOONS, few(SIDE, 20))


def test_graphs_that_do_not_fit_in_memory_are_refused_before_they_are_built(monkeypatch):
    monkeypatch.setattr(row_graphs, "available_memory", lambda: 500_000.0)
    monkeypatch.setattr(KNNGraph, "_distances", None)  # it would fail
    labels = few(SIDE, 20)
    # 400 rows × 2 × 40 neighbours × 16 bytes: once for each graph, and thrice to build one.
    words = r"3 graphs of 400 rows need about 3\.07 MB .*500 kB .*n_neighbors"
    with pytest.raises(InvalidParameterError, match=words):
        model(graph=[KNNGraph(40)] * 3).fit(MOONS, labels)
    with pytest.raises(InvalidParameterError, match="1 graph of 400 rows needs about 2"):
        model(graph=KNNGraph(40), coupling="published").fit(MOONS, labels)
    with pytest.raises(InvalidParameterError, match="2 graphs of 400 rows need about 1"):
        model().fit(MOONS, labels)


def test_graphs_that_are_given_as_matrices_count_too(monkeypatch):
    monkeypatch.setattr(row_graphs, "available_memory", lambda: 1e6)
    W = KNNGraph(10).affinity(MOONS)
    assert model(graph=W).fit(MOONS, few(SIDE, 20)).coupling_ == "pool"
    with pytest.raises(InvalidParameterError, match="200 graphs of 400 rows need about"):
        model(graph=[W] * 200).fit(MOONS, few(SIDE, 20))


@COUPLINGS
@pytest.mark.filterwarnings("ignore::ulmus.exceptions.UnreachedRowsWarning")
def test_rows_without_neighbours_have_what_the_hidden_layer_says(coupling):
    labels, joined = few(SIDE, 20), np.arange(400) >= 100
    W = KNNGraph(5).affinity(MOONS).multiply(joined).multiply(joined[:, None]).tocsr()
    fitted = model(graph=W, coupling=coupling).fit(MOONS, labels)
    assert_allclose(fitted.label_distributions_.sum(axis=1), 1.0, rtol=1e-5)
    assert np.mean(fitted.transduction_[:100] == SIDE[:100]) > 0.75
    # Hβ of 200 units follows five neighbours less closely than labels that are spread.
    least = 0.8 if coupling == "tight" else 0.9
    assert np.mean(fitted.transduction_[100:] == SIDE[100:]) > least


@COUPLINGS
@pytest.mark.filterwarnings("ignore::ulmus.exceptions.UnreachedRowsWarning")
def test_a_graph_without_edges_leaves_the_labels_alone(coupling):
    labels = few(SIDE, 60)
    fitted = model(graph=sp.csr_array((400, 400)), coupling=coupling).fit(MOONS, labels)
    known = labels >= 0
    alone = ELMClassifier(n_hidden=200, random_state=0).fit(MOONS[known], SIDE[known])
    right = np.mean(fitted.transduction_[~known] == SIDE[~known])
    assert right >= alone.score(MOONS[~known], SIDE[~known]) - 0.05


@COUPLINGS
def test_a_copy_of_rows_whose_labels_disagree_is_undecided(coupling):
    X = np.repeat(MOONS[:80], 5, axis=0)
    labels = np.full(400, -1)
    labels[:200] = np.tile([0, 1, 0, 1, -1], 40)
    fitted = model(coupling=coupling).fit(X, labels)
    assert_allclose(fitted.label_distributions_[4:200:5], 0.5, atol=0.05)


@COUPLINGS
@pytest.mark.parametrize(
    ("labels", "words"),
    [(np.full(400, -1), "No row has a label"), (few(0 * SIDE + 3, 9), "Only one class is left, 3")],
)
def test_too_few_labels_are_said_before_the_graph_is_built(coupling, labels, words, monkeypatch):
    monkeypatch.setattr(KNNGraph, "_distances", None)  # it would fail
    with pytest.raises(InvalidInputError, match=words):
        model(coupling=coupling).fit(MOONS, labels)


@COUPLINGS
def test_a_graph_of_other_rows_is_refused(coupling):
    with pytest.raises(InvalidInputError, match="The graph has 3 rows, and X has 400"):
        model(graph=sp.csr_array(np.ones((3, 3))), coupling=coupling).fit(MOONS, few(SIDE, 20))


def lopsided():
    X, y = make_blobs([60, 240], centers=[[0, 0], [3.0, 0]], random_state=0)
    labels = np.full(300, -1)
    for code in (0, 1):
        labels[np.flatnonzero(y == code)[:3]] = code
    return X, y, labels


@pytest.mark.parametrize("prior", [[0.2, 0.8], (1, 4), "uniform", "labels"])
@pytest.mark.parametrize("coupling", ["auto", "free"])
def test_known_sizes_of_the_classes_move_the_probabilities_there(prior, coupling):
    X, _, labels = lopsided()
    known = {"uniform": 0.5, "labels": 0.5}.get(prior if isinstance(prior, str) else "", 0.2)
    plain, fitted = (model(coupling=coupling) for _ in range(2))
    plain.fit(X, labels)
    fitted.fit(X, labels, class_prior=prior)
    before, after = (m.label_distributions_[:, 0].mean() for m in (plain, fitted))
    assert abs(after - known) <= abs(before - known) + 1e-6
    odds = [np.log(m.label_distributions_ + 1e-12) for m in (plain, fitted)]
    shift = (odds[1] - odds[0])[:, 0] - (odds[1] - odds[0])[:, 1]
    certain = (np.abs(odds[0][:, 0] - odds[0][:, 1]) > 8) | (labels >= 0)
    assert_allclose(shift[~certain], np.median(shift[~certain]), atol=1e-2)
    again = fitted.relabel(labels)
    assert_allclose(again.label_distributions_, fitted.label_distributions_, atol=1e-4)


def test_sizes_of_classes_that_cannot_be(monkeypatch):
    monkeypatch.setattr(KNNGraph, "_distances", None)  # it would fail
    X, _, labels = lopsided()
    for prior in ([0.5, 0.5, 0.1], [0.0, 1.0], [np.nan, 1.0]):
        with pytest.raises(InvalidParameterError, match="2 positive numbers, in the order of the"):
            model().fit(X, labels, class_prior=prior)
    with pytest.raises(InvalidParameterError, match="class_prior='even' is unknown"):
        model().fit(X, labels, class_prior="even")
    with pytest.raises(InvalidParameterError, match="use coupling='auto', 'tight' or 'free'"):
        model(lam=0.1).fit(X, labels, class_prior="uniform")
    with pytest.raises(InvalidParameterError, match="is for classes"):
        SemiSupervisedELMRegressor().fit(X, labels.astype(float), class_prior="uniform")


def test_probabilities_of_many_classes_sum_to_one():
    X, y = make_blobs(600, n_features=10, centers=150, cluster_std=0.3, random_state=0)
    given = np.full(600, -1)
    given[np.unique(y, return_index=True)[1]] = np.arange(150)
    fitted = model(n_hidden=20).fit(X, given)
    P = fitted.label_distributions_
    assert_allclose(P.sum(axis=1), 1.0, atol=1e-6)
    assert_array_equal(
        fitted.classes_[P.argmax(axis=1)][given < 0], fitted.transduction_[given < 0]
    )
