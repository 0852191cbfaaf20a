"""Memory maps: the same rows, and no more of them in memory than needed."""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from ulmus import ELMClassifier, ELMRegressor
from ulmus.backends.namespace import forget_pages, is_mapped, mapped_rows, take

X = np.random.default_rng(0).standard_normal((5000, 40)).astype(np.float32)
ROWS, y = X, (X[:, 0] > X[:, 1]).astype(int)


@pytest.fixture
def path(tmp_path):
    np.save(tmp_path / "X.npy", X)
    return tmp_path / "X.npy"


def file_kilobytes():
    """How much of mapped files is in this process's memory."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssFile:"))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("cls", [ELMClassifier, ELMRegressor])
@pytest.mark.parametrize("C", [1.0, "loo"])
def test_a_map_is_fitted_as_its_rows_are(cls, C, order, tmp_path):
    X = np.asarray(ROWS, order=order)
    np.save(tmp_path / "X.npy", X)
    rows = np.load(tmp_path / "X.npy", mmap_mode="r")
    model = cls(n_hidden=20, C=C, random_state=0)
    whole = model.fit(X, y).beta_
    assert_array_equal(model.fit(rows, y).beta_, whole)
    assert_array_equal(model.predict(rows), model.predict(X))


@pytest.mark.parametrize("mode", ["r", "r+"])
def test_pages_that_were_forgotten_are_read_again(mode, path):
    rows = np.load(path, mmap_mode=mode)
    if mode == "r+":
        rows[7] = 1.0
    seen = np.array(rows)
    forget_pages(rows)
    forget_pages(np.asarray(rows)[30:40, 3:5])
    assert_array_equal(rows, seen)


def test_what_was_written_to_a_private_map_stays(path):
    rows = np.load(path, mmap_mode="c")
    rows[7] = 1.0
    assert not is_mapped(rows)
    forget_pages(rows)
    assert_array_equal(rows[7], 1.0)


def test_views_and_copies(path):
    rows = np.load(path, mmap_mode="r")
    assert is_mapped(rows)
    assert is_mapped(np.asarray(rows)[3:9, ::2])
    assert not is_mapped(np.array(rows))
    assert not is_mapped(X)
    chosen = np.random.default_rng(0).permutation(5000)[:99]
    assert_array_equal(mapped_rows(rows, chosen), X[chosen])
    assert_array_equal(take(rows, chosen), X[chosen])


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="tells memory by Linux's /proc")
def test_a_map_that_was_read_is_no_longer_in_memory(tmp_path):
    rows = np.lib.format.open_memmap(tmp_path / "X.npy", "w+", np.float32, (1_000_000, 16))
    rows[...] = 1.0
    rows[::2] = 0.0
    forget_pages(rows)
    before = file_kilobytes()
    assert rows.sum() > 0
    assert file_kilobytes() - before > 50_000
    forget_pages(rows)
    assert file_kilobytes() - before < 5_000
    labels = np.arange(1_000_000) % 2
    ELMClassifier(n_hidden=5, C=1.0, random_state=0).fit(rows, labels)
    assert file_kilobytes() - before < 10_000


def test_a_value_that_is_not_finite_is_found(tmp_path):
    spoiled = X.copy()
    spoiled[4321, 7] = np.nan
    np.save(tmp_path / "X.npy", spoiled)
    rows = np.load(tmp_path / "X.npy", mmap_mode="r")
    with pytest.raises(ValueError, match="X contains NaN"):
        ELMClassifier().fit(rows, y)
    model = ELMClassifier(n_hidden=5).fit(X, y)
    with pytest.raises(ValueError, match="X contains NaN"):
        model.predict(rows)
