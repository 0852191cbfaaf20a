"""`ulmus embed`."""

import csv
import io
import json

import numpy as np
import pytest

from cli.conftest import write
from ulmus.cli import main


def test_coordinates_of_each_row(flowers, capsys):
    assert main(["embed", "flowers.csv", "--without", "kind", "--dims", "3"]) == 0
    printed = capsys.readouterr()
    headings, *rows = csv.reader(io.StringIO(printed.out))
    assert headings == ["x1", "x2", "x3"]
    assert np.isfinite(np.array(rows, dtype=float)).all()
    assert len(rows) == 100
    assert printed.err.splitlines()[-1] == "  ulmus embed flowers.csv --plot"


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
        (["--plot", "map.txt"], "is no picture's name"),
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
