"""`ulmus embed`."""

import csv
import io
import json
import re
import sys

import numpy as np
import pytest
from PIL import Image

from cli.conftest import write
from ulmus.cli import main


def test_coordinates_of_each_row(flowers, capsys):
    lines = (flowers / "flowers.csv").read_text().splitlines()
    lines.insert(2, "1,2")
    (flowers / "flowers.csv").write_text("\n".join(lines) + "\n")
    options = ["--without", "kind", "--dims", "3", "--skip-bad-lines"]
    assert main(["embed", "flowers.csv", *options]) == 0
    printed = capsys.readouterr()
    headings, *rows = csv.reader(io.StringIO(printed.out))
    assert headings == ["row", "x1", "x2", "x3"]
    assert np.isfinite(np.array(rows, dtype=float)).all()
    assert [int(row[0]) for row in rows] == [1, *range(3, 102)]
    assert printed.err.splitlines()[-1] == "  ulmus embed flowers.csv --plot"


def test_without_dims_it_is_the_layout(flowers, capsys):
    assert main(["embed", "flowers.csv", "--without", "kind", "--json"]) == 0
    layout = np.array(json.loads(capsys.readouterr().out)["coordinates"])
    assert main(["embed", "flowers.csv", "--without", "kind", "--json", "--dims", "2"]) == 0
    own = np.array(json.loads(capsys.readouterr().out)["coordinates"])
    assert layout.shape == own.shape == (100, 2)
    assert not np.allclose(layout, own)


def test_a_missing_package_is_named_before_the_file_is_read(flowers, refused, monkeypatch):
    monkeypatch.setitem(sys.modules, "pacmap", None)
    assert "pip install 'ulmus[maps]'" in refused("embed", "flowers.csv")
    assert main(["embed", "flowers.csv", "--dims", "2", "--out", "own.csv"]) == 0


def test_a_page_has_the_cells(flowers, capsys):
    assert main(["embed", "flowers.csv", "--color", "kind", "--plot", "map.html"]) == 0
    assert capsys.readouterr().out == "A map of 100 rows: map.html\n"
    page = (flowers / "map.html").read_text(encoding="utf-8")
    data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.S)[1])
    assert data["title"] == "Map of flowers.csv"
    assert data["colours"][0]["name"] == "kind"
    table = list(csv.DictReader(io.StringIO((flowers / "flowers.csv").read_text())))
    for column in data["cells"]:
        cells = [row[column["name"]] for row in table]
        known = [(a, b) for a, b in zip(column["words"], cells, strict=True) if b]
        assert all(a == b or float(a) == float(b) for a, b in known)


def test_a_page_of_images(tmp_path, capsys):
    rng = np.random.default_rng(0)
    for k in range(40):
        folder = tmp_path / "pictures" / "ab"[k % 2]
        folder.mkdir(parents=True, exist_ok=True)
        pixels = rng.integers(0, 90, (6, 5)) + 150 * (k % 2)
        Image.fromarray(pixels.astype(np.uint8)).save(folder / f"{k}.png")
    assert main(["embed", "pictures", "--plot", "map.html"]) == 0
    page = (tmp_path / "map.html").read_text(encoding="utf-8")
    data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.S)[1])
    assert (data["images"]["height"], data["images"]["width"]) == (6, 5)
    assert data["colours"][0]["names"] == ["a", "b"]


def test_out_and_picture_together(flowers, capsys):
    arguments = ["--color", "sepal_length", "--plot", "map.svg", "--out", "map.csv"]
    assert main(["embed", "flowers.csv", *arguments, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found == {"rows": 100, "dims": 2, "out": "map.csv", "picture": "map.svg"}
    assert "<svg" in (flowers / "map.svg").read_text()
    assert len((flowers / "map.csv").read_text().splitlines()) == 101


def test_many_rows_are_mapped_by_some(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("ulmus.cli.unlabelled._MAP_ROWS", 200)
    X = np.random.default_rng(0).normal(size=(250, 2))
    np.savez(tmp_path / "many.npz", X=X)
    assert main(["embed", "many.npz", "--out", "m.csv"]) == 0
    printed = capsys.readouterr()
    assert "learnt from 200 random rows" in printed.err
    assert printed.out == "Coordinates of 250 rows: m.csv\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--plot", "map.txt"], "is not the name of a picture"),
        (["--plot", "none/map.png"], "no folder"),
        (["--plot", "--dims", "1"], "--dims 2"),
        (["--color", "colour"], "There is no column 'colour'"),
        (["--dims", "200"], "n_components=200 is too many"),
    ],
)
def test_refusals(flowers, refused, arguments, words):
    assert words in refused("embed", "flowers.csv", *arguments)


def test_nothing_is_replaced_unasked(flowers, refused, capsys):
    (flowers / "flowers-map.png").write_text("mine")
    assert "--force" in refused("embed", "flowers.csv", "--plot")
    assert main(["embed", "flowers.csv", "--plot", "--force"]) == 0
    assert (flowers / "flowers-map.png").read_bytes().startswith(b"\x89PNG")


def test_constant_columns_leave_nothing_to_map(tmp_path, refused):
    write(tmp_path / "flat.csv", ("x", "z"), [(1, 2)] * 30)
    assert "No column is left" in refused("embed", "flat.csv")
