"""What no file may hold is refused when it is saved, and a save that fails loses nothing."""

import errno
import os
from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import FunctionTransformer, SplineTransformer

from persistence.sameness import assert_same
from ulmus import ELMClassifier, KernelELMClassifier, KNNGraph, RandomFeatures, archives, load, save
from ulmus.exceptions import ModelFileError, UnsupportedModelError
from ulmus.persistence import classes, decoding, describe, encoding, register

X, Y = load_iris(return_X_y=True)


class Own(TransformerMixin, BaseEstimator):
    def __init__(self, factor=2.0):
        self.factor = factor

    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X):
        return self.factor * X


@dataclass(frozen=True)
class Table:
    names: tuple
    levels: dict
    values: np.ndarray
    model: object = None


@pytest.fixture
def registered(monkeypatch):
    monkeypatch.setattr(classes, "_KNOWN", dict(classes._KNOWN))
    return register


def own_kernel(A, B):
    return A @ B.T


deep = [[]]
for _ in range(500):
    deep = [deep]
circle = []
circle.append(circle)


@pytest.mark.parametrize(
    ("model", "why"),
    [
        (RandomFeatures(activation=lambda Z: Z), "a function .*no code.*'tanh'"),
        (KernelELMClassifier(own_kernel), "KernelELMClassifier.kernel is a function"),
        (ELMClassifier(FunctionTransformer(np.ascontiguousarray)), "features.func is a function"),
        (ELMClassifier(Own()), "Own, which is not among the classes.*register"),
        (ELMClassifier(SplineTransformer()), "SplineTransformer, which .*skops or pickle"),
        (LogisticRegression(), "LogisticRegression, which is not among the classes"),
        ({"a": 1}, "builtins.dict, which is not among the classes"),
        (ELMClassifier, r"a class; save takes a model, such as ELMClassifier\(\)"),
        (ELMClassifier(C=np.array([{}, 1], dtype=object)), "array of Python objects"),
        (ELMClassifier(C=np.array([("a", 1)], dtype="U1,i4")), "plain arrays"),
        (ELMClassifier(C=np.ma.masked_array([1.0])), "plain arrays"),
        (ELMClassifier(C=np.datetime64("2020-01-01")), "numbers and text alone"),
        (ELMClassifier(dtype=np.dtype("M8[s]")), "plain types alone"),
        (ELMClassifier(dtype=complex), "those of numbers alone"),
        (ELMClassifier(C={1.0, 2.0}), "builtins.set, which"),
        (ELMClassifier(C=sp.lil_array((2, 2))), "the format lil; convert it by .tocsr()"),
        (ELMClassifier(random_state=np.random.Generator(np.random.Philox(0))), "draws by Philox"),
        (ELMClassifier(C=deep), "100 levels deep"),
        (ELMClassifier(C=circle), "or holds itself"),
    ],
    ids=lambda value: value[:30] if isinstance(value, str) else type(value).__name__,
)
def test_what_no_file_may_hold_is_refused(model, why, tmp_path):
    (tmp_path / "model.ulmus").write_bytes(b"the old one")
    with pytest.raises(UnsupportedModelError, match=why):
        save(model, tmp_path / "model.ulmus")
    assert [p.read_bytes() for p in tmp_path.iterdir()] == [b"the old one"]


def test_arrays_on_a_device_are_to_be_brought_home_first(tmp_path):
    strict = pytest.importorskip("array_api_strict")
    model = ELMClassifier(n_hidden=9, random_state=0).fit(X, Y)
    model.beta_ = strict.asarray(model.beta_)
    with pytest.raises(UnsupportedModelError, match=r"beta_ is an array of array.*to_host"):
        save(model, tmp_path / "model.ulmus")


def test_rows_of_a_dask_collection_are_left_out_by_request(tmp_path):
    da = pytest.importorskip("dask.array")
    from ulmus import SemiSupervisedELMClassifier

    few = da.from_array(np.where(np.arange(len(Y)) % 5, -1, Y), chunks=50)
    model = SemiSupervisedELMClassifier(n_hidden=9, random_state=0)
    model.fit(da.from_array(X, chunks=(50, 4)), few)
    with pytest.raises(UnsupportedModelError, match="for_update=False"):
        save(model, tmp_path / "model.ulmus")
    save(model, tmp_path / "model.ulmus", for_update=False)
    assert (load(tmp_path / "model.ulmus").predict(X) == model.predict(X)).all()


VALUES = [
    None, True, 3, -(2**100), 0.1, -0.0, np.inf, -np.inf, np.nan, 1 + 2j, complex(np.nan, np.inf),
    "text", "\ud800 ü \0", "", [], [1, [2]], (), (1, (None,)), {}, {"a": [1], 2: (3,), (1, "b"): 0},
    slice(1, None, 2), np.float64(0.1), np.float32(0.1), np.int8(-3), np.bool_(True), np.str_("ü"),
    np.complex64(1j), np.dtype(">f4"), np.dtype(object), np.float32, float, object, np.tanh,
    np.array(3.0), np.empty((0, 3)), np.array([], dtype="U1"), np.array(["ü"]), np.array([b"a"]),
    np.arange(6.0).reshape(2, 3).T, np.arange(10, dtype=">i4")[::3], np.array([True, False]),
    np.array([np.nan, -0.0]), np.array([1 + 2j]), np.array([["a", None], [1.5, -1]], dtype=object),
    np.array([np.int64(1), "a"], dtype=object), np.float16([1.0]),
    sp.csr_array([[0.0, 1.0]]), sp.csc_matrix([[0, 1]]), sp.coo_array([[0.0, 1.0]]),
]  # fmt: skip


def test_every_kind_of_value_comes_back(tmp_path):
    for value in VALUES:
        save(ELMClassifier(C=value), tmp_path / "model.ulmus")
        assert_same(value, load(tmp_path / "model.ulmus").C, repr(value))
        describe(tmp_path / "model.ulmus")


@pytest.mark.parametrize("bits", ["MT19937", "PCG64", "PCG64DXSM", "SFC64"])
def test_generators_draw_on(bits, tmp_path):
    generator = np.random.Generator(getattr(np.random, bits)(7))
    generator.standard_normal(5)
    state = np.random.RandomState(getattr(np.random, bits)(7))
    state.standard_normal(5)  # an odd number, so that one is left over
    save(ELMClassifier(C=[generator, state], random_state=generator), tmp_path / "model.ulmus")
    model = load(tmp_path / "model.ulmus")
    assert model.random_state is model.C[0]
    for mine, other in zip((generator, state), model.C, strict=True):
        assert (mine.standard_normal(700) == other.standard_normal(700)).all()


def test_a_memory_map_is_stored_as_its_numbers(tmp_path):
    np.save(tmp_path / "X.npy", X)
    save(ELMClassifier(C=np.load(tmp_path / "X.npy", mmap_mode="r")), tmp_path / "model.ulmus")
    assert (load(tmp_path / "model.ulmus").C == X).all()


def test_own_classes_can_be_registered(registered, tmp_path):
    model = ELMClassifier(Own(3.0), C=1.0).fit(X, Y)
    registered(Own)
    save(model, tmp_path / "model.ulmus")
    assert (load(tmp_path / "model.ulmus").predict(X) == model.predict(X)).all()
    registered(Table)
    table = Table(("a", "b"), {"a": ["x", None]}, np.arange(3), model)
    save(table, tmp_path / "table.ulmus")
    same = load(tmp_path / "table.ulmus")
    assert (same.names, same.levels) == (table.names, table.levels)
    assert (same.model.predict(X) == model.predict(X)).all()
    assert describe(tmp_path / "table.ulmus")["params"]["names"] == ["a", "b"]
    del classes._KNOWN[f"{Own.__module__}.Own"]
    with pytest.raises(ModelFileError, match="Own', which is not among the classes"):
        load(tmp_path / "table.ulmus")
    with pytest.raises(TypeError, match="takes a class"):
        registered(Own())


def full(*_, **__):
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("where", ["fsync", "write"])
def test_a_full_disk_leaves_the_old_file(where, tmp_path, monkeypatch):
    old = ELMClassifier(n_hidden=9, random_state=0).fit(X, Y)
    save(old, tmp_path / "model.ulmus")
    with monkeypatch.context() as patch:
        if where == "fsync":
            patch.setattr(os, "fsync", full)
        else:
            patch.setattr(np.lib.format, "write_array", full)
        with pytest.raises(OSError, match="No space left"):
            save(clone(old).set_params(n_hidden=7).fit(X, Y), tmp_path / "model.ulmus")
    assert [p.name for p in tmp_path.iterdir()] == ["model.ulmus"]
    assert (load(tmp_path / "model.ulmus").beta_ == old.beta_).all()


def test_too_much_for_a_file_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(encoding, "MOST_ARRAYS", 2)
    with pytest.raises(UnsupportedModelError, match="more than 2 arrays"):
        save(ELMClassifier(C=[np.arange(i) for i in range(4)]), tmp_path / "model.ulmus")
    monkeypatch.setattr(encoding, "LONGEST_DOCUMENT", 50)
    with pytest.raises(ModelFileError, match="a file may hold 50"):
        save(KNNGraph(), tmp_path / "model.ulmus")
    assert list(tmp_path.iterdir()) == []


def test_as_many_arrays_as_a_wide_table_has(tmp_path):
    """A table of 50 000 columns has an empty array for each, and an encoder may have others."""
    empty = [np.zeros((2, 0)) for _ in range(60_000)]
    save(ELMClassifier(C=empty), tmp_path / "model.ulmus")
    found = load(tmp_path / "model.ulmus").C
    assert len(found) == len(empty)
    assert {(a.shape, a.dtype.str) for a in found} == {((2, 0), "<f8")}
    names = [f"arrays/{number}.npy" for number in (0, 50_000, 999_999)]
    assert all(map(decoding._MEMBER.fullmatch, names))
    assert encoding.MOST_ARRAYS == 10**6


def test_zip64_where_a_file_is_large(tmp_path, monkeypatch):
    # Every limit of the old format is passed once this is thought to be one.
    monkeypatch.setattr("zipfile.ZIP64_LIMIT", 100)
    model = ELMClassifier(n_hidden=9, random_state=0).fit(X, Y)
    save(model, tmp_path / "model.ulmus")
    assert b"PK\6\6" in (tmp_path / "model.ulmus").read_bytes()
    assert (load(tmp_path / "model.ulmus").beta_ == model.beta_).all()


def test_half_of_a_symmetric_matrix(tmp_path):
    rng = np.random.default_rng(0)
    for n, dtype in ((257, float), (700, np.float32)):
        A = rng.standard_normal((n, n)).astype(dtype)
        A = A + A.T
        A[3, 5] = A[5, 3] = np.nan
        for order in "CF":
            B = np.asarray(A, order=order)
            assert encoding.is_symmetric(B)
            C = encoding.from_half(encoding.to_half(B), n, order)
            assert C.tobytes() == B.tobytes()
            assert C.flags.f_contiguous == (order == "F")
    for almost in (A[:100, :100], A[:, :-1], A[::2, ::2], np.arange(90000).reshape(300, 300)):
        assert not encoding.is_symmetric(almost)
    A[0, 600] = np.nextafter(A[0, 600], np.inf)
    assert not encoding.is_symmetric(A)
    A[0, 600] = A[600, 0] = 0.0
    A[600, 0] = -0.0
    assert not encoding.is_symmetric(A)


def test_describing_reads_no_large_array(tmp_path, monkeypatch):
    path = tmp_path / "model.ulmus"
    names = np.array(["setosa", "versicolor", "virginica"], dtype=object)[Y]
    save(ELMClassifier(C=[1.0, 10.0], random_state=0).fit(np.tile(X, 7), names), path)
    read, sizes = archives._fill, []
    monkeypatch.setattr(
        archives, "_fill", lambda m, array: (sizes.append(array.size), read(m, array))
    )
    facts = describe(path)
    assert max(sizes) <= 20
    assert facts["format"] == "ulmus model"
    assert facts["class"] == "ulmus.ELMClassifier"
    assert facts["params"]["C"] == [1.0, 10.0]
    assert facts["fitted"]["classes_"] == ["setosa", "versicolor", "virginica"]
    assert facts["fitted"]["features_"]["class"] == "ulmus.RowFeatures"
    assert facts["fitted"]["features_"]["fitted"]["weights_"] == "float64 array of shape (500, 28)"
    assert facts["bytes"] == path.stat().st_size
