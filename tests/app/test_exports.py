"""Files that are taken away say what the page says."""

import numpy as np
import onnxruntime
import pytest

from app.small import GROUP, label_two
from ulmus import load
from ulmus.app.exports import model_file, onnx_file
from ulmus.tables import Table


@pytest.fixture
def answer(session):
    label_two(session)
    return session.newest_answer()


def new_rows():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(10, 3)) + np.repeat([[0.0], [6.0]], 5, axis=0)
    return dict(zip(("length", "width", "height"), X.T, strict=True))


def test_the_model_file_predicts_rows_of_a_table(opened, answer, tmp_path):
    path = tmp_path / "model.ulmus"
    path.write_bytes(model_file(opened, answer))
    model = load(path)
    assert model.predict(opened.table).tolist() == ["low"] * GROUP + ["high"] * GROUP
    new = new_rows()
    assert model.predict(Table(tuple(new), new)).tolist() == ["low"] * 5 + ["high"] * 5
    assert model.target == "class"
    assert model.summary["rows_with_target"] == 4
    # `ulmus evaluate` must be able to say that these rows were fitted.
    assert model.known_share(model.matrix(opened.table)) == 1.0
    assert model.known_share(model.matrix(Table(tuple(new), new))) == 0.0


def test_onnx_says_the_same(opened, answer):
    run = onnxruntime.InferenceSession(onnx_file(opened, answer))
    new = new_rows()
    given = {i.name: new[i.name][:, None] for i in run.get_inputs()}
    assert np.ravel(run.run(None, given)[0]).tolist() == ["low"] * 5 + ["high"] * 5
