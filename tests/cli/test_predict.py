"""`ulmus predict`: rows in, as many lines out, in the same order."""

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest
from PIL import Image

import ulmus
from cli.conftest import COLUMNS, write
from ulmus.backends.arrow import write_parquet
from ulmus.cli import main
from ulmus.estimators.kernel import KernelELMClassifier, KernelELMRegressor
from ulmus.persistence import load, save
from ulmus.tables import fit_table, read_table

HERE = os.getcwd()
KINDS = ("setosa", "versicolor", "virginica")


def predicted(capsys, *arguments):
    assert main(["predict", *map(str, arguments)]) == 0
    printed = capsys.readouterr()
    return list(csv.DictReader(io.StringIO(printed.out))), printed.err


def labels(rows):
    return [row["prediction"] for row in rows]


def test_a_row_has_its_number_its_class_and_how_likely_that_is(model, capsys):
    rows, _ = predicted(capsys, model, "new.csv")
    assert [row["row"] for row in rows] == [str(k) for k in range(1, 51)]
    assert list(rows[0]) == ["row", "prediction", "probability"]
    assert all(1 / 3 < float(row["probability"]) <= 1 for row in rows)


def test_probabilities_come_with_a_column_a_class(model, capsys):
    rows, _ = predicted(capsys, model, "new.csv", "--probabilities")
    assert len(rows) == 50
    for row in rows:
        found = {name: float(row.pop(f"probability of {name}")) for name in KINDS}
        # Another class may be as likely.
        assert found[row["prediction"]] == max(found.values())
        assert max(found.values()) == float(row["probability"])
        assert sum(found.values()) == pytest.approx(1, abs=1e-4)
        assert list(row) == ["row", "prediction", "probability"]


# ---------------------------------------------------------------- joining back
@pytest.fixture
def customers(tmp_path, fit_once):
    """A model of a file with ids, one of which no float holds, and a name that is not learnt."""
    rng = np.random.default_rng(0)
    rows = [
        (12345678901234567890 + 2 * k, f"Ann {k % 7}", f"{v:.3f}", "yes" if v > 0 else "no")
        for k, v in enumerate(rng.normal(size=60))
    ]
    write(tmp_path / "customers.csv", ("customer_id", "name", "x", "buys"), rows)
    fit_once(tmp_path / "customers.csv", "buys")
    return rows


def test_ids_kept_columns_and_all_columns_join_predictions_to_the_rows(customers, capsys):
    rows, _ = predicted(capsys, "customers.ulmus", "customers.csv")
    assert [row["customer_id"] for row in rows] == [str(row[0]) for row in customers]
    rows, _ = predicted(capsys, "customers.ulmus", "customers.csv", "--keep", "name, x")
    assert list(rows[0])[:4] == ["row", "customer_id", "name", "x"]
    assert [row["name"] for row in rows] == [row[1] for row in customers]
    rows, _ = predicted(capsys, "customers.ulmus", "customers.csv", "--append")
    header = ["row", "customer_id", "name", "x", "buys", "prediction", "probability"]
    assert list(rows[0]) == header
    assert [float(row["x"]) for row in rows] == [float(row[2]) for row in customers]


def test_predictions_may_be_appended_twice(customers, capsys):
    assert main(["predict", "customers.ulmus", "customers.csv", "--append", "--out", "a.csv"]) == 0
    capsys.readouterr()
    rows, _ = predicted(capsys, "customers.ulmus", "a.csv", "--append")
    assert list(rows[0])[-2:] == ["prediction_2", "probability_2"]
    assert len(rows[0]) == 10


@pytest.mark.parametrize("name", ["p.csv", "p.tsv", "p.jsonl", "p.parquet"])
def test_the_end_of_the_name_is_the_kind_of_file(customers, tmp_path, capsys, name):
    arguments = ("customers.ulmus", "customers.csv", "--keep", "name,x", "--probabilities")
    once, _ = predicted(capsys, *arguments)
    assert main(["predict", *arguments, "--out", name]) == 0
    text = (tmp_path / name).read_bytes()
    if name.endswith("parquet"):
        rows = pyarrow.parquet.read_table(tmp_path / name).to_pylist()
    elif name.endswith("jsonl"):
        rows = [json.loads(line) for line in text.decode().splitlines()]
    else:
        mark = "\t" if name.endswith("tsv") else ","
        rows = list(csv.DictReader(io.StringIO(text.decode()), delimiter=mark))
    assert [{key: str(value) for key, value in row.items()} for row in rows] == once


def test_images_are_told_apart_by_their_files(tmp_path, capsys):
    for k in range(12):
        path = tmp_path / "shades" / ("dark", "light")[k % 2] / f"{k:02}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(np.full((4, 4), 40 + 150 * (k % 2) + k, dtype=np.uint8)).save(path)
    assert main(["fit", "shades", "--quiet"]) == 0
    capsys.readouterr()
    rows, _ = predicted(capsys, "shades.ulmus", "shades")
    assert list(rows[0]) == ["file", "prediction", "probability"]
    assert [row["file"] for row in rows][:2] == ["dark/00.png", "dark/02.png"]
    assert all(row["file"].startswith(row["prediction"]) for row in rows)
    assert predicted(capsys, "shades.ulmus", "shades", "--append")[0] == rows


def test_columns_from_parquet_to_parquet_keep_their_types(customers, tmp_path, capsys):
    given = pyarrow.table(
        {
            "customer_id": [2**62 + 1, 2**62 + 3, None],
            "name": pyarrow.array(["Ann", "Bo", None]).dictionary_encode(),
            "x": pyarrow.array([0.5, -0.5, 1.0], pyarrow.float32()),
            "prediction": pyarrow.array([True, False, None]),
            "day": pyarrow.array([0, 20_000, None], pyarrow.date32()),
            "when": pyarrow.array([0, 10**15, None], pyarrow.timestamp("us", tz="UTC")),
        }
    )
    pyarrow.parquet.write_table(given, tmp_path / "new.parquet")
    assert main(["predict", "customers.ulmus", "new.parquet", "--append", "--out", "p.pq"]) == 0
    found = pyarrow.parquet.read_table(tmp_path / "p.pq")
    assert found.column_names == ["row", *given.column_names, "prediction_2", "probability"]
    assert found.select(given.column_names).equals(given)
    (tmp_path / "new.parquet").rename(tmp_path / "new")
    assert main(["predict", "customers.ulmus", "new", "--kind", "parquet", "--out", "q.pq"]) == 0
    assert pyarrow.parquet.read_table("q.pq")["customer_id"].equals(given["customer_id"])
    (tmp_path / "customers.csv").rename(tmp_path / "text.parquet")
    asked = ["text.parquet", "--kind", "csv", "--append", "--out", "r.pq"]
    assert main(["predict", "customers.ulmus", *asked]) == 0


def test_parquet_has_integers_missing_values_and_text(tmp_path):
    columns = {
        "whole": np.array([1, np.nan, 3]),
        "part": np.array([1.5, np.nan, 3]),
        "text": np.array(["a", None, "c"], dtype=object),
        "label": np.array(["x", "y", "z"]),
    }
    with (tmp_path / "t.parquet").open("wb") as stream:
        write_parquet(stream, columns)
    found = pyarrow.parquet.read_table(tmp_path / "t.parquet")
    assert found.to_pydict() == {
        "whole": [1, None, 3],
        "part": [1.5, None, 3.0],
        "text": ["a", None, "c"],
        "label": ["x", "y", "z"],
    }
    assert str(found.schema.field("whole").type) == "int64"


def test_rows_keep_their_numbers_where_bad_lines_are_skipped(model, flowers, capsys):
    lines = (flowers / "new.csv").read_text().splitlines()
    lines[3] += ",one too many"
    (flowers / "ragged.csv").write_text("\n".join(lines) + "\n")
    rows, said = predicted(capsys, model, "ragged.csv", "--skip-bad-lines")
    assert [int(row["row"]) for row in rows] == [1, 2, *range(4, 51)]
    assert "1 bad line skipped" in said


def test_a_file_without_a_header_gives_a_prediction_for_each_line(flowers, capsys):
    lines = (flowers / "flowers.csv").read_text().splitlines()[1:]
    (flowers / "iris.data").write_text("\n".join(lines[:90]) + "\n")
    assert main(["fit", "iris.data", "--target", "column_5", "--quiet"]) == 0
    capsys.readouterr()
    (flowers / "rest.data").write_text("\n".join(lines[90:]) + "\n")
    for name, count in (("iris.data", 90), ("rest.data", 10)):
        rows, _ = predicted(capsys, "iris.ulmus", name)
        assert len(rows) == count


@pytest.mark.parametrize("kernel", [False, True])
def test_intervals_hold_about_as_many_rows_as_they_should(prices, capsys, monkeypatch, kernel):
    monkeypatch.setattr("ulmus.tables.fitting._BETTER", np.inf if kernel else 0.0)
    assert main(["fit", "prices.csv", "--target", "price", "--quiet"]) == 0
    assert isinstance(load("prices.ulmus").estimator, KernelELMRegressor) == kernel
    capsys.readouterr()
    rows, _ = predicted(capsys, "prices.ulmus", "prices.csv", "--interval", "80", "--keep", "price")
    held = [float(row["lower"]) <= float(row["price"]) <= float(row["upper"]) for row in rows]
    assert 0.75 <= np.mean(held) <= 0.95
    assert all(float(row["lower"]) < float(row["prediction"]) < float(row["upper"]) for row in rows)


def test_a_file_without_fitted_rows_says_why_it_has_no_intervals(prices, monkeypatch, refused):
    monkeypatch.setattr("ulmus.tables.fitting._BETTER", 0.0)
    save(fit_table(read_table(prices), "price"), "small.ulmus", for_update=False)
    said = refused("predict", "small.ulmus", "prices.csv", "--interval", "90")
    assert "`ulmus fit` writes a file with them; or leave --interval out" in said


def test_rows_that_were_fitted_lead_to_folds_and_new_ones_to_their_file(model, capsys):
    for name, last in (("flowers.csv", "flowers.csv --folds 5"), ("new.csv", "new.csv")):
        assert main(["predict", str(model), name]) == 0
        assert capsys.readouterr().err.splitlines()[-1] == f"  ulmus evaluate {model} {last}"


def test_the_order_of_the_rows_is_kept(model, flowers, capsys):
    once, _ = predicted(capsys, model, "new.csv")
    header, *lines = (flowers / "new.csv").read_text().splitlines()
    (flowers / "turned.csv").write_text("\n".join([header, *lines[::-1]]) + "\n")
    turned, _ = predicted(capsys, model, "turned.csv")
    assert labels(turned) == labels(once)[::-1]


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
    rows, said = predicted(capsys, "prices.ulmus", "p.csv")
    assert len(rows) == 2
    assert float(rows[0]["prediction"]) == pytest.approx(250, abs=25)
    assert "'Paris'" in said


def test_numbers_far_outside_stay_within_reason(prices, tmp_path, capsys):
    main(["fit", "prices.csv", "--target", "price"])
    write(tmp_path / "p.csv", ("area", "city"), [(1e12, "Oslo")])
    capsys.readouterr()
    assert main(["predict", "prices.ulmus", "p.csv", "--out", "one.csv"]) == 0
    assert capsys.readouterr().out == "1 prediction of 'price': one.csv\n"
    (row,), _ = predicted(capsys, "prices.ulmus", "p.csv")
    assert 0 < float(row["prediction"]) < 2000


def test_json(model, capsys):
    assert main(["predict", str(model), "new.csv", "--json", "--probabilities"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["classes"] == list(KINDS)
    assert len(found["columns"]) == 6
    assert all(len(values) == found["rows"] == 50 for values in found["columns"].values())


def test_out_writes_a_file_and_says_where(model, flowers, capsys):
    once, _ = predicted(capsys, model, "new.csv")
    assert main(["predict", str(model), "new.csv", "--out", "p.csv"]) == 0
    assert capsys.readouterr().out == "50 predictions of 'kind': p.csv\n"
    assert list(csv.DictReader(io.StringIO((flowers / "p.csv").read_text()))) == once


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
    command = [sys.executable, "-m", "ulmus", "predict", str(model), flowers / "many.csv"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, cwd=HERE) as process:
        assert process.stdout.readline() == b"row,prediction,probability\n"
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
    for text, words in {
        "": "is not a model file",
        "not a model": "is not a model file",
        "PK\x03\x04 not a zip": "cannot be read as a model",
    }.items():
        (flowers / "bad.ulmus").write_text(text)
        assert words in refused("predict", "bad.ulmus", "new.csv")
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
    found = refused("predict", "prices.ulmus", "prices.csv", "--probabilities")
    assert "leave --probabilities out" in found


@pytest.mark.parametrize("kernel", [False, True])
def test_sets_of_classes_hold_about_as_many_rows_as_they_should(
    flowers, capsys, monkeypatch, kernel
):
    monkeypatch.setattr("ulmus.tables.fitting._BETTER", np.inf if kernel else 0.0)
    assert main(["fit", "flowers.csv", "--target", "kind", "--quiet", "--force"]) == 0
    assert isinstance(load("flowers.ulmus").estimator, KernelELMClassifier) == kernel
    capsys.readouterr()
    options = ["--interval", "90", "--probabilities", "--keep", "kind"]
    rows, _ = predicted(capsys, "flowers.ulmus", "flowers.csv", *options)
    sets = [row["set"].split("|") for row in rows]
    assert {name for names in sets for name in names} <= {"setosa", "versicolor", "virginica", ""}
    assert np.mean([row["kind"] in names for row, names in zip(rows, sets, strict=True)]) >= 0.85
    assert any(key.startswith("probability of") for key in rows[0])


def test_shares_that_are_none(model, refused):
    assert "between 0 and 100" in refused("predict", model, "n.csv", "--interval", "0", status=2)


def test_outputs_that_cannot_be(model, flowers, refused):
    (flowers / "there.csv").write_text("mine")
    assert "--force" in refused("predict", model, "new.csv", "--out", "there.csv")
    assert ".parquet" in refused("predict", model, "new.csv", "--out", "p.xlsx")
    assert "no column 'colour'" in refused("predict", model, "new.csv", "--keep", "colour")
    assert "no folder" in refused("predict", model, "new.csv", "--out", "none/p.csv")
    (flowers / "empty.csv").write_text(",".join(COLUMNS) + "\n")
    refused("predict", model, "empty.csv")
    refused("predict", model, "absent.csv")


# ---------------------------------------------------------------- spreadsheets
FORMULAS = ("=cmd|' /C calc'!A0", "@SUM(1)", "-2+3")


@pytest.fixture
def formulas(flowers, fit_once):
    """A model of classes that a spreadsheet would take for formulas."""
    text = (flowers / "flowers.csv").read_text()
    for kind, formula in zip(("setosa", "versicolor", "virginica"), FORMULAS, strict=True):
        text = text.replace(kind, formula)
    (flowers / "odd.csv").write_text(text)
    return fit_once(flowers / "odd.csv", "kind")


def test_no_prediction_is_a_formula_to_a_spreadsheet(formulas, capsys):
    rows, said = predicted(capsys, formulas, "new.csv")
    assert set(labels(rows)) == {f"'{formula}" for formula in FORMULAS}
    assert "--raw writes text as it is" in said
    assert main(["predict", str(formulas), "new.csv", "--out", "out.csv"]) == 0
    assert "\n=" not in (formulas.parent / "out.csv").read_text()


def test_raw_predictions_are_as_they_are(formulas, capsys):
    rows, said = predicted(capsys, formulas, "new.csv", "--raw")
    assert set(labels(rows)) == set(FORMULAS)
    assert "--raw" not in said
    assert main(["predict", str(formulas), "new.csv", "--json"]) == 0
    assert set(json.loads(capsys.readouterr().out)["columns"]["prediction"]) == set(FORMULAS)


def test_numbers_are_no_formulas(tmp_path, capsys):
    x = np.linspace(-1, 1, 60)
    write(tmp_path / "signs.csv", ("x", "sign"), zip(x, np.where(x < 0, "-1", "+1"), strict=True))
    assert main(["fit", "signs.csv", "--target", "sign", "--task", "classification"]) == 0
    capsys.readouterr()
    rows, _ = predicted(capsys, "signs.ulmus", "signs.csv")
    assert set(labels(rows)) <= {"-1", "1", "+1"}
    write(tmp_path / "line.csv", ("x", "y"), zip(x, -5 * x, strict=True))
    assert main(["fit", "line.csv", "--target", "y"]) == 0
    capsys.readouterr()
    rows, _ = predicted(capsys, "line.ulmus", "line.csv")
    assert all(float(value) < 6 for value in labels(rows))


def test_out_minus_is_standard_output(model, capsys):
    assert main(["predict", str(model), "new.csv", "--out", "-", "--quiet"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 51
    assert not Path("-").exists()


def test_an_interval_is_in_per_cent(model, refused):
    found = refused("predict", model, "new.csv", "--interval", "0.9", status=2)
    assert "--interval: must be between 0 and 100, in per cent, such as 90" in found


@pytest.mark.parametrize("flag", ["--keep"])
def test_a_column_that_is_not_there_names_its_flag(model, refused, flag):
    assert f"{flag}: There is no column 'knd'; did" in refused(
        "predict", model, "new.csv", flag, "knd"
    )
