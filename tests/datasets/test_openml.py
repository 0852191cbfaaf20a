"""OpenML's files become data sets only if they are the ones that were meant."""

import io

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ulmus.datasets import fetch, load, openml
from ulmus.datasets.arff import read_arff
from ulmus.exceptions import CorruptFileError, MissingDatasetError


def test_a_data_set_comes_from_openml_and_then_from_the_cache(server, tiny, published):
    published()
    first = load("tiny")
    with np.load(io.BytesIO(tiny)) as data:
        assert_array_equal(first.data, data["X"])
        assert_array_equal(first.target, data["y"])
    assert first.data.dtype == np.float32
    assert first.source == "network"
    assert first.feature_names.tolist() == ["col 0", "col 1", "col 2"]
    asked = len(server.asked)
    second = load("tiny")
    assert second.source == "cache"
    assert_array_equal(second.data, first.data)
    assert len(server.asked) == asked
    assert str(fetch("tiny")) == second.filename


def test_the_split_is_given_only_where_the_rows_are_in_their_published_order(published):
    published(facts={"labels": openml._hash(np.arange(12) % 2)})
    data = load("tiny")
    assert_array_equal(data.train, np.arange(8))
    assert_array_equal(data.test, np.arange(8, 12))


def test_no_split_where_the_order_is_another(published):
    published(facts={"labels": openml._hash(np.arange(12) // 6)})
    assert "train" not in load("tiny")


def test_a_broken_transfer_is_completed(server, published):
    body = published(cut=[100, 50])
    load("tiny")
    assert [w for p, w in server.asked if p.startswith("/files")] == [
        None, "bytes=100-", "bytes=150-",
    ]  # fmt: skip
    assert len(body) > 150


@pytest.mark.parametrize(
    ("description", "facts", "complaint"),
    [
        ({"name": "huge"}, {}, "describes 'huge' and not 'tiny'"),
        ({"format": "Sparse_ARFF"}, {}, "dense table"),
        ({"default_target_attribute": None}, {}, "dense table"),
        ({"default_target_attribute": "price"}, {}, "no column 'price'"),
        ({"md5_checksum": "0" * 32}, {}, "its md5 is"),
        ({"url": "http://elsewhere.example/tiny.arff"}, {}, "another site"),
        ({}, {"shape": (12, 4)}, "3 columns and not 4"),
        ({}, {"shape": (12, 2)}, "more than|3 columns and not 2"),
        ({}, {"shape": (11, 3)}, "more than 11 rows"),
        ({}, {"shape": (13, 3)}, "12 rows and not 13"),
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
    assert list((tmp_path / "cache").iterdir()) == []


@pytest.mark.parametrize("text", [b"", b"<html>", b"[]", b"{}", b'{"data_set_description": {}}'])
def test_a_description_that_describes_nothing(server, published, text):
    published()
    server.serve("/api/7", text)
    with pytest.raises(CorruptFileError, match="does not describe a data set"):
        load("tiny")


def test_a_server_error_says_what_helps(server, published):
    published()
    del server.files["/api/7"]
    with pytest.raises(MissingDatasetError) as caught:
        load("tiny")
    for words in ("answers 404", "tiny.npz", "ULMUS_DATA", "`ulmus data fetch tiny`"):
        assert words in str(caught.value)


def test_columns_that_openml_ignores_are_left_out(published, tiny):
    rows = b"".join(b"%d,%d,%d,'1',%d.5\n" % (k, 2 * k, k % 2 + 3, k) for k in range(12))
    head = b'@relation r\n@attribute id numeric\n@attribute "b c" real\n@attribute y {3, 4}\n'
    head += b"@attribute a {'0', '1'}\n@attribute d numeric\n@data\n"
    published(
        description={
            "row_id_attribute": "id",
            "ignore_attribute": ["d"],
            "default_target_attribute": "y",
        },
        arff=head + rows,
        facts={"shape": (12, 2), "n_train": 0},
    )
    data = load("tiny")
    assert data.feature_names.tolist() == ["b c", "a"]
    assert_array_equal(data.data, np.column_stack([2 * np.arange(12), np.ones(12)]))
    assert_array_equal(data.target, np.arange(12) % 2)


@pytest.mark.parametrize(
    ("labels", "codes"),
    [
        (["10", "9", "1"], [2, 1, 0]),
        (["b", "a", "c"], [1, 0, 2]),
        (["-1", "1", "-1"], [0, 1, 0]),
        (["1.0", "2.0", "1.0"], [0, 1, 0]),
    ],
)
def test_labels_are_counted_in_the_order_of_numbers_or_of_the_alphabet(labels, codes):
    assert_array_equal(openml._codes(np.array(labels)), codes)


@pytest.mark.parametrize(
    ("url", "safe"),
    [
        ("https://api.openml.org/f/1", "https://api.openml.org/f/1"),
        ("http://www.openml.org/f/1", "https://www.openml.org/f/1"),
        ("https://openml.org/f/1", "https://openml.org/f/1"),
        ("https://notopenml.org/f/1", None),
        ("https://openml.org.example/f", None),
        ("file:///etc/passwd", None),
    ],
)
def test_files_come_from_the_site_that_describes_them(url, safe):
    address = openml.ADDRESS.format(1)
    if safe:
        assert openml._safe(url, address) == safe
    else:
        with pytest.raises(CorruptFileError, match="another site"):
            openml._safe(url, address)


HEAD = "@relation r\n@attribute a numeric\n@attribute y {0,1}\n@data\n"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "no data"),
        ("@relation r\n@data\n", "no column 'y'"),
        ("@relation r\n@attribute a\n@data\n1\n", "without a plain name"),
        (f"@relation r\n@attribute {'a' * 101} real\n@data\n", "without a plain name"),
        ("@attribute a real\n" * 50 + "@data\n", "more than 2 columns"),
        (HEAD + "1,0\n2,1,1\n", "3 fields and not 2"),
        (HEAD + "1,0\n2\n", "1 fields and not 2"),
        (HEAD + "1,0\n?,1\n", "could not convert"),
        (HEAD + "1,0\nx,1\n", "could not convert"),
        (HEAD + "{0 1, 1 1}\n", "sparse"),
        (HEAD + "1,0\n", "1 rows and not 2"),
        (HEAD + "1,0\n" * 3, "more than 2 rows"),
    ],
)
def test_tables_that_cannot_be_read(tmp_path, text, complaint):
    path = tmp_path / "a.arff"
    path.write_text(text)
    with pytest.raises(CorruptFileError, match=complaint):
        read_arff(path, "y", frozenset(), (2, 1))


def test_bytes_that_are_no_text(tmp_path):
    path = tmp_path / "a.arff"
    path.write_bytes(HEAD.encode() + b"\xff\xfe,0\n")
    with pytest.raises(CorruptFileError, match="no table"):
        read_arff(path, "y", frozenset(), (2, 1))


def test_a_long_table_is_read_in_blocks(tmp_path):
    n = 20_001
    path = tmp_path / "a.arff"
    path.write_text(HEAD + "".join(f"{k / 8}, {k % 2}\n" for k in range(n)))
    X, labels, names = read_arff(path, "y", frozenset(), (n, 1))
    assert_allclose(X[:, 0], np.arange(n) / 8)
    assert_array_equal(labels.astype(int), np.arange(n) % 2)
    assert names == ["a"]


def test_the_cache_keeps_where_a_file_came_from(published):
    published()
    with np.load(fetch("tiny")) as data:
        assert str(data["origin"]) == "OpenML 7"
