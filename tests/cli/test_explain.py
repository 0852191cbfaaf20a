"""`ulmus explain`: what a model goes by, printed and as JSON."""

import json
import re

from ulmus.cli import main


def test_columns_effects_and_reasons_are_printed(model, capsys):
    assert main(["explain", str(model), "new.csv", "--rows", "1,50"]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    lines = printed.out.splitlines()
    assert re.match(r"accuracy: (0\.9|1\.0)", lines[0])
    assert lines[1].split() == ["column", "loss", "gradient"]
    assert lines[2].split()[0] in ("petal_length", "petal_width")
    assert any(line.startswith("if petal_length is") for line in lines)
    assert any(line.startswith("row 1: setosa, probability 0.9") for line in lines)
    assert any(line.startswith("row 50: virginica") for line in lines)


def test_training_rows_are_told(model, capsys):
    assert main(["explain", str(model), "flowers.csv", "--json"]) == 0
    printed = capsys.readouterr()
    assert "These are rows that the model was fitted to" in printed.err
    assert json.loads(printed.out)["known_share"] == 1


def test_numbers_and_rows_that_are_not_there(prices, capsys, refused):
    assert main(["fit", "prices.csv", "--target", "price", "--quiet"]) == 0
    capsys.readouterr()
    assert main(["explain", "prices.ulmus", "prices.csv", "--rows", "2"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("R²: 0.9")
    assert "if city is" in printed
    assert "no such row" in refused("explain", "prices.ulmus", "prices.csv", "--rows", "999")


def test_numbers_of_a_column_have_as_many_decimals(model, capsys):
    assert main(["explain", str(model), "new.csv"]) == 0
    lines = capsys.readouterr().out.splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith("if petal_length is"))
    cells = [cell for line in lines[start + 1 : start + 6] for cell in line.split()[1:]]
    assert len({len(cell.partition(".")[2]) for cell in cells}) == 1


def test_rows_that_are_no_numbers(model, refused):
    said = refused("explain", model, "new.csv", "--rows", "x", status=2)
    assert "argument --rows: must be numbers of rows from 1 on, such as 1,5" in said
    said = refused("evaluate", model, "new.csv", "--folds", "many", status=2)
    assert "argument --folds: must be 2 or more" in said
