"""A file asks for no more memory and work than a multiple of its own bytes."""

import json
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest

from persistence.forging import HEAD, forged, units, zipped
from ulmus import load
from ulmus.exceptions import ModelFileError
from ulmus.persistence import decoding, describe, encoding

MEGABYTE = 2**20


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.ulmus"


def peak(path, read=load):
    """Bytes that were in use at once while a file was read, or refused, and why it was."""
    tracemalloc.start()
    try:
        read(path)
        why = ""
    except ModelFileError as error:
        why = str(error)
    finally:
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return found, why


def document(path, text):
    """A file whose model is this JSON."""
    head = json.dumps(HEAD)[:-1]
    return zipped(path, [("model.json", f'{head}, "model": {text}}}')])


@pytest.mark.parametrize(
    ("name", "value"),
    [("|S1", 2**31), ("|S1", [0] * 9), ("<f8", [1.0, 2.0]), ("<U1", 7), ("<i8", "7"), ("|O", 3),
     ("|b1", [True]), ("<i1", 300), ("<f8", 3)],
)  # fmt: skip
def test_a_scalar_is_made_of_one_value_of_its_kind(name, value, path):
    forged(path, units(n_hidden={"scalar": [name, value]}))
    found, why = peak(path)
    assert why
    assert found < MEGABYTE


def test_a_type_is_no_wider_than_a_number_or_a_word(path):
    for name in ("<U999999999", "|S123456"):
        with pytest.raises(ModelFileError, match="not plain"):
            load(forged(path, units(n_hidden={"dtype": name})))


@pytest.fixture
def little(monkeypatch):
    """A small free budget, so that small files show what large ones would do."""
    monkeypatch.setattr(decoding, "_FREE", MEGABYTE // 4)


@pytest.mark.parametrize("part", ["[]", "{}", "[1]", '{"a":1}', "[[[1]]]", '"ab"', "0.5", "1"])
@pytest.mark.parametrize("read", [load, describe])
def test_json_takes_no_more_than_a_multiple_of_its_bytes(part, read, path, little):
    document(path, f"[{','.join([part] * (MEGABYTE // 2 // (len(part) + 1)))}]")
    found, why = peak(path, read)
    # The bytes, their text, and what the budget lets be made of them.
    assert found < (decoding._TIMES + 8) * path.stat().st_size + decoding._FREE
    if part in ("[]", "{}", '{"a":1}', "[[[1]]]"):
        assert "times its own size" in why


def test_json_that_would_not_fit_is_refused_and_not_for_want_of_memory(path):
    """Twelve megabytes would become 600."""
    document(path, f"[{','.join(['[]'] * (4 * MEGABYTE))}]")
    code = (
        "import resource, sys\n"
        "from ulmus import load\n"
        "from ulmus.exceptions import ModelFileError\n"
        "resource.setrlimit(resource.RLIMIT_DATA, (2**29, 2**29))\n"
        "try:\n"
        "    load(sys.argv[1])\n"
        "except ModelFileError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True)
    assert "times its own size" in done.stdout, done.stderr


def test_random_states_are_few(path, little):
    state = np.random.Generator(np.random.SFC64(0)).bit_generator.state
    data = {"dict": [["bit_generator", "SFC64"], ["state", {"dict": [["state", {"array": 0}]]}],
                     ["has_uint32", 0], ["uinteger", 0]]}  # fmt: skip
    forged(path, units(), [state["state"]["state"]], random=[["Generator", data]] * 5000)
    made = []
    real = encoding.GENERATORS["SFC64"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(encoding.GENERATORS, "SFC64", lambda seed: (made.append(0), real(seed))[1])
        with pytest.raises(ModelFileError, match="times its own size"):
            load(path)
    assert len(made) < 1000


@pytest.mark.parametrize("key", [lambda i: i * (2**61 - 1), lambda i: i * (2.0**61 - 1) or 0.5])
def test_keys_that_share_a_hash_are_refused(key, path):
    pairs = [[key(i), 0] for i in range(1, 3000)]
    if len({hash(k) for k, _ in pairs}) == len(pairs):
        load(forged(path, units(n_hidden={"dict": pairs})))
        return
    with pytest.raises(ModelFileError, match="many keys of the same hash"):
        load(forged(path, units(n_hidden={"dict": pairs})))
    # Minus one and minus two have one hash, and that is no attack.
    assert load(forged(path, units(n_hidden={"dict": [[-1, 0], [-2, 0]]}))).n_hidden == {
        -1: 0,
        -2: 0,
    }


def test_an_empty_array_with_a_long_side_is_refused(path):
    for shape in ((0, 10**9), (10**12, 0)):
        with pytest.raises(ModelFileError, match="times its own size"):
            load(forged(path, units(n_hidden={"array": 0}), [np.empty(shape)]))
        with pytest.raises(ModelFileError, match="times its own size"):
            load(forged(path, units(n_hidden={"objects": [list(shape), []]})))
    assert load(forged(path, units(n_hidden={"array": 0}), [np.empty((0, 99))])).n_hidden.size == 0


def test_an_empty_array_with_a_long_side_is_described_by_its_shape(path):
    """As a list it would be as many empty lists."""
    forged(path, units(n_hidden={"array": 0}), [np.empty((10**12, 0))])
    shown = describe(path)["params"]["n_hidden"]
    assert shown == "float64 array of shape (1000000000000, 0)"


def test_a_sparse_matrix_with_long_sides_is_refused(path):
    parts = {part: {"array": i} for i, part in enumerate(("data", "row", "col"))}
    nothing = [np.zeros(0), np.zeros(0, np.int32), np.zeros(0, np.int32)]
    sparse = {"class": "coo_array", "shape": [10**12, 3], **parts}
    with pytest.raises(ModelFileError, match="times its own size"):
        load(forged(path, units(n_hidden={"sparse": sparse}), nothing))


def test_one_large_array_is_not_looked_through_any_number_of_times(path):
    center, matrix = np.zeros(300_000), np.zeros(300_000)
    scaling = {"object": {"class": "ulmus.features.scaling.Scaling",
                          "state": {"center": {"array": 0}, "factor": {"array": 0}}}}  # fmt: skip
    load(forged(path, units(n_hidden=[scaling] * 50), [center]))
    with pytest.raises(ModelFileError, match="times its own size"):
        load(forged(path, units(n_hidden=[scaling] * 5000), [center]))
    parts = {part: {"array": i} for i, part in enumerate(("data", "indices", "indptr"))}
    sparse = {"class": "csr_array", "shape": [1, 300_000], **parts}
    arrays = [matrix, np.arange(300_000, dtype=np.int32), np.array([0, 300_000], np.int32)]
    with pytest.raises(ModelFileError, match="times its own size"):
        load(forged(path, units(n_hidden=[{"sparse": sparse}] * 5000), arrays))


def test_one_long_text_is_not_described_any_number_of_times(path):
    forged(path, units(n_hidden=[{"array": 0}] * 5000), [np.array(["x" * 100_000])])
    found, why = peak(path, describe)
    assert "times its own size" in why
    assert found < (decoding._TIMES + 8) * path.stat().st_size + decoding._FREE


@pytest.mark.parametrize(
    "part",
    ['"a"', '{"scalar":["<f8",1.5]}', '["kind",{"float":"nan"}]',
     '{"dict":[["kind","number"],["fill",0.5],["frame",{"tuple":[0.5,1.5,false]}]]}'],
)  # fmt: skip
def test_a_file_of_many_small_parts_is_within_its_budget(part, path, little):
    """What honest files hold most of for their size: words, scalars, pairs, columns of tables."""
    many = f"[{','.join([part] * (MEGABYTE // (len(part) + 1)))}]"
    inside = f'{{"object":{{"class":"ulmus.RandomFeatures","state":{{"n_hidden":{many}}}}}}}'
    assert len(load(document(path, inside)).n_hidden) > 10_000
