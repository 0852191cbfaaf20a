"""A table gives its columns and rows; files: Parquet, npz, svmlight, and names that say nothing."""

import gzip
import sys

import numpy as np
import pandas as pd
import pyarrow
import pyarrow.parquet
import pytest

from toy_tables import table_of
from ulmus.exceptions import InvalidParameterError, MissingExtraError, TableError
from ulmus.tables import TableEncoder, read_table


def test_a_table_gives_columns_rows_and_what_is_left():
    table = table_of(age=[31.0, 45.0, 62.0, 18.0], city=["Oslo", "Rome", "Oslo", "Bonn"])
    assert table.without("age").names == ("city",)
    assert table.rows([2, 0])["city"].tolist() == ["Oslo", "Oslo"]
    with pytest.raises(TableError, match="no column 'Age'; did you mean 'age'"):
        table["Age"]
    with pytest.raises(TableError, match="no column"):
        table.without("town")


# ---------------------------------------------------------------- names
def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(TableError, match="There is no file"):
        read_table(tmp_path / "none.csv")


@pytest.mark.parametrize(("name", "advice"), [("t.old", "let it end in one of"), ("t", "let it")])
def test_a_name_that_says_nothing_is_refused(tmp_path, name, advice):
    (tmp_path / name).write_text("a,b\n1,2\n")
    with pytest.raises(TableError, match=advice):
        read_table(tmp_path / name)
    assert read_table(tmp_path / name, kind="csv").names == ("a", "b")
    with pytest.raises(InvalidParameterError, match="kind='xml' is unknown"):
        read_table(tmp_path / name, kind="xml")


def test_a_workbook_is_to_be_saved_as_csv(tmp_path):
    (tmp_path / "t.xlsx").write_bytes(b"PK\x03\x04")
    with pytest.raises(TableError, match="save the sheet as CSV"):
        read_table(tmp_path / "t.xlsx")


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("t.json", "as CSV or Parquet"),
        ("t.feather", "as CSV or Parquet"),
        ("t.csv.xz", "unpack it"),
    ],
)
def test_kinds_that_are_not_read_say_what_to_save(tmp_path, name, advice):
    (tmp_path / name).write_text("{}")
    with pytest.raises(TableError, match=advice):
        read_table(tmp_path / name)


def test_a_folder_is_no_file_and_a_file_no_folder(tmp_path):
    (tmp_path / "t.csv").write_text("a\n1\n")
    with pytest.raises(TableError, match="is a folder and no csv"):
        read_table(tmp_path, kind="csv")
    with pytest.raises(TableError, match="is a file and no images"):
        read_table(tmp_path / "t.csv", kind="images")


def test_a_suffix_may_be_in_capitals_and_tabs_set_tsv_apart(tmp_path):
    (tmp_path / "T.TSV").write_text("a,x\tb\n1\t2,5\n")
    assert read_table(tmp_path / "T.TSV").names == ("a,x", "b")


# ---------------------------------------------------------------- JSON lines
@pytest.mark.parametrize("opener", [open, gzip.open], ids=["plain", "gzip"])
def test_json_lines_have_keys_as_columns_and_missing_ones_as_blanks(tmp_path, opener):
    lines = [
        '{"age": 31, "city": "Oslo", "member": true, "seen": "2020-01-02T03:04:05", "tags": [1]}',
        '{"city": "?", "age": 45.5, "member": null}',
        "",
        '{"age": null, "member": false}',
    ]
    path = tmp_path / ("t.jsonl" if opener is open else "t.ndjson.gz")
    with opener(path, "wt") as file:
        file.write("\n".join(lines) + "\n")
    table = read_table(path)
    assert table.names == ("age", "city", "member", "seen")
    np.testing.assert_array_equal(table["age"], [31.0, 45.5, np.nan])
    assert table["city"].tolist() == ["Oslo", None, None]
    assert table["member"].tolist() == ["True", None, "False"]
    assert table["seen"][0].startswith("2020-01-02T03:04:05")
    assert "'tags'" in " ".join(table.notes)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[1, 2]\n", "JSON lines"),
        ('{"a": 1}\n{"a": "x"}\n', "in row 2.*one type in all"),
        ('{"a": 1', "JSON lines"),
        ("", "JSON lines"),
        ('{"a": [1]}\n', "no rows that can be used"),
    ],
)
def test_lines_that_are_no_objects_of_one_kind_are_refused(tmp_path, text, words):
    (tmp_path / "t.jsonl").write_text(text)
    with pytest.raises(TableError, match=words):
        read_table(tmp_path / "t.jsonl")


# ---------------------------------------------------------------- Parquet
def frame():
    return pd.DataFrame(
        {
            "whole": [1, 2, 3],
            "number": [1.5, None, 3],
            "word": ["x", " ? ", None],
            "kind": pd.Categorical(["u", None, "v"]),
            "when": pd.to_datetime(["2020-01-01 12:00", None, "2020-01-03 00:00"]),
            "zoned": pd.to_datetime(["2020-01-01", "2020-01-02", None], utc=True),
            "truth": pd.array([True, None, False], dtype="boolean"),
            "nothing": [None, None, None],
        }
    )


def test_parquet_is_read_as_csv_is(tmp_path):
    frame().to_parquet(tmp_path / "t.parquet")
    frame().to_csv(tmp_path / "t.csv", index=False)
    table, text = read_table(tmp_path / "t.parquet"), read_table(tmp_path / "t.csv")
    assert table.names == text.names
    assert table["word"].tolist() == ["x", None, None]
    assert table["truth"].tolist() == text["truth"].tolist() == ["True", None, "False"]
    made = TableEncoder().fit(table)
    assert made.kinds[-3:] == ("date", "date", "boolean")
    np.testing.assert_array_equal(made.transform(text), made.transform(table))


def test_decimals_and_dates_of_parquet_are_numbers_and_days(tmp_path):
    columns = {
        "price": pyarrow.array([1.25, None]).cast(pyarrow.decimal128(5, 2)),
        "day": pyarrow.array([0, 1]).cast(pyarrow.int32()).cast(pyarrow.date32()),
        "large": pyarrow.array(["a", "b"], pyarrow.large_string()),
    }
    pyarrow.parquet.write_table(pyarrow.table(columns), tmp_path / "t.pq")
    table = read_table(tmp_path / "t.pq")
    assert table["price"][0] == 1.25
    assert table["day"].tolist() == ["1970-01-01T00:00:00.000000", "1970-01-02T00:00:00.000000"]
    assert table["large"].tolist() == ["a", "b"]


@pytest.mark.parametrize("value", [[1, 2], {"k": 1}, b"bytes"])
def test_nested_columns_of_parquet_are_left_out_and_named(tmp_path, value):
    table = pyarrow.table({"a": [1], "nested": [value]})
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
    found = read_table(tmp_path / "t.parquet")
    assert found.names == ("a",)
    assert "date nor boolean: 'nested'." in found.notes[0]
    pyarrow.parquet.write_table(table.drop_columns("a"), tmp_path / "t.parquet")
    with pytest.raises(TableError, match="no rows that can be used. Left out, as .* 'nested'"):
        read_table(tmp_path / "t.parquet")


def test_damaged_parquet_is_told(tmp_path):
    path = tmp_path / "t.parquet"
    frame().to_parquet(path)
    whole = path.read_bytes()
    for data in (b"", b"PAR1", whole[: len(whole) // 2], whole[:40] + b"\xff" * 300 + whole[340:]):
        path.write_bytes(data)
        with pytest.raises(TableError, match="is not a Parquet file that can be read"):
            read_table(path)


def test_parquet_without_rows_or_with_a_name_twice_is_refused(tmp_path):
    path = tmp_path / "t.parquet"
    frame().iloc[:0].to_parquet(path)
    with pytest.raises(TableError, match="has no rows"):
        read_table(path)
    twice = pyarrow.Table.from_arrays([pyarrow.array([1]), pyarrow.array([2])], ["a", "a"])
    pyarrow.parquet.write_table(twice, path)
    with pytest.raises(TableError, match="two columns called 'a'"):
        read_table(path)


def test_without_pyarrow_parquet_says_what_to_install(tmp_path, monkeypatch):
    frame().to_parquet(tmp_path / "t.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'ulmus\[cli\]'"):
        read_table(tmp_path / "t.parquet")
