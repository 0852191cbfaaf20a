"""Rows that cannot be read are refused in words; those that can are read alike."""

from decimal import Decimal

import array_api_strict
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from ulmus import ELMClassifier, ELMEmbedding, KernelELMRegressor, KNNGraph
from ulmus.exceptions import InvalidInputError

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
