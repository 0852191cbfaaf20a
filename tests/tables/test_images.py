"""Folders of images."""

import sys

import numpy as np
import pytest
from PIL import Image

from ulmus.exceptions import InvalidParameterError, MissingExtraError, TableError
from ulmus.tables import Table, TableEncoder, read_table


def save(path, pixels):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.asarray(pixels)).save(path)


def grey(height=4, width=3, value=0):
    return np.full((height, width), value, dtype=np.uint8)


def test_subfolders_are_classes_and_pixels_go_from_0_to_1(tmp_path):
    save(tmp_path / "cats" / "b.png", grey(value=255))
    save(tmp_path / "dogs" / "deep" / "a.bmp", grey(value=51))
    save(tmp_path / "cats" / "A.PNG", grey())
    (tmp_path / "cats" / "notes.txt").write_text("no image")
    table = read_table(tmp_path)
    assert table.files == ("cats/A.PNG", "cats/b.png", "dogs/deep/a.bmp")
    assert table.target.tolist() == ["cats", "cats", "dogs"]
    assert table.matrix.shape == (3, 12)
    assert table.matrix.dtype == np.float32
    np.testing.assert_allclose(table.matrix[:, 0], [0, 1, 0.2])
    assert table.image_shape == (4, 3)
    assert table.notes == ()
    assert table.rows([2]).files == ("dogs/deep/a.bmp",)


def test_images_beside_subfolders_have_no_label(tmp_path):
    save(tmp_path / "a.png", grey())
    assert read_table(tmp_path).target is None
    save(tmp_path / "cats" / "b.png", grey())
    assert read_table(tmp_path).target.tolist() == [None, "cats"]


def test_images_of_several_sizes_become_the_commonest(tmp_path):
    for name, shape in {"a": (4, 4), "b": (4, 4), "c": (8, 2)}.items():
        save(tmp_path / f"{name}.png", grey(*shape, value=255))
    table = read_table(tmp_path)
    assert table.image_shape == (4, 4)
    assert (table.matrix == 1).all()
    assert "2 sizes were resized to 4 × 4" in table.notes[0]


def test_large_images_are_shrunk_in_proportion(tmp_path):
    save(tmp_path / "a.png", grey(256, 128))
    table = read_table(tmp_path)
    assert table.image_shape == (64, 32)
    assert "256 × 128 pixels were resized to 64 × 32" in table.notes[0]


def test_one_image_in_colour_makes_all_so(tmp_path):
    save(tmp_path / "a.png", grey(value=255))
    red = np.zeros((4, 3, 3), dtype=np.uint8)
    red[..., 0] = 255
    save(tmp_path / "b.png", red)
    table = read_table(tmp_path)
    assert table.image_shape == (4, 3, 3)
    assert table.matrix[:, :3].tolist() == [[1, 1, 1], [1, 0, 0]]
    assert "in colour" in table.notes[0]


def test_sixteen_bits_and_two_colours_are_grey(tmp_path):
    save(tmp_path / "a.png", np.full((2, 2), 65535, dtype=np.uint16))
    save(tmp_path / "b.png", np.array([[True, False], [False, True]]))
    table = read_table(tmp_path)
    assert table.image_shape == (2, 2)
    assert table.matrix.tolist() == [[1, 1, 1, 1], [1, 0, 0, 1]]


def test_later_images_are_brought_to_the_shape_of_the_first(tmp_path):
    save(tmp_path / "first" / "a.png", grey(4, 4))
    save(tmp_path / "later" / "b.png", grey(8, 8))
    made = TableEncoder().fit(read_table(tmp_path / "first"))
    with pytest.raises(TableError, match=r"read them with image_shape=\(4, 4\)"):
        made.transform(read_table(tmp_path / "later"))
    later = read_table(tmp_path / "later", image_shape=made.image_shape)
    assert made.transform(later).shape == (1, 16)
    with pytest.raises(TableError, match="not both of images"):
        made.transform(Table(later.names, matrix=later.matrix))
    with pytest.raises(InvalidParameterError, match="image_shape"):
        read_table(tmp_path / "later", image_shape=(4, 4, 2))


def test_a_folder_without_images_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("no image")
    with pytest.raises(TableError, match="a folder without images"):
        read_table(tmp_path)


def test_damaged_images_are_named(tmp_path):
    noise = np.random.default_rng(0).integers(0, 255, (32, 32), dtype=np.uint8)
    save(tmp_path / "a.png", noise)
    whole = (tmp_path / "a.png").read_bytes()
    for data in (b"", b"no image", whole[:100], whole[:60] + b"\0" * 60 + whole[120:]):
        (tmp_path / "b.png").write_bytes(data)
        with pytest.raises(TableError, match=r"b\.png is not an image that can be read"):
            read_table(tmp_path)


@pytest.mark.parametrize("limit", [10, 100])
def test_an_image_of_too_many_pixels_is_refused(tmp_path, monkeypatch, limit):
    save(tmp_path / "a.png", grey(10, 15))
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", limit)
    with pytest.raises(TableError, match="decompression bomb"):
        read_table(tmp_path)


def test_without_pillow_the_command_to_install_it_is_told(tmp_path, monkeypatch):
    save(tmp_path / "a.png", grey())
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'ulmus\[cli\]'"):
        read_table(tmp_path)


def test_links_that_lead_out_of_the_folder_are_left_out_and_counted(tmp_path):
    folder = tmp_path / "pictures"
    save(folder / "a.png", grey())
    save(tmp_path / "secret" / "b.png", grey(value=9))
    (folder / "b.png").symlink_to(tmp_path / "secret" / "b.png")
    (folder / "elsewhere").symlink_to(tmp_path / "secret", target_is_directory=True)
    (folder / "again.png").symlink_to(folder / "a.png")
    table = read_table(folder)
    assert table.files == ("a.png", "again.png")
    assert any("outside of" in note for note in table.notes)
    (tmp_path / "link").symlink_to(folder, target_is_directory=True)
    assert read_table(tmp_path / "link").files == table.files, "the folder itself may be a link"
    for name in ("a.png", "again.png"):
        (folder / name).unlink()
    with pytest.raises(TableError, match="without images .* of its own"):
        read_table(folder)
