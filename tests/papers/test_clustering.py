"""The first paper's clusterings: what its tables say, and what is run for them."""

import builtins
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.cluster import KMeans

from papers import clustering
from papers.protocol import cases, load
from ulmus.exceptions import MissingExtraError
from ulmus.metrics import clustering_accuracy

FIGURES = ("0-figure-4", "0-figure-5", "0-figure-6", "0-figure-7", "0-figure-8", "0-figure-9",
           "0-figure-10", "0-figure-12")  # fmt: skip


def case_of(table, row, method, x=None):
    """The first run of a cell or a point, with few starts."""
    found = next(
        case
        for case in cases(load(table))
        if (case.row, case.method) == (row, method) and x in (None, case.x)
    )
    return replace(found, settings=found.settings | {"starts": 5})


@pytest.mark.parametrize(
    ("row", "method", "paper"),
    [
        ("IRIS", "DA", {"ACC": [89.69, 14.01], "best": 97.33}),
        ("WINE", "LE", {"ACC": [96.63, 0], "best": 96.63}),
        ("SEGMENT", "SC", {"ACC": [65.64, 4.72], "best": 77.10}),
        ("COIL20", "US-ELM", {"ACC": [87.58, 3.47], "best": 90.35}),
        ("USPST", "LE", {"ACC": [72.44, 6.20], "best": 81.32}),
        ("YALEB", "k-means", {"ACC": [38.46, 3.74], "best": 47.27}),
        ("ORL", "US-ELM", {"ACC": [59.26, 3.54], "best": 67.50}),
    ],
)
def test_table_5_has_the_papers_accuracies(row, method, paper):
    rows = {row.name: row for row in load("0-table-5").rows}
    assert rows[row].paper[method] == paper


def test_table_6_has_the_papers_seconds():
    rows = {row.name: row.paper for row in load("0-table-6").rows}
    assert rows["COIL20"]["DA"] == {"seconds": 5681}
    assert rows["USPST"]["LE"] == {"seconds": 0.113}
    assert rows["SEGMENT"]["US-ELM"] == {"seconds": 1.796}
    assert rows["IRIS"]["k-means"] == {"seconds": 0.004}


@pytest.mark.parametrize("table", ["0-table-5", "0-table-6"])
def test_the_tables_are_whole(table):
    protocol = load(table)
    assert [row.name for row in protocol.rows] == [
        "IRIS", "WINE", "SEGMENT", "COIL20", "USPST", "YALEB", "ORL",
    ]  # fmt: skip
    published = {
        method.name for method in protocol.methods if method.role not in ("automatic", "literal")
    }
    for row in protocol.rows:
        assert set(row.paper) == published - {"UMAP + k-means"}


@pytest.mark.parametrize("name", ["0-table-6", *FIGURES])
def test_all_files_state_the_same_runs(name):
    stated = {row.name: row for row in load("0-table-5").rows}
    for row in load(name).rows:
        there = stated[row.name.split(",")[0]]
        assert row.data == there.data
        for key, value in row.settings.items():
            if key not in ("dimension", "same_pixels"):
                assert value == there.settings[key]
        for method, dimension in row.settings.get("dimension", {}).items():
            assert dimension == there.settings["dimension"][method]


@pytest.mark.parametrize("name", FIGURES[:-1])
def test_figures_show_the_dimensions_that_the_table_uses(name):
    protocol = load(name)
    (row,) = protocol.rows
    chosen = {row.name: row.settings["dimension"] for row in load("0-table-5").rows}[row.name]
    assert {chosen[method.name] for method in protocol.methods} <= set(protocol.axis.values)


def test_k_means_is_counted_start_by_start():
    found = clustering.run(case_of("0-table-5", "IRIS", "k-means"))
    X, y = clustering.benchmark_rows("iris")
    labels = [
        KMeans(3, init="random", n_init=1, random_state=seed).fit(X).labels_ for seed in range(5)
    ]
    assert found["ACC"] == [100 * clustering_accuracy(y, each) for each in labels]
    assert found["seconds"] > 0


@pytest.mark.parametrize("method", ["SC", "LE", "US-ELM"])
def test_embeddings_find_the_irises(method):
    found = clustering.run(case_of("0-table-5", "IRIS", method))["ACC"]
    assert len(found) == 5
    assert max(found) > 85


def test_the_automatic_column_sees_no_class_and_keeps_the_tightest_of_ten():
    case = case_of("0-table-5", "WINE", "ELMSpectralClustering")
    (found,) = clustering.run(replace(case, settings=case.settings | {"starts": 10}))["ACC"]
    assert found > 90
    assert case.settings["scale"] == "raw"


@pytest.mark.torch
def test_the_autoencoder_finds_the_irises():
    found = clustering.run(case_of("0-table-5", "IRIS", "DA"))["ACC"]
    assert max(found) > 80


def test_a_figure_sets_the_dimension():
    at = {x: clustering.run(case_of("0-figure-4", "IRIS", "LE", x))["ACC"] for x in (2, 9)}
    case = case_of("0-table-5", "IRIS", "LE")
    for x, found in at.items():
        stated = replace(case, settings=case.settings | {"dimension": {"LE": x}})
        assert clustering.run(stated)["ACC"] == found
    assert at[2] != at[9]


def test_repetitions_are_seeds_of_the_hidden_layer():
    case = case_of("0-table-5", "IRIS", "US-ELM")
    first, again, second = (
        clustering.run(replace(case, repetition=repetition))["ACC"] for repetition in (0, 0, 1)
    )
    assert first == again
    assert first != second


@pytest.mark.parametrize("same", [False, True])
def test_noise_replaces_the_stated_share_and_more_noise_keeps_it(same):
    X = np.full((50, 4000), 7.0)
    some, more = (clustering._noisy(X, share, same, 0) for share in (0.2, 0.5))
    assert_allclose([np.mean(some != 7), np.mean(more != 7)], [0.2, 0.5], atol=0.02)
    assert np.array_equal(more[some != 7], some[some != 7])
    assert np.abs(more[more != 7]).max() <= 0.5
    assert np.array_equal(clustering._noisy(X, 0.0, same, 0), X)
    assert ((more != 7) == (more != 7)[0]).all() == same
    assert np.ptp(more, axis=0).max() > 0.9


def test_without_umap_the_message_says_how_to_get_it(monkeypatch):
    real = builtins.__import__

    def no_umap(name, *rest):
        if name == "umap":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", no_umap)
    with pytest.raises(MissingExtraError, match="pip install umap-learn"):
        clustering.run(case_of("0-table-5", "IRIS", "UMAP + k-means"))


@pytest.mark.parametrize("row", ["USPST, the same pixels", "USPST, pixels of each image"])
def test_a_figure_sets_the_noise(row):
    clean, noisy = (
        clustering.run(replace(case_of("0-figure-12", row, "LE", x), data="wine"))["ACC"]
        for x in (0.0, 0.5)
    )
    case = case_of("0-table-5", "USPST", "LE")
    assert clustering.run(replace(case, data="wine"))["ACC"] == clean
    assert noisy != clean
