"""Files that are taken away say what the page says."""

import csv
import io

import numpy as np
import onnxruntime
import pytest

from app.small import GROUP, label_two
from ulmus import load
from ulmus.app.exports import labels_csv, model_file, onnx_file
from ulmus.app.opened_table import opened_table
from ulmus.tables import Table, read_table


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


def test_rows_and_ids_are_those_that_predict_writes(make_session, tmp_path):
    lines = [
        "customer_id,length,width",
        *(f"{k + 700},{k % 2 * 9 + k / 50},{k}" for k in range(40)),
    ]
    lines.insert(3, "too,many,fields,here")
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    opened = opened_table(read_table(tmp_path / "t.csv", skip_bad_lines=True))
    session = make_session(of=opened)
    label_two(session, rows=((0, 2), (1, 3)))
    text = labels_csv(opened, session.newest_answer()).decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert list(rows[0]) == ["row", "customer_id", "class", "probability", "labelled by"]
    assert [row["row"] for row in rows[:4]] == ["1", "2", "4", "5"]
    assert [row["customer_id"] for row in rows[:4]] == ["700", "701", "702", "703"]
    assert opened.name(2) == "4"
