"""A table's columns as the graph's inputs, encoded as the encoder does."""

import json

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import MaxAbsScaler

from exporting.runtime import session_of
from ulmus import ELMClassifier, ELMRegressor, save_onnx, to_onnx
from ulmus.exceptions import ExportError
from ulmus.tables import Table, TableEncoder, fit_table

EPOCH = np.datetime64("1970-01-01")


def people(n=300, seed=0, age="age"):
    """A table with a column of every kind, each with blanks."""
    rng = np.random.default_rng(seed)
    words = np.array(
        ["Oslo", "Rome", "", "日本", *(f"no. {i:03}" for i in range(60))], dtype=object
    )
    words[2] = None
    days = rng.integers(0, 20_000, n)
    dates = np.array([str(EPOCH + int(day)) for day in days], dtype=object)
    married = rng.choice(np.array(["yes", "no", None], dtype=object), n)
    ages = rng.normal(40, 12, n)
    ages[rng.random(n) < 0.1] = np.nan
    columns = {
        age: ages,
        "income": np.exp(rng.normal(9, 2, n)).round(2),
        "children": rng.integers(0, 4, n).astype(float),
        "since": dates,
        "married": married,
        "city": words[rng.choice(len(words), n, p=[0.3, 0.2, 0.1, 0.1, *[0.3 / 60] * 60])],
    }
    return Table(tuple(columns), columns)


def feed(encoder, table):
    """The table's cells as a program without Ulmus would give them."""
    found = {}
    for name, kind in zip(encoder.names, encoder.kinds, strict=True):
        cells = table[name]
        if kind == "category":
            cells = np.array(["" if cell is None else cell for cell in cells], dtype=object)
        elif kind == "date":
            cells = np.array([(np.datetime64(cell) - EPOCH).astype(float) for cell in cells])
        elif kind == "boolean":
            cells = np.array([{"yes": 1.0, "no": 0.0, None: np.nan}[cell] for cell in cells])
        found[name] = cells.reshape(-1, 1)
    return found


def test_the_encoded_matrix_is_the_same_to_the_last_digit():
    encoder = TableEncoder().fit(people())
    assert set(encoder.kinds) == {"number", "date", "boolean", "category"}
    scaler = MaxAbsScaler().fit(encoder.transform(people()).astype(float))
    session = session_of(to_onnx(scaler, encoder=encoder, dtype=np.float64))
    for n in (1, 7, 500):
        later = people(n, seed=1)
        later.columns["income"][0] = np.inf
        later.columns["city"][0] = "Bergen"
        later.columns["age"][:5] = [-1e9, 1e90, np.nan, 1e120, -1e300][:n]
        (found,) = session.run(None, feed(encoder, later))
        expected = scaler.transform(encoder.transform(later).astype(float))
        np.testing.assert_allclose(found, expected, rtol=1e-14)


@pytest.mark.parametrize("age", ["age", "label"])
def test_a_model_of_a_table_takes_its_columns(tmp_path, age):
    table = people(age=age)
    encoder = TableEncoder().fit(table)
    y = np.where(table["income"] > 8000, "rich", "poor")
    X = encoder.transform(table)
    model = ELMClassifier(n_hidden=50, random_state=0).fit(X, y)
    save_onnx(model, tmp_path / "model.onnx", encoder=encoder)
    session = session_of(to_onnx(model, encoder=encoder))
    about = json.loads(session.get_modelmeta().custom_metadata_map["columns"])
    assert about["city"]["kind"] == "category"
    rows = {about[name]["input"]: cells for name, cells in feed(encoder, table).items()}
    label, probabilities, _ = session.run(None, rows)
    np.testing.assert_array_equal(label, model.predict(X))
    # The graph works out the columns in float64; C is 1e8, so float32 rows are 3e-4 away from that.
    np.testing.assert_allclose(probabilities, model.predict_proba(X.astype(float)), atol=1e-6)
    # An output of that name leaves no other way.
    assert about["city"]["input"] == ("city" if age == "age" else "column city")


def test_what_fit_table_gives_is_written_with_its_columns(tmp_path):
    table = people()
    model = fit_table(table, "income")
    session = session_of(to_onnx(model))
    about = json.loads(session.get_modelmeta().custom_metadata_map["columns"])
    cells = feed(model.encoder, table)
    rows = {about[name]["input"]: cells[name] for name in model.encoder.names}
    (found,) = session.run(["variable"], rows)
    np.testing.assert_allclose(found.ravel(), model.predict(table), rtol=1e-4)
    save_onnx(model, tmp_path / "model.onnx")
    assert (tmp_path / "model.onnx").stat().st_size > 0


def test_columns_may_be_named_like_anything():
    columns = {"constant_1": np.arange(30.0) % 7, "cast_2": np.arange(30.0) % 11}
    encoder = TableEncoder().fit(Table(tuple(columns), columns))
    X = encoder.transform(Table(tuple(columns), columns))
    model = ELMRegressor(n_hidden=10, random_state=0).fit(X, columns["cast_2"])
    session = session_of(to_onnx(model, encoder=encoder))
    cells = {name: values.reshape(-1, 1) for name, values in columns.items()}
    np.testing.assert_allclose(session.run(None, cells)[0], model.predict(X), atol=1e-3)


@pytest.mark.parametrize("sparse", [False, True])
def test_a_matrix_is_one_input_with_its_blanks_filled(sparse):
    X = np.random.default_rng(0).standard_normal((50, 4)).astype(np.float32)
    names = tuple("abcd")
    encoder = TableEncoder().fit(Table(names, matrix=sp.csr_array(X) if sparse else X))
    model = ELMRegressor(n_hidden=10, random_state=0).fit(X, X[:, 0])
    session = session_of(to_onnx(model, encoder=encoder))
    rows = X.copy()
    if not sparse:
        rows[::3, 1], rows[::4, 2] = np.nan, np.inf
        X = encoder.transform(Table(names, matrix=rows))
    np.testing.assert_allclose(session.run(None, {"X": rows})[0], model.predict(X), atol=1e-4)


def test_an_encoder_that_is_not_fitted_is_refused():
    model = ELMRegressor(n_hidden=10).fit(np.eye(5), np.arange(5.0))
    with pytest.raises(ExportError, match="not fitted"):
        to_onnx(model, encoder=TableEncoder())


def test_an_encoder_of_other_columns_is_refused():
    model = ELMRegressor(n_hidden=10).fit(np.eye(5), np.arange(5.0))
    with pytest.raises(ExportError, match=r"gives \d+ columns and the model takes 5"):
        to_onnx(model, encoder=TableEncoder().fit(people()))


def test_text_has_no_form(tmp_path):
    words = np.array([f"Mr. {k:b} Smith" for k in range(60)], dtype=object)
    table = Table(("name", "x"), {"name": words, "x": np.arange(60) / 3})
    encoder = TableEncoder().fit(table)
    model = ELMRegressor(n_hidden=9, random_state=0).fit(encoder.transform(table), table["x"])
    with pytest.raises(ExportError, match="'name' is read as text.*--as name=category"):
        to_onnx(model, encoder=encoder)
