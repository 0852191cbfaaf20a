"""`ulmus info` and `ulmus export`."""

import json

import numpy as np
import pytest

import ulmus
from ulmus.cli import main
from ulmus.tables import read_table


def test_what_a_model_holds(model, capsys, monkeypatch):
    # Nothing is loaded for it.
    monkeypatch.setattr("ulmus.persistence.models._loaded", pytest.fail)
    assert main(["info", str(model)]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    for words in ("classification", "kind", "setosa, versicolor", "petal_width (number)",
                  "ELMClassifier", "left-out rows right", "ulmus 0", "numpy", "seed 0"):  # fmt: skip
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
    assert "cannot be read as a model" in refused("info", "bad.ulmus")
    assert "none.ulmus" in refused("info", "none.ulmus")


def test_the_onnx_file_predicts_what_the_model_does(prices, tmp_path, capsys):
    runtime = pytest.importorskip("onnxruntime")
    main(["fit", "prices.csv", "--target", "price"])
    capsys.readouterr()
    assert main(["export", "prices.ulmus", "--onnx"]) == 0
    printed = capsys.readouterr().out
    assert printed.splitlines()[-1].startswith("prices.ulmus as ONNX: prices.onnx (")
    model, table = ulmus.load("prices.ulmus"), read_table("prices.csv")
    session = runtime.InferenceSession("prices.onnx")
    (found,) = session.run(None, {"X": model.encoder.transform(table)})
    np.testing.assert_allclose(np.ravel(found), model.predict(table), rtol=1e-4)


def test_the_onnx_file_of_classes(model, capsys):
    runtime = pytest.importorskip("onnxruntime")
    assert main(["export", str(model), "--onnx", "out.onnx", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["outputs"][0] == "label"
    loaded, table = ulmus.load(model), read_table("new.csv")
    session = runtime.InferenceSession("out.onnx")
    label, proba, *_ = session.run(None, {"X": loaded.encoder.transform(table.without("kind"))})
    assert label.tolist() == loaded.predict(table).tolist()
    np.testing.assert_allclose(proba, loaded.predict_proba(table), atol=1e-4)


def test_an_export_replaces_nothing_unasked(model, refused):
    (model.parent / "flowers.onnx").write_text("mine")
    assert "--force" in refused("export", model, "--onnx")
    assert "--onnx" in refused("export", model, status=2)
