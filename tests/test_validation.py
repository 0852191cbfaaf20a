"""What cannot be read is refused in words; one rule says which targets are missing."""

from decimal import Decimal

import array_api_strict
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from ulmus import ELMClassifier, ELMEmbedding, KernelELMRegressor, KNNGraph
from ulmus.exceptions import InvalidInputError
from ulmus.validation import complete, missing, narrowed, plain


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


AWAY = array_api_strict.Device("device1")
rng = np.random.default_rng(0)
X = rng.standard_normal((30, 4))
y = np.arange(30) % 2


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (np.ma.MaskedArray(X, mask=X > 1), "X has .* masked entries"),
        (array_api_strict.ones((30, 4), device=AWAY), "array_api_dispatch=True"),
        ([[1.0], [1.0, 2.0]] * 15, "some rows are longer than others"),
        (pd.DataFrame({"a": ["x", "y"] * 15}), "could not convert string to float: 'x'"),
        (np.array([[pd.NA, 1.0]] * 30, dtype=object), "an entry is of the type NAType"),
        ([[{}, 1.0]] * 30, "an entry is of the type dict"),
        ([[Decimal("1.5"), "x"]] * 30, "could not convert string to float: 'x'"),
        (X.astype("datetime64[s]"), "X holds dates or times .*timedelta64"),
        (X.astype("timedelta64[s]"), "X holds dates or times"),
        (pd.DataFrame({"a": pd.date_range("2020", periods=30), "b": 1.0}), "dates or other types"),
    ],
    ids=["masked", "away", "ragged", "text", "NA", "dict", "word", "moments", "spans", "frame"],
)
def test_what_is_no_number_is_refused_in_words(rows, words):
    with pytest.raises(InvalidInputError, match=words):
        ELMClassifier(n_hidden=5).fit(rows, y)
    with pytest.raises(InvalidInputError, match=words):
        KNNGraph(3).affinity(rows)


def broken(part, place, value):
    S = sp.csr_array(X)
    getattr(S, part)[place] = value
    return S


@pytest.mark.parametrize(
    "S",
    [broken("indices", 2, 4), broken("indices", 2, -1), broken("indptr", 3, 0),
     broken("indptr", -1, 10**6), sp.csr_array(X).tocsc(), sp.csr_array(X).tocoo()],
    ids=["past the end", "negative", "falling", "past all entries", "csc", "coo"],
)  # fmt: skip
def test_sparse_parts_that_do_not_fit_are_refused_before_they_are_used(S):
    if S.format == "csc":
        S.indices[0] = 99
    if S.format == "coo":
        S.row[0] = 99
    with pytest.raises(InvalidInputError, match="X cannot be used: a sparse matrix has"):
        ELMClassifier(n_hidden=5).fit(S, y)
    model = ELMClassifier(n_hidden=5).fit(X, y)
    with pytest.raises(InvalidInputError, match="X cannot be used: a sparse matrix has"):
        model.predict(S)


def test_entries_that_share_a_place_are_added_up():
    S = sp.csr_array(X)
    halves = sp.csr_array((np.repeat(S.data / 2, 2), np.repeat(S.indices, 2), 2 * S.indptr))
    a = ELMEmbedding(coupling="free", n_hidden=10, random_state=0).fit_transform(X)
    b = ELMEmbedding(coupling="free", n_hidden=10, random_state=0).fit_transform(halves)
    assert_allclose(np.abs(a), np.abs(b), atol=1e-5)
    assert halves.nnz == 2 * S.nnz  # the caller's rows stay as they are


def test_long_indices_do_not_scramble_the_rows():
    """scikit-learn sorts entries in place, with whatever indices it was given."""
    S = sp.csr_array(np.where(X > 0.3, X, 0.0))
    S.indices, S.indptr = S.indices.astype(np.int64), S.indptr.astype(np.int64)
    before = S.toarray()
    a = KernelELMRegressor("laplacian", C=1.0, random_state=0).fit(S, X[:, 0])
    b = KernelELMRegressor("laplacian", C=1.0, random_state=0).fit(before, X[:, 0])
    assert_allclose(a.predict(before), b.predict(before), atol=1e-9)
    assert_allclose(S.toarray(), before)


def test_rows_too_far_apart_for_a_distance():
    with pytest.raises(InvalidInputError, match="squared distances are not finite"):
        KNNGraph(3).affinity(1e200 * X)
