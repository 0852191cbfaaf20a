"""Clustering in ELM feature space: the protocols' numbers, the rows, and every clusterer."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.datasets import load_wine

from papers import hidden_clusters
from papers.datasets import make_synthetic_control
from papers.protocol import Case, cases, load
from ulmus.metrics import purity

TABLES = [f"1-table-{number}" for number in range(2, 8)]
FIGURES = [f"1-figure-2-{letter}" for letter in "abcd"]
SETTINGS = {"classes": 3, "nodes": 60, "sigma": 0.5, "starts": 3, "precision": "float32"}
ELM = [
    {"clusterer": clusterer, "units": units}
    for clusterer in ("ELM k-means", "ELM NMF")
    for units in ("cited", "default")
]
OTHERS = set(hidden_clusters.CLUSTERERS) - {"ELM k-means", "ELM NMF", "UMAP k-means"}
PLAIN = [{"clusterer": c} for c in sorted(OTHERS)]


# Typed from the page, not from the files.
@pytest.mark.parametrize(
    ("table", "row", "method", "found"),
    [
        (2, "6 clusters", "ELM k-means", (88.4, 0.833)),
        (2, "3 clusters", "kernel k-means", (79.4, 0.729)),
        (3, "15 clusters", "k-means", (44.5, 0.595)),
        (4, "24 clusters", "ELM k-means", (83.2, 0.914)),
        (5, "5 clusters", "NMF", (68.8, 0.799)),
        (6, "5 clusters", "kernel NMF", (67.4, 0.589)),
        (7, "30 clusters", "ELM NMF", (83.0, 0.885)),
    ],
)
def test_cells_are_the_papers(table, row, method, found):
    (stated,) = (r.paper[method] for r in load(f"1-table-{table}").rows if r.name == row)
    assert (stated["purity"], stated["nmi"]) == found


@pytest.mark.parametrize("name", TABLES)
def test_tables_are_whole(name):
    protocol = load(name)
    assert [m.role for m in protocol.methods].count("proposed") == 1
    printed = [m.name for m in protocol.methods][:3]
    for row in protocol.rows:
        assert list(row.paper) == printed
        assert row.name == f"{row.settings['classes']} clusters"
        assert all(40 < c["purity"] <= 100 and 0 < c["nmi"] <= 1 for c in row.paper.values())
    assert len(protocol.rows) == {"s": 5, "l": 7, "t": 8}[row.data[0]]


@pytest.mark.parametrize("name", FIGURES)
def test_axes_are_the_papers(name):
    axis = load(name).axis
    assert len(axis.values) == {"nodes": 29, "sigma": 19}[axis.name]
    assert (axis.values[0], axis.values[-1]) == {
        "nodes": (10, 2000),
        "sigma": (2**-10, 2**8),
    }[axis.name]
    assert_allclose(sorted(axis.values), axis.values)


@pytest.mark.parametrize("name", TABLES + FIGURES)
def test_every_case_names_what_its_clusterer_needs(name):
    for case in cases(load(name)):
        s = case.settings | ({case.settings["varied"]: case.x} if case.x is not None else {})
        assert s["clusterer"] in hidden_clusters.CLUSTERERS
        needed = {"classes", "starts"}
        needed |= {"nodes"} if s["clusterer"].startswith("ELM") else set()
        needed |= {"units"} if s["clusterer"] in ("ELM k-means", "ELM NMF") else set()
        needed |= {"sigma"} if s["clusterer"].startswith("kernel") else set()
        needed |= {"precision"} if s["clusterer"] in ("ELM NMF", "kernel NMF") else set()
        assert needed <= s.keys()
        if case.repetition == 1:
            break


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    unit = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    return hidden_clusters.Inputs(unit, unit, 2 * unit - 1, y)


@pytest.mark.parametrize("method", ELM + PLAIN, ids=lambda m: " ".join(m.values()))
def test_every_clusterer_finds_the_wines(method, wine):
    labels = hidden_clusters.labels_of(wine, SETTINGS | method, seed=0)
    # Forty in a hundred are of the largest class.
    assert purity(wine.y, labels) > 0.75


def test_units_are_those_of_the_cited_program():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (50, 4))
    units = hidden_clusters.CitedUnits(3000, random_state=0).fit(X)
    a, b = units.weights_, units.biases_
    assert_allclose(units.transform(X), np.exp(-((X @ a.T + b) ** 2)), rtol=1e-12)
    assert -1 <= a.min() < -0.99
    assert 0.99 < a.max() <= 1
    assert 0 <= b.min() < 0.01
    assert 0.99 < b.max() <= 1


@pytest.fixture
def made_files(monkeypatch):
    """Rows that are made in place of the benchmark files."""
    rng = np.random.default_rng(0)
    topic = np.repeat([0, 1, 2], 150)
    counts = rng.poisson(0.05 + 0.5 * (np.arange(600) % 3 == topic[:, None]))
    files = {
        "synthetic_control": make_synthetic_control(0),
        "tdt2": (sp.csr_array(counts.astype(float)), topic),
    }
    monkeypatch.setattr(hidden_clusters, "benchmark_rows", files.__getitem__)
    hidden_clusters.inputs.cache_clear()
    yield files
    hidden_clusters.inputs.cache_clear()


def test_the_cited_units_tell_control_charts_apart_and_the_printed_ones_do_not(made_files):
    rows = hidden_clusters.inputs("synthetic_control", 5)
    s = SETTINGS | {"classes": 5, "units": "cited", "nodes": 1000, "starts": 10}
    cited, printed = (
        purity(rows.y, hidden_clusters.labels_of(rows, s | {"clusterer": clusterer}, seed=0))
        for clusterer in ("ELM k-means", "ELM k-means, to the letter")
    )
    assert cited > 0.88  # the paper has .933
    assert printed < 0.8


def test_a_run_scores_and_takes_the_axis_value(monkeypatch):
    seen = []
    monkeypatch.setattr(
        hidden_clusters, "labels_of", lambda rows, s, seed: seen.append((s, seed)) or rows.y
    )
    settings = SETTINGS | {"varied": "nodes", "clusterer": "ELM k-means", "units": "local"}
    case = Case("t", "papers.hidden_clusters", "r", "wine", "m", 30.0, 4, 2, settings)
    found = case.run()
    assert (found["purity"], found["nmi"]) == (100.0, 1.0)
    assert found["seconds"] >= 0
    assert (seen[0][0]["nodes"], seen[0][1]) == (30.0, 2004)


def test_a_run_repeats_itself():
    settings = SETTINGS | {"clusterer": "ELM NMF", "units": "local"}
    first, again, other = (
        Case("t", "papers.hidden_clusters", "r", "wine", "m", None, rep, 0, settings).run()
        for rep in (0, 0, 1)
    )
    assert first["nmi"] == again["nmi"] != other["nmi"]


def test_stories_are_drawn_anew_and_other_data_are_not(monkeypatch):
    seen = []
    rows = hidden_clusters.Inputs(None, None, None, np.array([0, 1]))
    monkeypatch.setattr(hidden_clusters, "inputs", lambda *asked: seen.append(asked) or rows)
    monkeypatch.setattr(hidden_clusters, "labels_of", lambda rows, s, seed: rows.y)
    for data in ("tdt2", "libras"):
        for repetition in (0, 3):
            evaluator = "papers.hidden_clusters"
            Case("t", evaluator, "r", data, "m", None, repetition, 2, {"classes": 5}).run()
    assert seen == [("tdt2", 5, 2000), ("tdt2", 5, 2003), ("libras", 5, 0), ("libras", 5, 0)]


def test_components_are_the_principal_ones():
    X = sp.random_array((30, 80), density=0.2, random_state=np.random.default_rng(0)).tocsr()
    found = hidden_clusters._components(X, 5)
    dense = X.toarray()
    U, values, _ = np.linalg.svd(dense - dense.mean(axis=0), full_matrices=False)
    assert_allclose(np.abs(found), np.abs(U[:, :5] * values[:5]), atol=1e-10)


def test_stories_are_weighted_as_the_paper_says(made_files):
    stories = hidden_clusters.inputs("tdt2", 2)
    counts, topic = made_files["tdt2"]
    rng = np.random.default_rng(0)
    rows = [rng.permutation(np.flatnonzero(topic == k))[:100] for k in range(2)]
    C = counts.toarray()[np.sort(np.concatenate(rows))]
    in_stories = np.count_nonzero(C, axis=0)
    C, in_stories = C[:, in_stories > 0], in_stories[in_stories > 0]
    W = np.where(C > 0, 1 + np.log(np.maximum(C, 1)), 0) * np.log(200 / in_stories)
    W /= np.linalg.norm(W, axis=1, keepdims=True)
    assert_allclose(stories.positive.toarray(), W, atol=1e-12)
    assert np.bincount(stories.y).tolist() == [100, 100]
    assert stories.hidden.shape == (200, 200)
