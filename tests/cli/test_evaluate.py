"""`ulmus evaluate`: how good, beside what could be had without a model."""

import json

import pytest

from cli.conftest import write
from ulmus.cli import main


def test_classes_a_line_each_and_the_accuracy(model, capsys):
    assert main(["evaluate", str(model), "new.csv"]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    lines = printed.out.splitlines()
    assert lines[0].split() == ["class", "rows", "precision", "recall", "F1"]
    assert lines[1].split()[:2] == ["setosa", "17"]
    assert lines[5].split() == ["true", "\\", "predicted", "setosa", "versicolor", "virginica"]
    assert lines[-1].endswith("of 50 rows of 'kind' are right.")


def test_json_agrees_with_itself(model, capsys):
    assert main(["evaluate", str(model), "new.csv", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    right = sum(row[k] for k, row in enumerate(found["confusion"]))
    assert found["accuracy"] == pytest.approx(right / 50)
    assert found["accuracy"] > 0.9
    assert found["baseline"]["accuracy"] == pytest.approx(17 / 50)
    assert found["classes"]["setosa"]["recall"] == 1.0


def test_numbers(prices, capsys):
    main(["fit", "prices.csv", "--target", "price"])
    capsys.readouterr()
    assert main(["evaluate", "prices.ulmus", "prices.csv"]) == 0
    printed = capsys.readouterr().out
    assert "R²" in printed
    assert "baseline: mean" in printed
    assert main(["evaluate", "prices.ulmus", "prices.csv", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["r2"] > 0.98
    assert found["rmse"] < found["baseline"]["rmse"] / 5


def test_a_class_the_model_does_not_know_counts_as_wrong(model, flowers, capsys):
    text = (flowers / "new.csv").read_text().replace("virginica", "orchid")
    (flowers / "odd.csv").write_text(text)
    assert main(["evaluate", str(model), "odd.csv", "--json"]) == 0
    printed = capsys.readouterr()
    assert "does not know the class 'orchid'" in printed.err
    found = json.loads(printed.out)
    assert found["classes"]["orchid"] == {"rows": 16, "precision": 0, "recall": 0, "f1": 0}
    assert found["accuracy"] <= 34 / 50


def test_rows_without_a_target_are_left_out(model, flowers, capsys):
    text = (flowers / "new.csv").read_text().replace("setosa", "", 4)
    (flowers / "gaps.csv").write_text(text)
    assert main(["evaluate", str(model), "gaps.csv"]) == 0
    printed = capsys.readouterr()
    assert "4 rows have a blank 'kind' and were left out." in printed.err
    assert "of 46 rows" in printed.out


@pytest.mark.parametrize("columns", [20, 40, 200])
def test_narrow_and_wide_terminals(model, capsys, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    assert main(["evaluate", str(model), "new.csv"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines[:-1])) <= columns
    assert ("true \\ predicted" in "\n".join(lines)) == (columns == 200)


def test_files_without_the_target(model, flowers, refused):
    write(flowers / "bare.csv", ("a", "kinds"), [(1, 2)])
    assert "did you mean 'kinds'?" in refused("evaluate", model, "bare.csv")
    text = (flowers / "new.csv").read_text()
    for kind in ("setosa", "versicolor", "virginica"):
        text = text.replace(kind, "rose")
    (flowers / "roses.csv").write_text(text)
    assert "None of the file's classes" in refused("evaluate", model, "roses.csv")
    (flowers / "blank.csv").write_text(text.replace("rose", ""))
    assert "blank in every row" in refused("evaluate", model, "blank.csv")
