"""`ulmus cluster`."""

import csv
import io
import json

import numpy as np
import pytest
from PIL import Image
from sklearn.datasets import make_blobs

from cli.conftest import write
from ulmus.cli import main


def test_a_cluster_for_each_row_and_the_sizes_beside(flowers, capsys):
    assert main(["cluster", "flowers.csv", "-k", "3", "--without", "kind"]) == 0
    printed = capsys.readouterr()
    rows = list(csv.DictReader(io.StringIO(printed.out)))
    assert [int(row["row"]) for row in rows] == list(range(1, 101))
    assert {row["cluster"] for row in rows} == {"0", "1", "2"}
    for word in ("ELMSpectralClustering", "silhouette", "share"):
        assert word in printed.err
    assert printed.err.splitlines()[-1] == "  ulmus embed flowers.csv --plot"


def test_out_and_a_column_to_compare_with(flowers, capsys):
    arguments = ["cluster", "flowers.csv", "-k", "3", "--compare", "kind", "--out", "c.csv"]
    assert main([*arguments, "--method", "kmeans"]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert "ELMKMeans" in printed.out
    assert "agrees with the column" in printed.out
    assert printed.out.splitlines()[-1] == "The cluster of each of 100 rows: c.csv"
    assert (flowers / "c.csv").read_text().startswith("row,cluster\n1,")


def test_json_and_seed(flowers, capsys):
    found = []
    for _ in range(2):
        main(["cluster", "flowers.csv", "-k", "4", "--compare", "kind", "--json", "--seed", "7"])
        found.append(json.loads(capsys.readouterr().out))
    assert found[0] == found[1]
    assert sum(found[0]["sizes"]) == len(found[0]["clusters"]) == 100
    assert 0 < found[0]["mutual_information"] <= 1


@pytest.mark.parametrize("method", ["spectral", "kmeans"])
def test_the_number_of_clusters_may_be_chosen(tmp_path, capsys, method):
    X, _ = make_blobs(45, n_features=5, centers=3, random_state=0)
    np.savez(tmp_path / "three.npz", X=X)
    arguments = ["cluster", "three.npz", "-k", "auto", "--method", method]
    assert main([*arguments, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["sizes"]) == 3
    assert found["n_clusters"]["n_clusters"][:2] == [2, 3]
    assert main([*arguments, "--out", "c.csv"]) == 0
    assert "score of each number of clusters" in capsys.readouterr().out


def test_a_number_of_clusters_that_is_none(flowers, capsys):
    with pytest.raises(SystemExit):
        main(["cluster", "flowers.csv", "-k", "some"])
    assert "must be 1 or more, or auto" in capsys.readouterr().err


def test_many_rows_are_clustered_by_k_means(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("ulmus.cli.unlabelled._SPECTRAL_ROWS", 200)
    X = np.random.default_rng(0).normal(size=(201, 2))
    np.savez(tmp_path / "many.npz", X=X)
    assert main(["cluster", "many.npz", "-k", "2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["method"] == "ELMKMeans"


def test_more_clusters_than_rows(tmp_path, refused):
    write(tmp_path / "few.csv", ("x", "z"), [(0, 3), (1, 1), (5, 2)])
    assert refused("cluster", "few.csv", "-k", "4") == (
        "ulmus: -k 4 is more than there are rows, 3."
    )
    write(tmp_path / "one.csv", ("x", "z"), [(0, 3)])
    refused("cluster", "one.csv", "-k", "1")


@pytest.mark.parametrize("k", ["0", "-2", "two", "1.5"])
def test_a_number_of_clusters_is_counted_from_one(flowers, refused, k):
    refused("cluster", "flowers.csv", "-k", k, status=2)


def test_columns_that_are_not_there(flowers, refused):
    assert "did you mean" in refused("cluster", "flowers.csv", "-k", "2", "--without", "kinds")
    assert "did you mean" in refused("cluster", "flowers.csv", "-k", "2", "--compare", "kinds")


def test_clusters_are_written_in_any_kind_with_the_rows_numbers(flowers, refused):
    lines = (flowers / "flowers.csv").read_text().splitlines()
    lines.insert(2, "1,2")
    (flowers / "odd.csv").write_text("\n".join(lines) + "\n")
    options = ["-k", "3", "--skip-bad-lines", "--method", "kmeans", "--out", "found.jsonl"]
    assert main(["cluster", "odd.csv", *options]) == 0
    rows = [json.loads(line) for line in (flowers / "found.jsonl").read_text().splitlines()]
    assert [row["row"] for row in rows[:3]] == [1, 3, 4]
    assert {row["cluster"] for row in rows} == {0, 1, 2}
    assert ".jsonl (JSON lines)" in refused("cluster", "odd.csv", "-k", "3", "--out", "c.xlsx")


def test_images_are_named_by_their_files(tmp_path, capsys):
    rng = np.random.default_rng(0)
    folder = tmp_path / "images"
    folder.mkdir()
    for k in range(12):
        pixels = rng.integers(0, 60, (4, 4)) + 180 * (k % 2)
        Image.fromarray(pixels.astype(np.uint8)).save(folder / f"{k:02}.png")
    assert main(["cluster", "images", "-k", "2", "--quiet", "--method", "kmeans"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "file,cluster"
    assert [line.partition(",")[0] for line in lines[1:]] == [f"{k:02}.png" for k in range(12)]
