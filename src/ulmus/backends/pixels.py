"""Image files, opened by Pillow."""

import struct
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ulmus.backends.namespace import extra
from ulmus.exceptions import TableError

# Errors and warnings of Pillow about damaged images.
_DAMAGED = (OSError, ValueError, SyntaxError, EOFError, struct.error, zlib.error, Warning)
_GREY = ("1", "L", "LA", "I", "I;16", "I;16L", "I;16B", "F")


def image_shape(path: Path) -> tuple[int, ...]:
    """Height, width and, for colour, 3, by the file's header."""
    with _opened(path) as image:
        return (image.height, image.width, *((3,) * (image.mode not in _GREY)))


def image_pixels(path: Path, shape: tuple[int, ...]) -> np.ndarray:
    """An image of this shape as float32 from 0 to 1, resized and made grey or colour if need be."""
    with _opened(path) as image:
        if image.mode.startswith("I"):
            # Sixteen bits a pixel, which Pillow would cut off at 255.
            image = image.convert("F").point(lambda value: value / 257)
        image = image.convert("L" if len(shape) == 2 else "RGB")
        size = (shape[1], shape[0])
        image = image if image.size == size else image.resize(size, _pillow().Resampling.BOX)
        return np.asarray(image, dtype=np.float32) / np.float32(255)


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """An open image; errors of Pillow within the block become a TableError."""
    pillow = _pillow()
    try:
        with warnings.catch_warnings():
            # A small file can decompress to any number of pixels.
            warnings.simplefilter("error", pillow.DecompressionBombWarning)
            with pillow.open(path) as image:
                yield image
    except (*_DAMAGED, pillow.DecompressionBombError) as error:
        raise TableError(
            f"{path} is not an image that can be read ({error}); take it out of the folder."
        ) from error


def _pillow() -> Any:
    return extra("PIL.Image", "cli", "Reading images")
