"""npz and svmlight: a matrix and its target, or an error that says why not."""

import zipfile

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

from ulmus import archives
from ulmus.exceptions import TableError
from ulmus.tables import read_table


# ---------------------------------------------------------------- npz
def test_npz_is_a_matrix_with_its_target(tmp_path):
    X = np.arange(12, dtype=np.uint8).reshape(3, 2, 2)
    np.savez(tmp_path / "t.npz", X=X, y=np.array(["a", "", "b"]))
    table = read_table(tmp_path / "t.npz")
    assert table.names == ("x0", "x1", "x2", "x3")
    assert table.matrix.dtype == np.float32
    assert table.target.tolist() == ["a", None, "b"]
    assert table["x1"].tolist() == [1, 5, 9]
    assert table.without("x1").matrix.tolist() == [[0, 2, 3], [4, 6, 7], [8, 10, 11]]
    assert len(table.rows([0])) == 1


def test_npz_may_have_names_and_a_column_of_numbers_as_target(tmp_path):
    np.savez(tmp_path / "t.npz", X=np.eye(2), y=np.ones((2, 1)), feature_names=["a", "b"])
    table = read_table(tmp_path / "t.npz")
    assert table.names == ("a", "b")
    assert table.target.tolist() == [1, 1]
    assert table.matrix.dtype == np.float64


def test_sparse_npz_stays_sparse(tmp_path):
    X = sp.random_array((5, 9), density=0.3, format="csr", random_state=0)
    sp.save_npz(tmp_path / "t.npz", X)
    table = read_table(tmp_path / "t.npz")
    np.testing.assert_array_equal(table.matrix.toarray(), X.toarray())
    np.testing.assert_array_equal(table["x3"], X.toarray()[:, 3])
    sp.save_npz(tmp_path / "t.npz", X.tocsc())
    with pytest.raises(TableError, match="csc.* and not csr"):
        read_table(tmp_path / "t.npz")


class Trap:
    def __reduce__(self):
        return (print, ("run",))


@pytest.mark.parametrize(
    ("members", "complaint"),
    [
        ({"X": np.array([[Trap()]], dtype=object)}, "holds object, which is never read"),
        ({"X": np.array([["a"]])}, "X has shape"),
        ({"X": np.ones(3)}, "X has shape"),
        ({"X": np.ones((0, 3))}, "X has shape"),
        ({"X": np.ones((2, 2), dtype=complex)}, "X has shape"),
        ({"Z": np.ones((2, 2))}, "neither X nor all parts"),
        ({"X": np.ones((2, 2)), "y": np.ones(3)}, "y has shape"),
        (
            {"X": np.ones((2, 2)), "y": np.array([Trap(), 1], dtype=object)},
            "holds object, which is never read",
        ),
        (
            {"data": [1.0], "indices": [9], "indptr": [0, 1], "shape": [1, 2]},
            "is not an npz file that can be used",
        ),
        (
            {"data": [np.nan], "indices": [1], "indptr": [0, 1], "shape": [1, 2]},
            "not finite",
        ),
        (
            {"data": [1.0], "indices": [1], "indptr": [0, 1], "shape": [1, 10**12]},
            "columns, more than",
        ),
        (
            {"data": [1.0, 1.0], "indices": [0, 0], "indptr": [0, 9, 0], "shape": [2, 2]},
            "rows that do not follow",
        ),
    ],
)
def test_npz_that_is_no_table_is_refused(tmp_path, capsys, members, complaint):
    np.savez(tmp_path / "t.npz", **members)
    with pytest.raises(TableError, match=complaint):
        read_table(tmp_path / "t.npz")
    assert not capsys.readouterr().out


def test_npz_that_is_damaged_or_too_large_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "t.npz"
    np.savez_compressed(path, X=np.random.default_rng(0).normal(size=(99, 9)))
    whole = path.read_bytes()
    for data in (b"", b"X", whole[:-50], whole[:200] + b"\0" * 200 + whole[400:]):
        path.write_bytes(data)
        with pytest.raises(TableError, match="is not an npz file that can be used"):
            read_table(path)
    path.write_bytes(whole)
    monkeypatch.setattr(archives, "_FREE", 1000)
    monkeypatch.setattr(archives, "_TIMES", 1)
    with pytest.raises(TableError, match="bytes, and .* are plausible"):
        read_table(path)


def test_npz_whose_member_is_no_array_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "t.npz", "w") as archive:
        archive.writestr("X", "text")
    with pytest.raises(TableError, match="is not an npz file that can be used"):
        read_table(tmp_path / "t.npz")


# ---------------------------------------------------------------- svmlight
@pytest.mark.parametrize("zero_based", [True, False])
def test_svmlight_columns_keep_their_numbers(tmp_path, zero_based):
    X = sp.random_array((20, 7), density=0.5, format="csr", random_state=0)
    y = np.arange(20) % 3
    dump_svmlight_file(X, y, str(tmp_path / "t.svm"), zero_based=zero_based)
    table = read_table(tmp_path / "t.svm")
    np.testing.assert_array_equal(table.target, y)
    first = 0 if zero_based else 1
    np.testing.assert_allclose(table.matrix.toarray()[:, first:], X.toarray(), rtol=1e-12)


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        ("", "is empty"),
        ("# only a comment\n", "has no rows"),
        ("one 1:2\n", "is not an svmlight file"),
        ("1 2:1 1:1\n", "is not an svmlight file"),
        ("1 a:b\n", "is not an svmlight file"),
        ("1 1:nan\n", "not finite"),
        ("1 -1:2\n", "is not an svmlight file"),
        ("1 99999999:1\n", "columns, more than"),
        ("1 99999999999999999999:1\n", "is not an svmlight file"),
        ("1\n2\n", "has no rows"),
        ("1 1:2\0\n", "NUL"),
    ],
)
def test_svmlight_that_is_none_is_refused(tmp_path, data, complaint):
    (tmp_path / "t.libsvm").write_text(data)
    with pytest.raises(TableError, match=complaint):
        read_table(tmp_path / "t.libsvm")
