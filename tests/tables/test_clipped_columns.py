"""The view of a matrix says what is wrong with rows that are not like those it was fitted to."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError

from ulmus.tables.table_model import ClippedColumns

X = np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32)


def test_a_view_that_is_not_fitted_says_so():
    with pytest.raises(NotFittedError):
        ClippedColumns().transform(X)


@pytest.mark.parametrize("rows", [X[:, :2], sp.csr_array(X[:, :2])], ids=["dense", "sparse"])
def test_other_columns_are_counted(rows):
    with pytest.raises(
        ValueError, match="X has 2 features, but ClippedColumns is expecting 3 features"
    ):
        ClippedColumns().fit(X).transform(rows)


def test_rows_stay_within_the_range_and_keep_their_type():
    view = ClippedColumns().fit(X)
    found = view.transform(3 * X)
    assert found.dtype == np.float32
    assert_array_equal(found, np.clip(3 * X, X.min(axis=0), X.max(axis=0)))


def test_a_view_of_sparse_rows_leaves_any_rows_as_they_are():
    view = ClippedColumns().fit(sp.csr_array(X))
    assert_array_equal(view.transform(X), X)
    assert_array_equal(view.transform(sp.csr_array(X)).toarray(), X)
