"""One rule says which targets are missing, whatever holds them."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from ulmus.exceptions import InvalidInputError
from ulmus.missing import complete, missing, narrowed, plain


class PolarsSeries:
    """What of a Polars series the rule asks for; Polars itself is no dependency."""

    def __init__(self, values):
        self._values = values

    def null_count(self):
        return sum(value is None for value in self._values)

    def to_list(self):
        return self._values

    def __array__(self, dtype=None, copy=None):
        # As Polars does: whole numbers with nulls become floats.
        return np.array([np.nan if v is None else v for v in self._values], dtype=float)


INTEGERS = {
    "list with None": [1, None, 0],
    "list with NaN": [1, np.nan, 0],
    "objects with NA": np.array([1, pd.NA, 0], dtype=object),
    "objects with NaT": np.array([1, pd.NaT, 0], dtype=object),
    "objects with a decimal NaN": np.array([1, Decimal("NaN"), 0], dtype=object),
    "masked array": np.ma.MaskedArray([1, 7, 0], mask=[0, 1, 0]),
    "Int64": pd.Series([1, None, 0], dtype="Int64"),
    "Int8 array": pd.array([1, None, 0], dtype="Int8"),
    "category": pd.Series([1, None, 0], dtype="Int64").astype("category"),
    "pandas on Arrow": pd.Series([1, None, 0], dtype="int64[pyarrow]"),
    "Arrow array": pa.array([1, None, 0]),
    "Arrow chunks": pa.chunked_array([[1, None], [0]]),
    "Polars": PolarsSeries([1, None, 0]),
}


@pytest.mark.parametrize("y", INTEGERS.values(), ids=INTEGERS)
def test_whole_numbers_beside_missing_ones_stay_whole(y):
    found = plain(y)
    assert missing(found).tolist() == [False, True, False]
    labels = narrowed(found[~missing(found)])
    assert labels.tolist() == [1, 0]
    assert labels.dtype.kind == "i"


WORDS = {
    "list with None": ["b", None, "a"],
    "list with NaN": ["b", np.nan, "a"],
    "string": pd.Series(["b", None, "a"], dtype="string"),
    "str": pd.Series(["b", None, "a"]),
    "string on Arrow": pd.Series(["b", None, "a"], dtype="string[pyarrow]"),
    "category": pd.Series(["b", None, "a"], dtype="category"),
    "Arrow": pa.array(["b", None, "a"]),
}


@pytest.mark.parametrize("y", WORDS.values(), ids=WORDS)
def test_words_beside_missing_ones_stay_words(y):
    found = plain(y)
    assert missing(found).tolist() == [False, True, False]
    assert found.tolist() == ["b", None, "a"]


@pytest.mark.parametrize(
    "y", [pd.Series([True, None, False], dtype="boolean"), [True, None, False]]
)
def test_booleans_beside_missing_ones_stay_booleans(y):
    found = plain(y)
    assert narrowed(found[~missing(found)]).dtype == bool


@pytest.mark.parametrize(
    "y",
    [np.array([1.5, np.nan, 0.0]), np.array([1.5, np.nan, 0], np.float32),
     pd.Series([1.5, None, 0.0]), pd.Series([1.5, None, 0.0], dtype="Float64")],
    ids=["float64", "float32", "pandas", "Float64"],
)  # fmt: skip
def test_floats_stay_floats(y):
    found = plain(y)
    assert missing(found).tolist() == [False, True, False]
    assert narrowed(found[~missing(found)]).dtype.kind == "f"


def test_moments_have_their_own_nothing():
    moments = np.array(["2020-01-01", "NaT"], dtype="datetime64[D]")
    assert missing(plain(moments)).tolist() == [False, True]


@pytest.mark.parametrize("y", [[1, 0], ["nan", ""], [True, False], [-1, 1], [b"", b"x"]], ids=str)
def test_nothing_is_missing_where_all_is_there(y):
    for given in (y, np.array(y), np.array(y, dtype=object), pd.Series(y)):
        assert not missing(plain(given)).any()


def test_several_columns_have_a_mark_for_each_entry():
    frame = pd.DataFrame({"a": [1, 2], "b": [0.5, None]}).astype({"a": "Int64"})
    assert missing(plain(frame)).tolist() == [[False, False], [False, True]]


def test_an_error_counts_the_missing_and_names_their_rows():
    with pytest.raises(InvalidInputError, match=r"y has 1 missing value, in row 1 \(counted from"):
        complete([1, None, 0], "drop these")
    y = np.where(np.arange(40) % 4 == 0, np.nan, 1.0)
    with pytest.raises(
        InvalidInputError, match="y has 10 missing values, in rows 0, 4, 8, 12, 16 and 5 more"
    ):
        complete(y, "drop these")
    assert complete(None, "drop these") is None
    assert complete([1, 0], "drop these").tolist() == [1, 0]
