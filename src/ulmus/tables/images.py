"""A folder of images as a matrix, a row for each."""

from collections import Counter
from pathlib import Path

import numpy as np

from ulmus.backends.images import image_pixels, image_shape
from ulmus.exceptions import TableError
from ulmus.tables.table import Table

__all__ = ["read_images"]

_SUFFIXES = {
    ".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".pgm", ".ppm", ".pbm",
}  # fmt: skip
# More pixels than these in a common size would be more than random features can use.
_LARGEST = 64


def read_images(folder: Path, *, shape: tuple[int, ...] | None = None) -> Table:
    """A table of the images of a folder; the names of its subfolders are the target.

    Parameters
    ----------
    folder : Path
        Images, or subfolders of images, one for each class.
    shape : tuple of int, default=None
        Height, width and, for colour, 3, that all are brought to; None is the size most of them
        have, made smaller, in proportion, until neither side is above 64.
    """
    files = _images(folder)
    classes = [path.parent.relative_to(folder).as_posix() for path in files]
    shapes = Counter(map(image_shape, files))
    notes: tuple[str, ...] = ()
    if shape is None:
        shape, notes = _common(shapes)
    X = np.stack([image_pixels(path, shape).ravel() for path in files])
    target = np.array(classes, dtype=object) if set(classes) != {"."} else None
    names = tuple(f"x{j}" for j in range(X.shape[1]))
    return Table(names, matrix=X, target=target, notes=notes, image_shape=shape)


def _images(folder: Path) -> list[Path]:
    files = sorted(
        path
        for path in folder.rglob("*")
        if path.suffix.lower() in _SUFFIXES and path.is_file() and not path.name.startswith(".")
    )
    if not files:
        raise TableError(
            f"{folder} is a folder without images (.png, .jpg, …); name a file, or a folder with a "
            "subfolder of images for each class."
        )
    return files


def _common(shapes: Counter[tuple[int, ...]]) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """One shape for all, and what was decided."""
    sizes: Counter[tuple[int, ...]] = Counter()
    for shape, count in shapes.items():
        sizes[shape[:2]] += count
    height, width = max(sizes, key=lambda size: (sizes[size], size))
    shrink = min(1.0, _LARGEST / max(height, width))
    colour = any(len(shape) == 3 for shape in shapes)
    common = (max(1, round(height * shrink)), max(1, round(width * shrink)), *((3,) * colour))
    notes = []
    if len(sizes) > 1 or shrink < 1:
        what = f"{len(sizes)} sizes" if len(sizes) > 1 else f"{height} × {width} pixels"
        notes.append(f"Images of {what} were resized to {common[0]} × {common[1]}.")
    if len({len(shape) for shape in shapes}) > 1:
        notes.append("Some images are grey and some in colour; all were read in colour.")
    return common, tuple(notes)
