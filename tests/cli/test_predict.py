"""`ulmus predict`: rows in, as many lines out, in the same order."""

import csv
import io
import json
import os
import subprocess
import sys

import numpy as np
import pytest

import ulmus
from cli.conftest import COLUMNS, write
from ulmus.cli import main

HERE = os.getcwd()


def predicted(capsys, *arguments):
    assert main(["predict", *map(str, arguments)]) == 0
    printed = capsys.readouterr()
    return list(csv.reader(io.StringIO(printed.out))), printed.err


def test_probabilities_come_with_a_column_a_class(model, capsys):
    (headings, *rows), _ = predicted(capsys, model, "new.csv", "--proba")
    assert headings == ["prediction", *(f"probability of {k}" for k in
                        ("setosa", "versicolor", "virginica"))]  # fmt: skip
    assert len(rows) == 50
    for label, *proba in rows:
        best = headings[1 + int(np.argmax(np.array(proba, dtype=float)))]
        assert best == f"probability of {label}"
        assert sum(map(float, proba)) == pytest.approx(1, abs=1e-4)


def test_the_order_of_the_rows_is_kept(model, flowers, capsys):
    (_, *once), _ = predicted(capsys, model, "new.csv")
    header, *lines = (flowers / "new.csv").read_text().splitlines()
    (flowers / "turned.csv").write_text("\n".join([header, *lines[::-1]]) + "\n")
    (_, *turned), _ = predicted(capsys, model, "turned.csv")
    assert turned == once[::-1]


def test_reordered_and_further_columns_are_fine(model, flowers, capsys):
    once, _ = predicted(capsys, model, "new.csv")
    rows = list(csv.reader(io.StringIO((flowers / "new.csv").read_text())))
    other = [[*row[3::-1], "x"] for row in rows[1:]]
    write(flowers / "other.csv", (*COLUMNS[::-1], "colour"), other)
    again, said = predicted(capsys, model, "other.csv")
    assert again == once
    assert "Columns the model does not know were ignored: 'colour'." in said
    assert said.splitlines()[-1] == "50 predictions of 'kind'; --out FILE writes them to a file."


def test_a_category_that_was_never_seen(prices, tmp_path, capsys):
    main(["fit", "prices.csv", "--target", "price"])
    write(tmp_path / "p.csv", ("area", "city"), [(50, "Oslo"), (50, "Paris")])
    capsys.readouterr()
    (_, *rows), said = predicted(capsys, "prices.ulmus", "p.csv")
    assert len(rows) == 2
    assert float(rows[0][0]) == pytest.approx(250, abs=25)
    assert "'Paris'" in said


def test_numbers_far_outside_stay_within_reason(prices, tmp_path, capsys):
    main(["fit", "prices.csv", "--target", "price"])
    write(tmp_path / "p.csv", ("area", "city"), [(1e12, "Oslo")])
    capsys.readouterr()
    (_, row), _ = predicted(capsys, "prices.ulmus", "p.csv")
    assert 0 < float(row[0]) < 2000


def test_json(model, capsys):
    assert main(["predict", str(model), "new.csv", "--json", "--proba"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["classes"] == ["setosa", "versicolor", "virginica"]
    assert len(found["predictions"]) == len(found["probabilities"]) == found["rows"] == 50


def test_out_writes_a_file_and_says_where(model, flowers, capsys):
    once, _ = predicted(capsys, model, "new.csv")
    assert main(["predict", str(model), "new.csv", "--out", "p.csv"]) == 0
    assert capsys.readouterr().out == "50 predictions of 'kind': p.csv\n"
    assert list(csv.reader(io.StringIO((flowers / "p.csv").read_text()))) == once


def test_quiet_leaves_the_result_alone(model, capsys):
    _, said = predicted(capsys, model, "new.csv", "--quiet")
    assert said == ""


def test_standard_input(model, flowers, capsys, monkeypatch):
    once, _ = predicted(capsys, model, "new.csv")
    data = io.TextIOWrapper(io.BytesIO((flowers / "new.csv").read_bytes()))
    monkeypatch.setattr("sys.stdin", data)
    again, _ = predicted(capsys, model, "-")
    assert again == once


def test_a_reader_that_goes_away(model, flowers):
    write(flowers / "many.csv", COLUMNS, [(5.1, 3.5, 1.4, 0.2)] * 20_000)
    command = [sys.executable, "-m", "ulmus.cli", "predict", str(model), flowers / "many.csv"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, cwd=HERE) as process:
        assert process.stdout.readline() == b"prediction\n"
        process.stdout.close()
        said = process.stderr.read()
    assert (process.returncode, said) == (141, b"")


# ---------------------------------------------------------------------- refusals
def test_a_missing_column(model, flowers, refused):
    rows = [line.split(",")[1:] for line in (flowers / "new.csv").read_text().splitlines()]
    write(flowers / "less.csv", rows[0], rows[1:])
    assert "'sepal_length' is missing" in refused("predict", model, "less.csv")


def test_a_word_among_numbers(model, flowers, refused):
    write(flowers / "word.csv", COLUMNS, [(1, 2, 3, 4), (1, 2, "three", 4)])
    assert "'three'" in refused("predict", model, "word.csv")


def test_files_that_are_no_model(model, flowers, refused):
    for text in ("", "not a model", "PK\x03\x04 not a zip"):
        (flowers / "bad.ulmus").write_text(text)
        assert "cannot be read as a model" in refused("predict", "bad.ulmus", "new.csv")
    whole = model.read_bytes()
    (flowers / "bad.ulmus").write_bytes(whole[: len(whole) // 2])
    assert "cannot be read as a model" in refused("predict", "bad.ulmus", "new.csv")
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 0xFF
    (flowers / "bad.ulmus").write_bytes(flipped)
    assert "cannot be read as a model" in refused("predict", "bad.ulmus", "new.csv")
    assert "none.ulmus" in refused("predict", "none.ulmus", "new.csv")


def test_a_newer_model(model, flowers, refused):
    newer = model.read_bytes()
    monkey = pytest.MonkeyPatch()
    with monkey.context() as patch:
        patch.setattr("ulmus.persistence.models._VERSION", 0)
        assert "install a newer Ulmus" in refused("predict", model, "new.csv")
    assert model.read_bytes() == newer


def test_a_model_that_reads_no_tables(flowers, refused):
    ulmus.save(ulmus.RandomFeatures(5), flowers / "units.ulmus")
    assert "holds a RandomFeatures" in refused("predict", "units.ulmus", "new.csv")


def test_probabilities_of_numbers(prices, capsys, refused):
    main(["fit", "prices.csv", "--target", "price"])
    found = refused("predict", "prices.ulmus", "prices.csv", "--proba")
    assert "leave --proba out" in found


def test_outputs_that_cannot_be(model, flowers, refused):
    (flowers / "there.csv").write_text("mine")
    assert "--force" in refused("predict", model, "new.csv", "--out", "there.csv")
    assert "no folder" in refused("predict", model, "new.csv", "--out", "none/p.csv")
    (flowers / "empty.csv").write_text(",".join(COLUMNS) + "\n")
    refused("predict", model, "empty.csv")
    refused("predict", model, "absent.csv")


# ---------------------------------------------------------------- spreadsheets
FORMULAS = ("=cmd|' /C calc'!A0", "@SUM(1)", "-2+3")


@pytest.fixture
def formulas(flowers, capsys):
    """A model of classes that a spreadsheet would take for formulas."""
    text = (flowers / "flowers.csv").read_text()
    for kind, formula in zip(("setosa", "versicolor", "virginica"), FORMULAS, strict=True):
        text = text.replace(kind, formula)
    (flowers / "odd.csv").write_text(text)
    assert main(["fit", "odd.csv", "--target", "kind", "--quiet"]) == 0
    capsys.readouterr()
    return flowers / "odd.ulmus"


def test_no_prediction_is_a_formula_to_a_spreadsheet(formulas, capsys):
    (_, *rows), said = predicted(capsys, formulas, "new.csv")
    assert {label for (label,) in rows} == {f"'{formula}" for formula in FORMULAS}
    assert "--raw writes them as they are" in said
    assert main(["predict", str(formulas), "new.csv", "--out", "out.csv"]) == 0
    assert "\n=" not in (formulas.parent / "out.csv").read_text()


def test_raw_predictions_are_as_they_are(formulas, capsys):
    (_, *rows), said = predicted(capsys, formulas, "new.csv", "--raw")
    assert {label for (label,) in rows} == set(FORMULAS)
    assert "--raw" not in said
    assert main(["predict", str(formulas), "new.csv", "--json"]) == 0
    assert set(json.loads(capsys.readouterr().out)["predictions"]) == set(FORMULAS)


def test_numbers_are_no_formulas(tmp_path, capsys):
    x = np.linspace(-1, 1, 60)
    write(tmp_path / "signs.csv", ("x", "sign"), zip(x, np.where(x < 0, "-1", "+1"), strict=True))
    assert main(["fit", "signs.csv", "--target", "sign", "--task", "classification"]) == 0
    capsys.readouterr()
    (_, *rows), _ = predicted(capsys, "signs.ulmus", "signs.csv")
    assert {label for (label,) in rows} <= {"-1", "1", "+1"}
    write(tmp_path / "line.csv", ("x", "y"), zip(x, -5 * x, strict=True))
    assert main(["fit", "line.csv", "--target", "y"]) == 0
    capsys.readouterr()
    (_, *rows), _ = predicted(capsys, "line.ulmus", "line.csv")
    assert all(float(value) < 6 for (value,) in rows)
