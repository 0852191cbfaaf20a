"""OpenML's files become data sets only if they are the ones that were meant."""

import io
from urllib.request import urlopen

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from papers.datasets import fetch, load, openml
from papers.errors import CorruptFileError, MissingDatasetError

# scikit-learn asks for a file that is wrong a second time, and says so.
pytestmark = pytest.mark.filterwarnings("ignore:Downloaded file could have been corrupted")


def test_a_data_set_comes_from_openml_and_then_from_the_cache(tiny, published):
    answers = published()
    first = load("tiny")
    with np.load(io.BytesIO(tiny)) as data:
        assert_array_equal(first.data, data["X"])
        assert_array_equal(first.target, data["y"])
    assert first.data.dtype == np.float32
    assert first.source == "network"
    assert first.feature_names.tolist() == ["col 0", "col 1", "col 2"]
    answers.clear()
    second = load("tiny")
    assert second.source == "cache"
    assert_array_equal(second.data, first.data)
    assert str(fetch("tiny")) == second.filename


def test_the_split_is_given_only_where_the_rows_are_in_their_published_order(published):
    published(facts={"labels": openml._hash(np.arange(12) % 2)})
    data = load("tiny")
    assert_array_equal(data.train, np.arange(8))
    assert_array_equal(data.test, np.arange(8, 12))


def test_no_split_where_the_order_is_another(published):
    published(facts={"labels": openml._hash(np.arange(12) // 6)})
    assert "train" not in load("tiny")


@pytest.mark.parametrize(
    ("description", "facts", "complaint"),
    [
        ({"name": "huge"}, {}, "is 'huge' and not 'tiny'"),
        ({"format": "Sparse_ARFF"}, {}, "no table that can be read|no dense table"),
        ({"md5_checksum": "0" * 32}, {}, "md5 checksum"),
        ({}, {"shape": (12, 4)}, r"X has shape \(12, 3\) and not \(12, 4\)"),
        ({}, {"shape": (11, 3)}, r"X has shape \(12, 3\) and not \(11, 3\)"),
        ({}, {"counts": (5, 7)}, "other numbers of rows"),
        ({}, {"classes": 1, "counts": ()}, "classes 0 to 0"),
        ({}, {"span": (0.0, 255.0)}, "not from 0 to 255"),
        ({}, {"dtype": "uint8"}, "not whole numbers"),
    ],
)
def test_something_else_than_was_meant(published, tmp_path, description, facts, complaint):
    published(description=description, facts=facts)
    with pytest.raises(CorruptFileError, match=complaint):
        load("tiny")
    assert not (tmp_path / "cache").exists()


def test_no_file_is_written_where_a_description_points(published, tmp_path):
    outside = tmp_path / "outside"
    place = f"/..{'/..' * 20}{outside}/rows"
    description = {"url": f"https://www.openml.org{place}"}
    answers = published(description=description)
    answers[place] = answers["/files/tiny.arff"]
    assert load("tiny").source == "network"
    assert not outside.exists()


HEAD = b"@relation r\n@attribute 'col 0' numeric\n@attribute 'col 1' numeric\n"
HEAD += b"@attribute 'col 2' numeric\n@attribute kind {a, b}\n@data\n"


@pytest.mark.parametrize(
    "arff",
    [b"", b"<html>", HEAD, HEAD + b"1,2,3\n" * 12, HEAD + b"1,2,x,a\n" * 12, HEAD + b"\xff\xfe"],
)
def test_tables_that_cannot_be_read(published, arff):
    published(arff=arff)
    with pytest.raises(CorruptFileError, match="OpenML 7 is"):
        load("tiny")


def test_missing_values_are_refused(published):
    published(arff=HEAD + b"1,?,3,a\n1,2,3,b\n" * 6)
    with pytest.raises(CorruptFileError, match="X is not finite"):
        load("tiny")


@pytest.mark.parametrize("text", [b"", b"<html>", b"[]", b"{}", b'{"data_set_description": {}}'])
def test_a_description_that_describes_nothing(published, text):
    published(**{"/api/v1/json/data/7": text})
    with pytest.raises(CorruptFileError, match="OpenML 7 is no table"):
        load("tiny")


@pytest.mark.parametrize("error", [TimeoutError("timed out"), ConnectionResetError("reset")])
def test_no_network_says_what_helps(published, monkeypatch, error):
    published()
    monkeypatch.setattr(openml, "fetch_openml", lambda **_: (_ for _ in ()).throw(error))
    with pytest.raises(MissingDatasetError) as caught:
        load("tiny")
    for words in ("could not be fetched", "tiny.npz", "ULMUS_DATA", "`ulmus data fetch tiny`"):
        assert words in str(caught.value)


def test_columns_that_openml_ignores_are_left_out_and_categories_are_their_numbers(published):
    rows = b"".join(b"%d,%d,%d,'%d',%d.5\n" % (k, 2 * k, k % 2 + 3, k % 2, k) for k in range(12))
    head = b'@relation r\n@attribute id numeric\n@attribute "b c" real\n@attribute y {4, 3}\n'
    head += b"@attribute a {'1', '0'}\n@attribute d numeric\n@data\n"
    kinds = {"id": "id", "b c": "numeric", "y": "target", "a": "nominal", "d": "ignored"}
    published(arff=head + rows, columns=list(kinds.items()), facts={"shape": (12, 2), "n_train": 0})
    data = load("tiny")
    assert data.feature_names.tolist() == ["b c", "a"]
    assert_array_equal(data.data, np.column_stack([2 * np.arange(12), np.arange(12) % 2]))
    assert_array_equal(data.target, np.arange(12) % 2)


def test_categories_that_are_no_numbers_are_refused(published):
    head = HEAD.replace(b"'col 1' numeric", b"'col 1' {x, y}")
    kinds = {"col 0": "numeric", "col 1": "nominal", "col 2": "numeric", "kind": "target"}
    published(arff=head + b"1,x,3,a\n1,y,3,b\n" * 6, columns=list(kinds.items()))
    with pytest.raises(CorruptFileError, match="no table of numbers with classes"):
        load("tiny")


@pytest.mark.parametrize(
    ("labels", "codes"),
    [
        (["10", "9", "1"], [2, 1, 0]),
        (["b", "a", "c"], [1, 0, 2]),
        (["-1", "1", "-1"], [0, 1, 0]),
        (["1.0", "2.0", "1.0"], [0, 1, 0]),
        ([2.0, 10.0, 1.0], [1, 2, 0]),
    ],
)
def test_labels_are_counted_in_the_order_of_numbers_or_of_the_alphabet(labels, codes):
    assert_array_equal(openml._codes(np.array(labels)), codes)


def test_the_cache_keeps_where_a_file_came_from(published):
    published()
    with np.load(fetch("tiny")) as data:
        assert str(data["origin"]) == "OpenML 7"


def test_only_the_web_is_asked_redirects_among_it(server, tmp_path, monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    secret = tmp_path / "secret"
    secret.write_bytes(b"secret")
    page = server.serve("/b", b"page")
    with openml.web_only():
        for elsewhere in (secret.as_uri(), "ftp://127.0.0.1:9/a", "data:,a"):
            with pytest.raises(OSError, match="unknown url type"):
                urlopen(elsewhere)
        with pytest.raises(OSError, match="unknown url type: ftp"):
            urlopen(server.serve("/c", b"", location="ftp://127.0.0.1:9/a"))
        with pytest.raises(OSError, match="not allowed"):
            urlopen(server.serve("/d", b"", location=secret.as_uri()))
        assert urlopen(server.serve("/a", b"", location="/b")).read() == b"page"
    assert urlopen(secret.as_uri()).read() == b"secret"
    assert urlopen(page).read() == b"page"
