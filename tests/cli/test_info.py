"""`ulmus info` and `ulmus export`."""

import json

import numpy as np
import pytest

import ulmus
from cli.conftest import write
from ulmus.cli import main
from ulmus.tables import read_table


def test_what_a_model_holds(model, capsys, monkeypatch):
    # Nothing is loaded for it.
    monkeypatch.setattr("ulmus.persistence.models.Reader", pytest.fail)
    assert main(["info", str(model)]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    wanted = ["classification", "kind", "setosa, versicolor", "petal_width (number)"]
    for words in [*wanted, "ELMClassifier", "on left-out rows", "ulmus 0", "numpy", "seed 0"]:
        assert words in printed
    assert main(["info", str(model), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["params"]["summary"]["rows"] == 100
    assert found["bytes"] == model.stat().st_size


@pytest.mark.parametrize("columns", [20, 40, 200])
def test_narrow_and_wide_terminals(model, capsys, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.chdir(model.parent)
    assert main(["info", model.name]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= max(columns, len("SemiSupervisedELMClassifier"))


def test_a_model_from_python(tmp_path, capsys):
    ulmus.save(ulmus.RandomFeatures(5), tmp_path / "units.ulmus")
    assert main(["info", "units.ulmus"]) == 0
    assert "ulmus.RandomFeatures" in capsys.readouterr().out


def test_no_model(tmp_path, refused):
    (tmp_path / "bad.ulmus").write_text("words")
    assert "is not a model file" in refused("info", "bad.ulmus")
    assert "none.ulmus" in refused("info", "none.ulmus")


def columns_of(table, names):
    """A table's columns as the inputs of an ONNX file."""
    return {
        name: (cells if (cells := table[name]).dtype != object else cells.astype(str))[:, None]
        for name in names
    }


def test_the_onnx_file_takes_the_columns_and_predicts_what_the_model_does(prices, capsys):
    runtime = pytest.importorskip("onnxruntime")
    main(["fit", "prices.csv", "--target", "price"])
    capsys.readouterr()
    assert main(["export", "prices.ulmus", "--onnx"]) == 0
    first, *_, last = capsys.readouterr().out.splitlines()
    assert first == "inputs  area (number), city (text)"
    assert last.startswith("prices.ulmus as ONNX: prices.onnx (")
    table = read_table("prices.csv")
    session = runtime.InferenceSession("prices.onnx")
    (found,) = session.run(None, columns_of(table, ("area", "city")))
    np.testing.assert_allclose(
        np.ravel(found), ulmus.load("prices.ulmus").predict(table), rtol=1e-4
    )


@pytest.mark.parametrize("kernel", [False, True])
def test_the_onnx_file_of_classes_of_units_and_of_a_kernel(flowers, capsys, monkeypatch, kernel):
    runtime = pytest.importorskip("onnxruntime")
    monkeypatch.setattr("ulmus.tables.fitting._BETTER", np.inf if kernel else 0.0)
    main(["fit", "flowers.csv", "--target", "kind"])
    capsys.readouterr()
    assert main(["export", "flowers.ulmus", "--onnx", "out.onnx", "--json"]) == 0
    inputs = json.loads(capsys.readouterr().out)["inputs"]
    assert set(inputs.values()) == {"number"}
    model, table = ulmus.load("flowers.ulmus"), read_table("new.csv")
    assert hasattr(model.estimator, "kernel_") == kernel
    session = runtime.InferenceSession("out.onnx")
    label, proba, *_ = session.run(None, columns_of(table, inputs))
    assert label.tolist() == model.predict(table).tolist()
    np.testing.assert_allclose(proba, model.predict_proba(table), atol=1e-4)


def test_an_export_replaces_nothing_unasked(model, refused):
    (model.parent / "flowers.onnx").write_text("mine")
    assert "--force" in refused("export", model, "--onnx")
    assert "--onnx" in refused("export", model, status=2)


def test_a_file_that_is_no_model_says_so(flowers, refused):
    for command in (("info", "flowers.csv"), ("export", "flowers.csv", "--onnx")):
        found = refused(*command)
        assert "flowers.csv is not a model file. `ulmus fit DATA" in found


def test_a_model_card_is_written(model, flowers, capsys, refused):
    assert main(["info", str(model), "--card", "card.md"]) == 0
    assert capsys.readouterr().out == "A model card: card.md\n"
    text = (flowers / "card.md").read_text()
    assert text.startswith("# flowers: kind\n")
    assert "| petal\\_length | number | " in text
    assert "By five folds: accuracy 9" in text
    assert "the majority class has 34.0%" in text
    assert "--force" in refused("info", model, "--card", "card.md")


def test_no_name_of_a_column_is_markdown_in_a_card(tmp_path, capsys):
    rows = [(k % 7, ("a", "<script>")[k % 2]) for k in range(60)]
    write(tmp_path / "odd.csv", ("x|y", "[kind](http://x)"), rows)
    assert main(["fit", "odd.csv", "--target", "[kind](http://x)", "--quiet"]) == 0
    assert main(["info", "odd.ulmus", "--card", "card.md"]) == 0
    text = (tmp_path / "card.md").read_text()
    assert "| x\\|y | number |" in text
    assert "](http" not in text.replace("\\](http", "")
    assert "<script" not in text.replace("\\<script", "")
