"""Archives of arrays: what is wrong with one is said before memory is reserved for it."""

import io
import struct
import tracemalloc
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp

from ulmus import archives
from ulmus.archives import ArrayArchive, read_npz, sparse_matrix

X = np.arange(12.0).reshape(3, 4)


def saved(compressed=False, **arrays):
    stream = io.BytesIO()
    (np.savez_compressed if compressed else np.savez)(stream, **arrays)
    return stream


@pytest.mark.parametrize("compressed", [False, True])
def test_arrays_come_back(compressed):
    members = {"X": X, "F": np.asfortranarray(X), "empty": X[:0], "one": np.array("ü")}
    found = read_npz(saved(compressed, **members), set(members))
    assert found.keys() == members.keys()
    for name, array in members.items():
        assert (found[name].shape, found[name].dtype) == (array.shape, array.dtype)
        assert (found[name] == array).all()


def test_other_members_are_refused_or_passed_over():
    with pytest.raises(ValueError, match="'more.npy', which does not belong there"):
        read_npz(saved(X=X, more=X), {"X"})
    assert list(read_npz(saved(X=X, more=X), {"X"}, others=True)) == ["X"]


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA, zipfile.ZIP_DEFLATED])
def test_members_are_packed_as_such_files_are(method):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        archive.writestr("X.npy", saved(X=X).getvalue())
    with pytest.raises(ValueError, match="compressed in a way"):
        ArrayArchive(stream, bool, packed=False)
    if method != zipfile.ZIP_DEFLATED:
        with pytest.raises(ValueError, match="compressed in a way"):
            ArrayArchive(stream, bool)


def test_a_bomb_is_refused_by_the_directory():
    stream = saved(True, X=np.zeros(1_250_000))
    with pytest.raises(ValueError, match="10,000,128 bytes, and 9,999,999 are plausible"):
        ArrayArchive(stream, bool, most=9_999_999)
    # Two members on the same bytes: the sum tells.
    with pytest.raises(ValueError, match="bytes, and .* are plausible"):
        ArrayArchive(saved(True, X=X, Y=np.zeros(9999)), bool, most=9999 * 8)


def test_nothing_is_reserved_that_a_header_lies_about():
    # Longer than what zipfile reads at once, or the checksum would tell first.
    lie = saved(X=np.arange(1000.0)).getvalue().replace(b"(1000,), }      ", b"(9000000000,), }")
    tracemalloc.start()
    with pytest.raises(ValueError, match="not as long as its header says"):
        ArrayArchive(io.BytesIO(lie), bool).array("X.npy")
    assert tracemalloc.get_traced_memory()[1] < 100_000
    tracemalloc.stop()


def test_a_changed_byte_and_an_early_end_are_found():
    content = bytearray(saved(X=X).getvalue())
    place = content.index(struct.pack("<d", 7.0))
    content[place] ^= 1
    with pytest.raises(ValueError, match="Bad CRC-32"):
        read_npz(io.BytesIO(content), {"X"})
    with pytest.raises(ValueError, match="not a zip file"):
        read_npz(io.BytesIO(content[:-9]), {"X"})


WHOLE = sp.csr_array(np.array([[0.0, 1.0, 0.0], [2.0, 0.0, 3.0]]))
FAR = np.iinfo(np.int32).max


def parts(**change):
    own = {name: getattr(WHOLE, name) for name in ("data", "indices", "indptr")}
    return list((own | change).values())


def test_parts_of_a_sparse_matrix_that_fit():
    for cls in (sp.csr_array, sp.csr_matrix):
        assert abs(sparse_matrix(cls, parts(), (2, 3)) - WHOLE).nnz == 0
    assert abs(sparse_matrix(sp.csc_array, parts(), (3, 2)) - WHOLE.T).nnz == 0
    coo = WHOLE.tocoo()
    found = sparse_matrix(sp.coo_array, [coo.data, coo.row, coo.col], (2, 3))
    assert abs(found - WHOLE).nnz == 0
    # SciPy leaves room at the end of a matrix that has become smaller.
    roomy = parts(data=np.ones(9), indices=np.zeros(9, np.int32))
    assert sparse_matrix(sp.csr_array, roomy, (2, 3)).nnz == 3


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"indices": np.array([1, 0, 3])}, "outside"),
        ({"indices": np.array([1, -1, 2])}, "outside"),
        ({"indices": np.array([1.0, 0.0, 2.0])}, "of a wrong type"),
        ({"indices": np.array([1, 0])}, "not of one length"),
        ({"indptr": np.array([0, 3, 1])}, "do not follow"),
        ({"indptr": np.array([1, 1, 3])}, "do not follow"),
        ({"indptr": np.array([0, 1, 9])}, "not of one length"),
        ({"indptr": np.array([0, 1])}, "do not follow"),
        ({"indptr": np.array([[0, 1, 3]])}, "not one-dimensional arrays"),
        ({"data": np.array(["a", "b", "c"])}, "of a wrong type"),
        ({"data": np.ones(3, np.float16)}, "of a wrong type"),
        ({"data": [1.0, 2.0, 3.0]}, "not one-dimensional arrays"),
        # What SciPy's own check lets through.
        ({"indptr": np.array([0, 9, 0])}, "do not follow"),
    ],
)
def test_parts_of_a_sparse_matrix_that_do_not_fit(change, why):
    with pytest.raises(ValueError, match=why):
        sparse_matrix(sp.csr_array, parts(**change), (2, 3))


def test_steps_between_rows_that_overflow():
    indptr = np.array([0, FAR, -FAR, 0, 3], dtype=np.int32)
    assert (np.diff(indptr) >= 0).all()
    with pytest.raises(ValueError, match="do not follow"):
        sparse_matrix(sp.csr_array, parts(indptr=indptr), (4, 3))


@pytest.mark.parametrize("shape", [(2, -3), (2.0, 3), (True, 3)])
def test_a_shape_that_is_none(shape):
    with pytest.raises(ValueError, match="an invalid shape"):
        sparse_matrix(sp.csr_array, parts(), shape)


def test_the_kinds_of_arrays_hold_no_objects():
    assert "O" not in archives.ARRAY_KINDS
