"""Files of another kind, or made to do harm: one error with a sentence, and nothing else."""

import json
import struct
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
import sklearn
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from persistence.forging import HEAD, forged, npy, save_forged, units, zipped
from ulmus import ELMClassifier, ELMKMeans, RandomFeatures, load, save
from ulmus.exceptions import ModelFileError
from ulmus.persistence import decoding, describe

X, Y = load_iris(return_X_y=True)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.ulmus"


# ---------------------------------------------------------------- no model at all
@pytest.mark.parametrize(
    "content", [b"", b"PK", b"PK\5\6" + bytes(18), b"\x80\x04N.", b"x" * 10_000, bytes(5000)]
)
def test_other_files(content, path):
    path.write_bytes(content)
    for read in (load, describe):
        with pytest.raises(ModelFileError, match=r"model.ulmus cannot be read as a model: "):
            read(path)


def test_a_file_that_is_not_there_is_an_error_of_the_system(path):
    with pytest.raises(FileNotFoundError):
        load(path)
    with pytest.raises(IsADirectoryError):
        load(path.parent)


def test_other_kinds_and_newer_versions(path):
    for content, why in (
        ({"format": "ulmus table"}, "it is a file of another kind"),
        ({"version": 2, "ulmus": "3.1"}, "Ulmus 3.1 wrote it in version 2 .* newer Ulmus"),
        ({"version": "1"}, "version '1' of the format"),
    ):
        with pytest.raises(ModelFileError, match=why):
            load(forged(path, units(), **content))
    for text in ("[]", "3", "null", "{}"):
        with pytest.raises(ModelFileError, match="of another kind"):
            load(zipped(path, [("model.json", text)]))
    with pytest.raises(ModelFileError, match="no model.json"):
        load(zipped(path, [("arrays/0.npy", npy(X))]))
    np.savez(path.with_suffix(".npz"), X=X)
    with pytest.raises(ModelFileError, match="a member 'X.npy', which does not belong"):
        load(path.with_suffix(".npz"))


# ---------------------------------------------------------------- the container
def test_names_that_lead_elsewhere(path, tmp_path):
    document = json.dumps(HEAD | {"model": units()})
    for name in ("../evil.npy", "/etc/evil", "arrays/../../evil.npy", "arrays\\0.npy", "C:evil",
                 "arrays/00.npy", "arrays/-1.npy", "model.json/", "arrays/0.npy\n"):  # fmt: skip
        members = [("model.json", document), (name, npy(X))]
        with pytest.raises(ModelFileError, match="which does not belong there"):
            load(zipped(path, members))
    assert [p.name for p in tmp_path.iterdir()] == ["model.ulmus"]


def test_two_members_of_one_name(path):
    document = json.dumps(HEAD | {"model": units()})
    with pytest.warns(UserWarning, match="Duplicate name"):
        zipped(path, [("model.json", document), ("model.json", document)])
    with pytest.raises(ModelFileError, match="two members of one name"):
        load(path)


def test_a_zip_bomb_is_refused_before_it_is_read(path):
    bomb = npy(np.zeros(5_000_000))
    document = json.dumps(HEAD | {"model": units(n_hidden={"array": 0})})
    members = [("model.json", document), ("arrays/0.npy", bomb)]
    zipped(path, members, compression=zipfile.ZIP_DEFLATED)
    assert path.stat().st_size < len(bomb) / 500
    del bomb, members
    tracemalloc.start()
    with pytest.raises(ModelFileError, match="compressed in a way that is not allowed"):
        load(path)
    assert tracemalloc.get_traced_memory()[1] < 1_000_000
    tracemalloc.stop()


def test_sizes_that_the_file_does_not_have(path):
    """Two members on the same bytes, and a member that says it is larger than the file."""
    forged(path, units(n_hidden={"array": 0}), [np.arange(1000.0)])
    content = bytearray(path.read_bytes())
    place = content.rindex(b"PK\1\2")
    for size in (10**6, 2**32 - 2):
        content[place + 20 : place + 28] = struct.pack("<2L", size, size)
        path.write_bytes(content)
        with pytest.raises(ModelFileError, match="bytes, and .* are plausible"):
            load(path)


def test_a_directory_without_end_is_refused_before_it_is_read(path, monkeypatch):
    entry = b"PK\1\2" + bytes(42)
    directory = entry * 200_000
    monkeypatch.setattr(decoding, "_LONGEST_DIRECTORY", len(directory) - 1)
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 9, 9, len(directory), 0, 0)
    path.write_bytes(directory + end)
    monkeypatch.setattr(zipfile, "ZipFile", None)
    with pytest.raises(ModelFileError, match="more members than"):
        load(path)
    # The same behind zip64's records, which have the last word.
    long = struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, 9, 9, len(directory), 0)
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, len(directory), 1)
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 9, 9, 100, 0, 0)
    path.write_bytes(directory + long + locator + end)
    with pytest.raises(ModelFileError, match="more members than"):
        load(path)
    path.write_bytes(directory + long + b"x" + locator + end)
    with pytest.raises(ModelFileError, match="not where it should be"):
        load(path)


def test_an_encrypted_member(path):
    forged(path, units())
    content = bytearray(path.read_bytes())
    content[content.rindex(b"PK\1\2") + 8] |= 1
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match="encrypted"):
        load(path)


# ---------------------------------------------------------------- arrays
class Bomb:
    def __reduce__(self):
        return (Path.touch, (Path("ulmus-was-here"),))


def test_arrays_that_must_not_be_read(path, monkeypatch):
    monkeypatch.chdir(path.parent)
    document = json.dumps(HEAD | {"model": units(n_hidden={"array": 0})})
    good = npy(np.arange(10.0))
    header = b"\x93NUMPY\1\0"

    def with_header(text):
        return header + struct.pack("<H", len(text)) + text + bytes(80)

    for member, why in (
        (npy(np.array([Bomb()], dtype=object), allow_pickle=True), "holds object"),
        (npy(np.array([(1, 2)], dtype="i4,i4")), "never read"),
        (npy(np.array(["2020"], dtype="M8[Y]")), "never read"),
        (good[:-1], "not as long as its header says"),
        (good + b"\0", "not as long as its header says"),
        (good.replace(b"(10,)", b"(99,)"), "not as long"),
        (good.replace(b"(10,)", b"(-10,)"), "not as long|no header"),
        (good.replace(b"'<f8'", b"'<U0'"), "no header|never read"),
        (good.replace(b"(10,), }", b"(9**9**9,)"), "no valid header"),
        (good.replace(b"NUMPY\1", b"NUMPY\4"), "no valid header"),
        (good.replace(b"NUMPY", b"LUMPY"), "no valid header"),
        (with_header(b"(" * 5000), "no valid header"),
        (with_header(b"__import__('pathlib').Path('ulmus-was-here').touch()"), "no valid header"),
        (b"", "no valid header"),
    ):
        zipped(path, [("model.json", document), ("arrays/0.npy", member)])
        with pytest.raises(ModelFileError, match=why):
            load(path)
    assert [p.name for p in path.parent.iterdir()] == ["model.ulmus"]


def test_arrays_and_the_document_must_match(path):
    for model, arrays, why in (
        (units(n_hidden={"array": 1}), [X], "refers to arrays/1.npy, which it does not have"),
        (units(n_hidden={"array": "../x"}), [X], "does not have"),
        (units(n_hidden={"array": True}), [X, X], "does not have"),
        (units(n_hidden={"array": 0.0}), [X], "does not have"),
        (units(n_hidden=3), [X], "arrays that nothing refers to"),
        (
            units(n_hidden={"symmetric": [0, 10**9, "C"]}),
            [X[:, 0]],
            "half a symmetric matrix|damaged",
        ),
        (units(n_hidden={"symmetric": [0, -1, "C"]}), [X[:0, 0]], "half a symmetric matrix"),
    ):
        with pytest.raises(ModelFileError, match=why):
            load(forged(path, model, arrays))


# ---------------------------------------------------------------- the document
@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, '{"a":' * 100_000, "{", "\xff", "NaN", '{"format": Infinity}', "1" * 5000],
)
def test_json_that_is_none(text, path):
    zipped(path, [("model.json", text.encode("latin-1"))])
    for read in (load, describe):
        with pytest.raises(ModelFileError):
            read(path)


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("model", "why"),
    [
        ({"object": {"class": "os.system", "state": {}}}, "'os.system', which is not among"),
        ({"object": {"class": "builtins.eval", "state": {}}}, "not among the classes"),
        ({"object": {"class": "sklearn.linear_model.Ridge", "state": {}}}, "not among the classes"),
        ({"object": {"class": "ulmus.cli.main", "state": {}}}, "not among the classes"),
        ({"object": {"class": ["ulmus"], "state": {}}}, "damaged"),
        (units(__class__="x"), "should not: '__class__'"),
        (units(__dict__={"dict": []}), "should not"),
        (units(__reduce__=1), "should not"),
        (units(transform=1), "should not: 'transform'"),
        (units(_rescales=True), "should not: '_rescales'"),
        (units(**{"a b": 1}), "should not"),
        ({"object": {"class": "ulmus.kernels.RBF", "state": {"gamma": 1, "x": 2}}}, "should not"),
        ({"object": {"class": "ulmus.problem.Moments", "state": {"gram": 1}}}, "damaged"),
        ({"object": {"class": "sklearn.frozen.FrozenEstimator", "state": {}}}, "no .'estimator'"),
        (units(n_hidden={"function": "os.system"}), "'os.system', which is not on the list"),
        (units(n_hidden={"function": "numpy.load"}), "not on the list"),
        (units(n_hidden={"type": "os.system"}), "damaged"),
        (units(n_hidden={"dtype": "f8,f8"}), "not plain"),
        (units(n_hidden={"dtype": "|V8"}), "not plain"),
        (units(n_hidden={"pickle": "gASVCg"}), "'pickle', which this version does not know"),
        (units(n_hidden={"tuple": [], "list": []}), "damaged"),
        (units(n_hidden={}), "damaged"),
        (units(n_hidden={"dict": [[[], 1]]}), "damaged"),
        (units(n_hidden={"float": "1e9"}), "damaged"),
        (units(n_hidden={"objects": [[2], ["a"]]}), "damaged"),
        (units(n_hidden={"objects": [[1], [{"function": "numpy.exp"}]]}), "not text or numbers"),
        (units(n_hidden={"random": 0}), "damaged"),
        (units(n_hidden=nested(150)), "levels deep"),
    ],
)  # fmt: skip
def test_documents_that_ask_for_what_is_not_to_be_had(model, why, path):
    with pytest.raises(ModelFileError, match=why):
        load(forged(path, model))


def test_a_later_parameter_takes_its_default(path):
    model = load(forged(path, units(n_hidden=7)))
    assert repr(model) == "RandomFeatures(n_hidden=7)"


def test_sparse_indices_stay_within_the_matrix(path):
    parts = np.ones(2), np.array([0, 9], dtype=np.int32), np.array([0, 1, 2], dtype=np.int32)
    for name, shape in (("csr_array", [2, 3]), ("csc_matrix", [3, 2]), ("lil_array", [2, 3])):
        sparse = {
            "class": name,
            "shape": shape,
            **{part: {"array": i} for i, part in enumerate(("data", "indices", "indptr"))},
        }
        with pytest.raises(ModelFileError, match="damaged"):
            load(forged(path, units(n_hidden={"sparse": sparse}), parts))


def test_random_states_stay_within_their_key(path):
    state = np.random.RandomState(0).get_state(legacy=False)
    key = state["state"]["key"]
    for pos, arrays in ((10**6, [key]), (-1, [key]), (0, [key[:9]])):
        inner = {"dict": [["key", {"array": 0}], ["pos", pos]]}
        data = {
            "dict": [
                ["bit_generator", "MT19937"],
                ["state", inner],
                ["has_gauss", 0],
                ["gauss", 0.0],
            ]
        }
        with pytest.raises(ModelFileError, match="an invalid random state"):
            load(
                forged(
                    path, units(random_state={"random": 0}), arrays, random=[["RandomState", data]]
                )
            )


def changed(path, model, change):
    """A file of a model whose state was changed by someone who can make checksums right."""
    change(model)
    return save_forged(model, path)


def test_centres_that_compiled_code_would_read_beyond(path):
    model = ELMKMeans(3, n_hidden=9, random_state=0).fit(X)
    with pytest.raises(ModelFileError, match="cluster_centers_ of KMeans does not fit"):
        load(
            changed(path, model, lambda m: setattr(m.kmeans_, "cluster_centers_", np.ones((3, 2))))
        )
    # The number of threads is the reader's own affair.
    kmeans = KMeans(3, n_init=1, random_state=0).fit(X)
    threads = kmeans._n_threads
    assert (
        load(changed(path, kmeans, lambda m: setattr(m, "_n_threads", 10**9)))._n_threads == threads
    )


@pytest.mark.parametrize(
    "change",
    [
        {"_n_features_outs": [9]},
        {"_n_features_outs": [2]},
        {"categories_": [np.arange(9)]},
        {"categories_": [np.array([3, 1, 2])]},
        {"_drop_idx_after_grouping": np.array([7], dtype=object)},
        {"_default_to_infrequent_mappings": [np.array([0, 1, 9])], "_infrequent_enabled": True},
        {"_default_to_infrequent_mappings": [np.array([0, 1])], "_infrequent_enabled": True},
        {"_default_to_infrequent_mappings": [np.array([0, -1, 2])], "_infrequent_enabled": True},
        {"categories_": []},
    ],
)
def test_categories_that_would_be_written_beyond_the_columns(change, path):
    encoder = OneHotEncoder(sparse_output=False).fit([[1], [2], [3]])
    save(encoder, path)
    assert (load(path).transform([[2], [3]]) == [[0, 1, 0], [0, 0, 1]]).all()
    with pytest.raises(ModelFileError):
        load(changed(path, encoder, lambda m: vars(m).update(change)))


def test_another_scikit_learn_is_told_as_scikit_learn_does(path, monkeypatch):
    model = ELMClassifier(StandardScaler(), C=1.0).fit(X, Y)
    with monkeypatch.context() as patch:
        patch.setattr(sklearn, "__version__", "1.6.0")
        save(model, path)
        save(RandomFeatures(), path.with_name("ours"))
    with pytest.warns(
        InconsistentVersionWarning, match="StandardScaler from version 1.6.0"
    ) as seen:
        load(path)
    assert len(seen) == 1
    load(path.with_name("ours"))


@pytest.mark.parametrize(
    "part",
    [
        {"tuple": "ab"}, {"tuple": {"scalar": ["|S1", 2**33]}}, {"slice": "abc"}, {"dict": ["ab"]},
        {"dict": {"ab": 1}}, {"objects": [[2], "ab"]}, {"complex": {"1": 0, "2": 0}},
    ],
    ids=str,
)  # fmt: skip
def test_letters_and_keys_are_no_list(part, path):
    with pytest.raises(ModelFileError):
        load(forged(path, units(n_hidden=part)))
