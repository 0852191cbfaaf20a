"""Rows of every kind of file as the page shows them."""

import io

import numpy as np
import pytest
from PIL import Image

from ulmus.app.opened_table import opened_table
from ulmus.exceptions import InvalidInputError
from ulmus.tables import Table, read_table


@pytest.mark.parametrize("shape", [(5, 7), (5, 7, 3)])
def test_a_picture_has_the_rows_pixels(shape):
    pixels = np.random.default_rng(0).integers(0, 256, (2, *shape)).astype(float)
    pixels[1].flat[:2] = 0, 255  # the darkest and the brightest
    rows = pixels.reshape(2, -1)
    names = tuple(f"p{k}" for k in range(rows.shape[1]))
    opened = opened_table(Table(names, matrix=rows), shape=shape)
    seen = np.asarray(Image.open(io.BytesIO(opened.picture(0))))
    np.testing.assert_array_equal(seen, pixels[0].astype(np.uint8))


@pytest.fixture
def folder(tmp_path):
    """Four images, two of them in a folder of their class."""
    rng = np.random.default_rng(0)
    root = tmp_path / "images"
    for name in ("a.png", "b.png", "cat/c.png", "cat/d.png"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(rng.integers(0, 256, (6, 6), dtype=np.uint8)).save(root / name)
    return root


def test_images_have_pictures_names_and_labels(folder):
    opened = opened_table(read_table(folder))
    assert opened.labels.classes == ("cat",)
    assert opened.labels.codes.tolist() == [-1, -1, 0, 0]
    assert opened.name(2) == "cat/c.png"
    shown = np.asarray(Image.open(io.BytesIO(opened.picture(2))))
    np.testing.assert_allclose(shown, np.asarray(Image.open(folder / "cat/c.png")), atol=1)


def test_links_that_lead_out_of_the_folder_are_left_out(folder, tmp_path):
    outside = tmp_path / "secret.png"
    Image.fromarray(np.zeros((6, 6), np.uint8)).save(outside)
    (folder / "link.png").symlink_to(outside)
    (folder / "elsewhere").symlink_to(tmp_path, target_is_directory=True)
    (folder / "inside.png").symlink_to(folder / "a.png")
    opened = opened_table(read_table(folder))
    assert "link.png" not in opened.table.files
    assert not any(file.startswith("elsewhere") for file in opened.table.files)
    assert "inside.png" in opened.table.files
    assert len(opened.X) == len(opened) == 5
    assert any("outside of" in note for note in opened.notes)


def test_cells_are_text(table):
    opened = opened_table(table)
    cells = dict(opened.cells(3))
    assert cells["note"] == "<b>row 3</b>"
    assert float(cells["width"]) == pytest.approx(table["width"][3], rel=1e-5)
    assert opened.name(3) == "4"


def test_a_target_column_gives_labels_and_is_not_learnt_from():
    columns = {"x": np.arange(4.0), "kind": np.array(["a", None, "b", None], dtype=object)}
    opened = opened_table(Table(("x", "kind"), columns), "kind")
    assert opened.labels.codes.tolist() == [0, -1, 1, -1]
    assert opened.table.names == ("x",)
    assert opened.target == "kind"


def test_whole_numbers_are_names_of_classes():
    columns = {"x": np.arange(4.0), "kind": np.array([1.0, np.nan, 10.0, 2.0])}
    opened = opened_table(Table(("x", "kind"), columns), "kind")
    assert set(opened.labels.classes) == {"1", "2", "10"}
    assert opened.labels.codes[1] == -1


def test_the_fingerprint_tells_rows_apart_and_ignores_labels(table):
    first = opened_table(table).fingerprint
    assert opened_table(table).fingerprint == first
    changed = {**table.columns, "width": table["width"] + np.eye(40)[7]}
    assert opened_table(Table(table.names, changed)).fingerprint != first
    labels = {**table.columns, "kind": np.array(["a", "b"] * 20, dtype=object)}
    labelled = Table((*table.names, "kind"), labels)
    assert opened_table(labelled, "kind").fingerprint == first


def test_columns_can_be_pixels():
    matrix = np.arange(24.0).reshape(4, 6)
    opened = opened_table(Table(tuple("abcdef"), matrix=matrix), shape=(2, 3))
    assert Image.open(io.BytesIO(opened.picture(0))).size == (3, 2)
    with pytest.raises(InvalidInputError, match="9 pixels"):
        opened_table(Table(tuple("abcdef"), matrix=matrix), shape=(3, 3))


def test_one_row_is_refused():
    with pytest.raises(InvalidInputError, match="only one row"):
        opened_table(Table(("x",), {"x": np.ones(1)}))
