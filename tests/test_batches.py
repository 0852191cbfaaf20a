"""Files as batches: every row once, in order, whatever the cut."""

import bz2
import gzip
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import dump_svmlight_file, make_classification

from ulmus import ELMClassifier, ELMRegressor, batches
from ulmus.exceptions import (
    BatchError,
    InvalidInputError,
    InvalidParameterError,
    MissingExtraError,
)

X, y = make_classification(150, 6, n_informative=4, random_state=0)
SPARSE = sp.csr_array(np.where(np.abs(X) > 1, X, 0.0))
WEIGHT = np.random.default_rng(0).uniform(0.5, 2, 150)


def joined(parts):
    """All rows, targets and weights that the batches hold."""
    columns = list(zip(*parts, strict=True))
    rows = sp.vstack(columns[0]).toarray() if sp.issparse(columns[0][0]) else np.vstack(columns[0])
    return rows, *(np.concatenate(column) for column in columns[1:])


def mapped(folder, array, name="X"):
    np.save(folder / f"{name}.npy", array)
    return np.load(folder / f"{name}.npy", mmap_mode="r")


@pytest.mark.parametrize("rows", [1, 7, 50, 149, 150, 1000, None])
@pytest.mark.parametrize("kind", ["array", "map", "sparse"])
def test_arrays_are_cut_and_nothing_is_lost(kind, rows, tmp_path):
    data = {"array": X, "sparse": SPARSE}.get(kind)
    data = mapped(tmp_path, X) if data is None else data
    parts = batches.from_arrays(data, y, WEIGHT, rows=rows)
    for _ in range(2):
        found = joined(parts)
        assert_array_equal(found[0], SPARSE.toarray() if kind == "sparse" else X)
        assert_array_equal(found[1], y)
        assert_array_equal(found[2], WEIGHT)
    assert len(parts) == len(list(parts)) == (1 if rows is None else -(-150 // rows))


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("rows", [1, 7, 150, None])
def test_a_csr_file_is_read_once_through(rows, compressed, tmp_path):
    path = tmp_path / "rows.npz"
    sp.save_npz(path, SPARSE, compressed=compressed)
    parts = batches.from_csr(path, y, WEIGHT, rows=rows)
    found = joined(parts)
    for seen, expected in zip(found, (SPARSE.toarray(), y, WEIGHT), strict=True):
        assert_array_equal(seen, expected)
    assert len(parts) == len(list(parts))
    model = ELMClassifier(n_hidden=15, C=1.0, random_state=0)
    assert_allclose(model.fit(parts).beta_, model.fit(SPARSE, y, WEIGHT).beta_, rtol=1e-6)


@pytest.mark.parametrize("size", [1, 60, 333, 5000, 10**6])
@pytest.mark.parametrize("pack", [None, gzip.compress, bz2.compress])
def test_an_svmlight_file_is_read_once_through(size, pack, tmp_path):
    path = tmp_path / "rows.txt"
    dump_svmlight_file(SPARSE, y, str(path), zero_based=False)
    if pack is not None:
        packed = path.with_suffix(".gz" if pack is gzip.compress else ".bz2")
        packed.write_bytes(pack(path.read_bytes()))
        path = packed
    parts = batches.from_svmlight(path, 6, megabytes=size / 1e6)
    found = joined(parts)
    assert_allclose(found[0], SPARSE.toarray(), rtol=1e-12)
    assert_array_equal(found[1], y)
    model = ELMClassifier(n_hidden=15, C=1.0, random_state=0)
    assert_allclose(model.fit(parts).beta_, model.fit(SPARSE, y).beta_, rtol=1e-6)


def test_a_line_of_text_that_is_no_row_names_the_batch(tmp_path):
    path = tmp_path / "rows.txt"
    path.write_text("1 1:0.5 2:1\n0 2:1\n1 3:1 what\n")
    with pytest.raises(BatchError, match="Batch 3 cannot be read"):
        ELMClassifier().fit(batches.from_svmlight(path, 3, megabytes=1e-6))
    path.write_text("1 1:0.5 2:1\n0 2:1\n1 3:1\n")
    with pytest.raises(BatchError, match="Batch 3 cannot be read.*3 features"):
        ELMClassifier().fit(batches.from_svmlight(path, 2, megabytes=1e-6))


# ---------------------------------------------------------------- Parquet
@pytest.fixture
def table(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {f"x{j}": X[:, j] for j in range(6)}
    columns |= {"label": np.array(["no", "yes"])[y], "value": X[:, 0] * 2, "weight": WEIGHT}
    path = tmp_path / "rows.parquet"
    parquet.write_table(pyarrow.table(columns), path, row_group_size=40)
    return path


NAMES = [f"x{j}" for j in range(6)]


@pytest.mark.parametrize("rows", [1, 7, 40, 64, 150, None])
def test_a_parquet_file_is_read_once_through(rows, table):
    parts = batches.from_parquet(
        table, "label", columns=NAMES, sample_weight="weight", rows=rows, dtype=np.float64
    )
    found = joined(parts)
    assert_array_equal(found[0], X)
    assert_array_equal(found[1], np.array(["no", "yes"])[y])
    assert_array_equal(found[2], WEIGHT)
    with pytest.raises(TypeError, match="not known"):
        len(parts)


def test_a_parquet_file_is_fitted_as_its_rows_are(table):
    labels = batches.from_parquet(table, "label", columns=NAMES, rows=32)
    model = ELMClassifier(n_hidden=15, C=1.0, random_state=0).fit(labels)
    whole = ELMClassifier(n_hidden=15, C=1.0, random_state=0).fit(X, np.array(["no", "yes"])[y])
    assert_allclose(model.beta_, whole.beta_, rtol=1e-6)
    values = batches.from_parquet(table, ["value", "x1"], columns=["x0", "x2"], rows=32)
    model = ELMRegressor(n_hidden=15, C=1.0, random_state=0).fit(values)
    two = np.column_stack([2 * X[:, 0], X[:, 1]])
    whole = ELMRegressor(n_hidden=15, C=1.0, random_state=0).fit(X[:, [0, 2]], two)
    assert_allclose(model.beta_, whole.beta_, rtol=1e-6)


def test_a_folder_of_parquet_files_is_one_data_set(table):
    pyarrow = pytest.importorskip("pyarrow.dataset")
    (table.parent / "more").mkdir()
    for k in range(2):
        (table.parent / "more" / f"{k}.parquet").write_bytes(table.read_bytes())
    for source in (table.parent / "more", pyarrow.dataset(table.parent / "more")):
        rows, labels = joined(batches.from_parquet(source, "label", columns=NAMES, rows=50))
        assert_array_equal(rows, np.vstack([X, X]))
        assert len(labels) == 300


def test_parquet_columns_that_cannot_be_used(table):
    with pytest.raises(InvalidParameterError, match="no column 'age'"):
        batches.from_parquet(table, "age")
    with pytest.raises(BatchError, match="Column 'label' holds no numbers"):
        ELMRegressor().fit(batches.from_parquet(table, "value"))


def test_missing_values_of_a_parquet_file_name_the_batch(table):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    holes = [None if i == 70 else float(i) for i in range(150)]
    names = [None if i == 70 else "ab"[i % 2] for i in range(150)]
    path = table.with_name("holes.parquet")
    parquet.write_table(pyarrow.table({"x": holes, "label": y, "name": names}), path)
    with pytest.raises(BatchError, match="Batch 2 cannot be used.*NaN"):
        ELMClassifier().fit(batches.from_parquet(path, "label", columns=["x"], rows=50))
    with pytest.raises(
        BatchError, match="Batch 2 cannot be used. y has 1 missing value, in row 20"
    ):
        ELMClassifier().fit(batches.from_parquet(path, "name", columns=["label"], rows=50))


def test_parquet_without_pyarrow(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.dataset", None)
    with pytest.raises(MissingExtraError, match=r"ulmus\[parquet\]"):
        batches.from_parquet("rows.parquet", "y")


# ---------------------------------------------------------------- what cannot be used
def test_files_and_arrays_that_cannot_be_used(tmp_path):
    with pytest.raises(InvalidInputError, match="X has 150 rows, and y or the weights 149"):
        batches.from_arrays(X, y[:-1])
    with pytest.raises(InvalidParameterError, match="rows=0"):
        batches.from_arrays(X, y, rows=0)
    sp.save_npz(tmp_path / "coo.npz", SPARSE.tocoo())
    with pytest.raises(InvalidInputError, match="no CSR matrix but coo"):
        batches.from_csr(tmp_path / "coo.npz", y)
    sp.save_npz(tmp_path / "csr.npz", SPARSE)
    with pytest.raises(InvalidInputError, match="150 rows, and y or the weights 3"):
        batches.from_csr(tmp_path / "csr.npz", y[:3])


@pytest.mark.parametrize(
    "change",
    [
        {"indices": np.array([0, 999], np.int32)},
        {"indptr": np.array([0, 2, 1], np.int32)},
        {"indptr": np.array([0, 9, 2], np.int32)},
        {"indptr": np.array([0, np.inf, 2])},
        {"shape": np.array([2.5, 3.0])},
        {"shape": np.array([2])},
        {"data": np.array([[1.0, 2.0]])},
        {"data": np.array(["a", "b"])},
        {"format": np.array(7)},
    ],
)
def test_a_csr_file_that_would_lead_outside_its_arrays_is_refused(change, tmp_path):
    own = {"data": np.ones(2), "indices": np.zeros(2, np.int32), "format": np.array(b"csr"),
           "indptr": np.array([0, 1, 2], np.int32), "shape": np.array([2, 3])}  # fmt: skip
    np.savez(tmp_path / "csr.npz", **own)
    assert len(list(batches.from_csr(tmp_path / "csr.npz", [0, 1], rows=1))) == 2
    np.savez(tmp_path / "csr.npz", **(own | change))
    with pytest.raises(InvalidInputError, match=r"csr.npz is damaged, or was not written by"):
        list(batches.from_csr(tmp_path / "csr.npz", [0, 1], rows=1))
