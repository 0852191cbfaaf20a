"""A folder of images as a matrix, a row for each."""

from collections import Counter
from pathlib import Path

import numpy as np

from ulmus.backends.pixels import image_pixels, image_shape
from ulmus.exceptions import InvalidParameterError, TableError
from ulmus.tables.table import Table

__all__ = ["read_images"]

_SUFFIXES = {
    ".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".pgm", ".ppm", ".pbm",
}  # fmt: skip
# A side of more pixels is shrunk: random features cannot use finer detail.
_LARGEST = 64


def read_images(folder: Path, *, shape: tuple[int, ...] | None = None) -> Table:
    """A table of the images of a folder; the names of its subfolders are the target.

    ``shape`` is the height, width and, for colour, 3, that all are resized to; None is the size
    most of them have, made smaller, in proportion, until neither side is above 64.
    """
    files = _images(folder)
    places = [path.relative_to(folder) for path in files]
    # An image beside the subfolders has no label.
    labels = [place.parts[0] if len(place.parts) > 1 else None for place in places]
    shapes = Counter(map(image_shape, files))
    notes: tuple[str, ...] = ()
    if shape is None:
        shape, notes = _common(shapes)
    elif len(shape) not in (2, 3) or min(shape) < 1 or (len(shape) == 3 and shape[2] != 3):
        raise InvalidParameterError(
            f"image_shape={shape!r} must be (height, width), or (height, width, 3) for colour."
        )
    X = np.stack([image_pixels(path, shape).ravel() for path in files])
    return Table(
        tuple(f"x{j}" for j in range(X.shape[1])),
        matrix=X,
        target=np.array(labels, dtype=object) if any(labels) else None,
        notes=notes,
        image_shape=shape,
        files=tuple(place.as_posix() for place in places),
    )


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
