"""The view of a matrix says what is wrong with rows that are not like those it was fitted to."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError

from ulmus.tables.clipped_bins import ClippedBins

X = np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32)


def test_a_view_that_is_not_fitted_says_so():
    with pytest.raises(NotFittedError):
        ClippedBins().transform(X)


@pytest.mark.parametrize("rows", [X[:, :2], sp.csr_array(X[:, :2])], ids=["dense", "sparse"])
def test_other_columns_are_counted(rows):
    with pytest.raises(
        ValueError, match="X has 2 features, but ClippedBins is expecting 3 features"
    ):
        ClippedBins(steps=True).fit(X).transform(rows)


def test_rows_stay_within_the_range_and_keep_their_type():
    view = ClippedBins().fit(X)
    found = view.transform(3 * X)
    assert found.dtype == np.float32
    assert_array_equal(found, np.clip(3 * X, X.min(axis=0), X.max(axis=0)))


def test_a_view_of_sparse_rows_leaves_any_rows_as_they_are():
    view = ClippedBins(steps=True).fit(sp.csr_array(X))
    assert_array_equal(view.transform(X), X)
    assert_array_equal(view.transform(sp.csr_array(X)).toarray(), X)


def test_a_view_stays_within_what_was_seen_and_repeats_no_step():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 1)).astype(np.float32)
    X = np.hstack([x, np.exp(x), x > 0])  # the second tells no more steps than the first
    view = ClippedBins(steps=True).fit(X)
    assert set(view.column_.tolist()) == {0}
    assert len(view.edge_) == 19
    Z = view.transform(X)
    assert Z.shape == (200, 22)
    np.testing.assert_array_equal(Z[:, :3], X)
    np.testing.assert_array_equal(Z[:, 3:].sum(axis=1), (x > view.edge_).sum(axis=1))
    far = view.transform(np.full((1, 3), 1e30, np.float32))
    np.testing.assert_array_equal(far[0, :3], X.max(axis=0))
