"""Fingerprints: the rows that were fitted are known again, and others are not."""

import numpy as np
import pytest
import scipy.sparse as sp

from ulmus.tables.suspicions import copies, fingerprint, known_share, row_hashes


def rows(n, seed, width=5):
    return np.random.default_rng(seed).normal(size=(n, width)).astype(np.float32)


@pytest.mark.parametrize("n", [1, 100, 20_000])
def test_the_share_of_known_rows_is_found(n):
    old, new = rows(n, 0), rows(n, 1)
    kept = fingerprint(row_hashes(old))
    assert len(kept) <= 4096
    assert known_share(row_hashes(old), kept) == 1
    assert known_share(row_hashes(new), kept) == 0
    half = np.vstack([old, new])
    assert known_share(row_hashes(half), kept) == pytest.approx(0.5, abs=0.05)


def test_one_changed_number_makes_another_row():
    X = rows(50, 0)
    Y = X.copy()
    Y[:, 3] = np.nextafter(Y[:, 3], np.float32(9))
    assert not np.isin(row_hashes(Y), row_hashes(X)).any()
    # Numbers in another order are another row too.
    assert not np.isin(row_hashes(X[:, ::-1]), row_hashes(X)).any()


def test_dense_and_sparse_rows_have_the_same_hash():
    X = np.where(rows(30, 0) > 0.5, rows(30, 1), 0)
    X[3] = 0
    Z = X.copy()
    Z[X == 0] = -0.0
    for other in (sp.csr_array(X), Z, X.astype(float)):
        assert np.array_equal(row_hashes(other), row_hashes(X))


def test_copies_are_counted():
    X = rows(10, 0)
    assert copies(row_hashes(X)) == 0
    assert copies(row_hashes(np.vstack([X, X[:2], X[:1]]))) == 5


def test_without_a_fingerprint_nothing_is_known():
    assert known_share(row_hashes(rows(3, 0)), np.zeros(0, np.uint64)) is None
