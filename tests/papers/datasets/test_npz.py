"""Data files are read without trust."""

import io
import pickle
import struct
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from papers.datasets.npz import pack, unpack
from papers.errors import CorruptFileError
from served import facts_of, packed

X = np.arange(36, dtype=np.float32).reshape(12, 3)
Y = np.arange(12) % 2
FACTS = facts_of(b"")


def zipped(members, method=zipfile.ZIP_DEFLATED):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, body in members:
            archive.writestr(name, body)
    return stream.getvalue()


def npy(array):
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=True)
    return stream.getvalue()


def header(shape, descr="<f4"):
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        stream, {"shape": shape, "fortran_order": False, "descr": descr}
    )
    return stream.getvalue()


def test_what_is_packed_is_unpacked_and_packed_alike_again():
    arrays = {"X": X, "y": Y, "n_train": np.array(8), "feature_names": np.array(["a", "b", "c"])}
    blob = pack(arrays)
    found = unpack(blob, FACTS, "here")
    assert set(found) == set(arrays)
    for name, array in arrays.items():
        assert_array_equal(found[name], array)
    assert pack(arrays) == blob


def test_sparse_parts_become_a_csr_array():
    whole = sp.csr_array(X)
    parts = {name: getattr(whole, name) for name in ("data", "indices", "indptr")}
    facts = facts_of(b"", stored=whole.nnz)
    found = unpack(packed(**parts, shape=np.array(whole.shape), y=Y), facts, "here")["X"]
    assert isinstance(found, sp.csr_array)
    assert_array_equal(found.toarray(), X)
    outside = {**parts, "indices": parts["indices"] + 1}
    with pytest.raises(CorruptFileError):
        unpack(packed(**outside, shape=np.array(whole.shape), y=Y), facts, "here")


class Trap:
    opened = False

    def __reduce__(self):
        return setattr, (Trap, "opened", True)


def test_a_pickled_object_is_never_opened():
    trap = np.array([Trap()] * 12, dtype=object)
    # The message's own array would also do, were it read by np.load with pickles allowed.
    pickle.loads(pickle.dumps(trap))
    assert Trap.opened
    Trap.opened = False
    with pytest.raises(CorruptFileError, match="never read"):
        unpack(zipped([("X.npy", npy(X)), ("y.npy", npy(trap))]), FACTS, "here")
    with pytest.raises(CorruptFileError):
        unpack(zipped([("X.npy", npy(X)), ("y.npy", pickle.dumps(trap))]), FACTS, "here")
    assert not Trap.opened


def test_a_bomb_is_refused_by_the_directory_of_the_archive():
    bomb = zipped([("X.npy", bytes(50_000_000)), ("y.npy", npy(Y))])
    assert len(bomb) < 100_000
    with pytest.raises(CorruptFileError, match="50,000,224 bytes, and .* are plausible"):
        unpack(bomb, FACTS, "here")


def test_a_directory_that_lies_does_not_help_a_bomb():
    blob = bytearray(zipped([("X.npy", header((12, 3)) + bytes(50_000_000)), ("y.npy", npy(Y))]))
    size = struct.pack("<I", 50_000_000 + len(header((12, 3))))
    lie = struct.pack("<I", 12 * 3 * 4 + len(header((12, 3))))
    assert blob.count(size) == 2
    with pytest.raises(CorruptFileError):
        unpack(bytes(blob.replace(size, lie)), FACTS, "here")


@pytest.mark.parametrize("shape", [(10**12, 3), (2**62, 4), (-12, -3), (13, 3)])
def test_a_header_that_asks_for_more_than_there_is(shape):
    blob = zipped([("X.npy", header(shape) + X.tobytes()), ("y.npy", npy(Y))])
    with pytest.raises(CorruptFileError, match="not as long as its header says"):
        unpack(blob, FACTS, "here")


@pytest.mark.parametrize(
    "members",
    [
        [("X.npy", npy(X)), ("y.npy", npy(Y)), ("../../evil.npy", npy(Y))],
        [("X.npy", npy(X)), ("y.npy", npy(Y)), ("more.npy", npy(Y))],
        [("X.npy", npy(X))],
        [("y.npy", npy(Y))],
        [("X.npy", b""), ("y.npy", npy(Y))],
        [("X.npy", b"\x93NUMPY\x09\x00"), ("y.npy", npy(Y))],
        [("X.npy", npy(X)[:40]), ("y.npy", npy(Y))],
        [("data.npy", npy(X)), ("y.npy", npy(Y))],
    ],
)
def test_members_that_do_not_belong_are_missing_or_broken(members):
    with pytest.raises(CorruptFileError, match="here"):
        unpack(zipped(members), FACTS, "here")


@pytest.mark.parametrize("blob", [b"", b"PK\x05\x06", b"<html>not found</html>", b"PK" * 500])
def test_bytes_that_are_no_archive(blob):
    with pytest.raises(CorruptFileError, match="here is no data file"):
        unpack(blob, FACTS, "here")


def test_an_archive_that_ends_too_soon_or_has_a_flipped_bit():
    blob = packed(X=X, y=Y)
    with pytest.raises(CorruptFileError):
        unpack(blob[: len(blob) // 2], FACTS, "here")
    flipped = bytearray(blob)
    flipped[80] ^= 1
    with pytest.raises(CorruptFileError):
        unpack(bytes(flipped), FACTS, "here")


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"X": X[:, :2]}, "X has shape"),
        ({"X": X.astype(str)}, "not numbers"),
        ({"X": np.where(X == 4, np.nan, X)}, "not finite"),
        ({"y": Y[:-1]}, "y has shape"),
        ({"y": Y + 1}, "classes 0 to 1"),
        ({"y": Y - 1}, "classes 0 to 1"),
        ({"y": Y.astype(float)}, "classes 0 to 1"),
        ({"n_train": np.array(9)}, "n_train is 9"),
        ({"n_train": np.array([8, 8])}, "n_train"),
        ({"idxLabs": np.array([[0, 12]])}, "idxLabs"),
        ({"idxUnls": np.array([[-1]])}, "idxUnls"),
        ({"idxUnls": np.array([0])}, "idxUnls"),
        ({"feature_names": np.array(["a"])}, "name for each column"),
    ],
)
def test_arrays_that_do_not_fit(change, complaint):
    with pytest.raises(CorruptFileError, match=complaint):
        unpack(packed(**{"X": X, "y": Y, **change}), FACTS, "here")


def test_a_target_of_numbers():
    facts = facts_of(b"", classes=0)
    assert unpack(packed(X=X, y=Y.astype(np.float32)), facts, "here")["y"].dtype == np.float32
    for y in (Y, np.full(12, np.inf)):
        with pytest.raises(CorruptFileError, match="must hold numbers"):
            unpack(packed(X=X, y=y), facts, "here")
