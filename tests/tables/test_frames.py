"""Frames of pandas and Polars give the model that a file with their rows gives."""

import datetime

import numpy as np
import pandas
import polars
import pytest
import sklearn
from sklearn.compose import make_column_transformer
from sklearn.preprocessing import StandardScaler

from ulmus.exceptions import TableError
from ulmus.tables import TableEncoder, fit_table, read_table
from ulmus.tables.table import as_table

N = 60
RNG = np.random.default_rng(3)
FIRST = datetime.date(2024, 1, 1)
COLUMNS = {
    "x": [None if k % 9 == 0 else float(v) for k, v in enumerate(RNG.normal(size=N).round(3))],
    "count": [int(v) for v in RNG.integers(0, 30, N)],
    "city": [str(v) for v in RNG.choice(["Oslo", "Rome", "São Paulo"], N)],
    "paid": [bool(v) for v in RNG.integers(0, 2, N)],
    "day": [FIRST + datetime.timedelta(days=3 * k % 41) for k in range(N)],
}
KINDS = ("number", "number", "category", "boolean", "date")
PAIRS = zip(COLUMNS["count"], COLUMNS["city"], strict=True)
COLUMNS["y"] = [0.5 * n + (c == "Rome") for n, c in PAIRS]


def polars_frame():
    return polars.DataFrame(COLUMNS)


def categorical_frame():
    """Polars' own types of text, and small integers."""
    return polars_frame().with_columns(
        polars.col("city").cast(polars.Categorical), polars.col("count").cast(polars.UInt8)
    )


def enum_frame():
    cities = polars.Enum(["Rome", "Oslo", "São Paulo"])
    return polars_frame().with_columns(polars.col("city").cast(cities))


def chunked_frame():
    whole = categorical_frame()
    return polars.concat([whole[:20], whole[20:]], rechunk=False)


def pandas_frame():
    frame = pandas.DataFrame(COLUMNS, index=[f"row {k}" for k in range(N)])
    return frame.assign(city=frame["city"].astype("category"))


@pytest.mark.parametrize(
    "frame", [polars_frame, categorical_frame, enum_frame, chunked_frame, pandas_frame]
)
def test_a_frame_is_the_table_of_its_file(frame, tmp_path):
    polars_frame().write_csv(tmp_path / "rows.csv")
    table = read_table(tmp_path / "rows.csv")
    X = TableEncoder().fit_transform(table.without("y"))
    encoder = TableEncoder().fit(as_table(frame()).without("y"))
    assert encoder.kinds == KINDS
    assert np.allclose(encoder.transform(frame()), X, atol=1e-6)
    model, other = fit_table(frame(), "y"), fit_table(table, "y")
    assert model.summary["chosen"]["estimator"] == other.summary["chosen"]["estimator"]
    assert np.allclose(model.predict(frame()), other.predict(table), atol=1e-3)


def test_a_model_of_one_library_predicts_frames_of_the_other():
    model = fit_table(polars_frame(), "y")
    found = model.predict(pandas_frame().drop(columns="y"))
    assert np.allclose(found, model.predict(polars_frame().drop("y")))


def test_the_index_of_a_frame_is_no_column(tmp_path):
    ids = np.random.default_rng(0).permutation(N) * 7
    frame = pandas.DataFrame(COLUMNS, index=ids)
    named = frame.rename_axis("customer")
    assert as_table(frame).names == as_table(named).names == tuple(COLUMNS)
    (note,) = as_table(named).notes
    assert note == "The frame's index is left out: 'customer'; reset_index() makes it a column."
    model = fit_table(named, "y")
    assert model.predict(frame.reset_index(drop=True)).shape == (N,)
    frame.to_parquet(tmp_path / "rows.parquet")
    assert read_table(tmp_path / "rows.parquet").names == tuple(COLUMNS)
    # Of a file it is a column as any other program reads it, if it has a name.
    named.to_parquet(tmp_path / "named.parquet")
    assert read_table(tmp_path / "named.parquet").names == (*COLUMNS, "customer")


def test_missing_text_is_missing():
    cells = as_table(polars.DataFrame({"c": ["a", None, "NA", "b"]}))["c"]
    assert cells.tolist() == ["a", None, None, "b"]


def test_times_are_seconds_and_lists_are_left_out():
    frame = polars.DataFrame(
        {
            "took": [datetime.timedelta(minutes=1, microseconds=500_000), None],
            "at": [datetime.time(1, 0, 2), datetime.time(0)],
            "list": [[1], [2]],
        }
    )
    table = as_table(frame)
    assert table.names == ("took", "at")
    np.testing.assert_array_equal(table["took"], [60.5, np.nan])
    assert table["at"].tolist() == [3602, 0]
    assert len(table.notes) == 1
    assert table.notes[0].endswith("neither number, text, date nor boolean: 'list'.")


@pytest.mark.parametrize(
    ("frame", "complaint"),
    [
        (polars.LazyFrame({"a": [1]}), "A LazyFrame is not a table"),
        ([[1, 2]], "A list is not a table"),
    ],
)
def test_what_is_no_table_says_so(frame, complaint):
    with pytest.raises(TableError, match=complaint):
        as_table(frame)


def test_columns_called_by_numbers_are_found_and_twins_refused():
    X = np.random.default_rng(0).normal(size=(40, 2))
    frame = pandas.DataFrame(np.column_stack([X, X[:, 0] > 0]))
    assert fit_table(frame, 2).target == "2"
    with pytest.raises(TableError, match="name of its own"):
        fit_table(frame.set_axis(["a", "a", "y"], axis=1), "y")


def test_an_encoder_is_a_transformer_of_scikit_learn():
    frame = pandas_frame().drop(columns="y")
    encoder = TableEncoder(given={"count": "category"}).set_output(transform="pandas")
    found = encoder.fit_transform(frame)
    names = encoder.get_feature_names_out()
    assert found.columns.tolist() == names.tolist() == list(encoder.feature_names_out)
    assert found.index.equals(frame.index)
    assert encoder.get_params() == {"given": {"count": "category"}}
    both = make_column_transformer(
        (TableEncoder(), ["city", "day"]), (StandardScaler(), ["count"])
    ).set_output(transform="pandas")
    columns = both.fit_transform(frame).columns
    assert columns[0] == "tableencoder__city=Oslo"
    assert columns[-1] == "standardscaler__count"
    with pytest.raises(TableError, match="knows no columns yet"):
        TableEncoder().get_feature_names_out()


def test_models_of_tables_are_the_same_where_transformers_give_frames():
    model = fit_table(pandas_frame(), "y")
    with sklearn.config_context(transform_output="pandas"):
        again = fit_table(pandas_frame(), "y")
        found = again.predict(pandas_frame())
    assert np.array_equal(found, model.predict(pandas_frame()))
