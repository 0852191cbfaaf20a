"""Image files, opened by Pillow."""

from pathlib import Path
from typing import Any

import numpy as np

from ulmus.exceptions import MissingExtraError, TableError

__all__ = ["image_pixels", "image_shape"]

_GREY = ("1", "L", "LA", "I", "I;16", "I;16L", "I;16B", "F")


def image_shape(path: Path) -> tuple[int, ...]:
    """Height, width and, for colour, 3, by the file's header."""
    with _opened(path) as image:
        grey = image.mode in _GREY
        return (image.height, image.width) if grey else (image.height, image.width, 3)


def image_pixels(path: Path, shape: tuple[int, ...]) -> np.ndarray:
    """An image of this shape as float32 from 0 to 1, resized and made grey or colour if need be."""
    with _opened(path) as image:
        try:
            deep = image.mode.startswith("I")
            if deep:
                # Sixteen bits a pixel, which Pillow would cut off at 255.
                image = image.convert("F").point(lambda value: value / 257)
            image = image.convert("L" if len(shape) == 2 else "RGB")
            size = (shape[1], shape[0])
            image = image if image.size == size else image.resize(size, _pillow().Resampling.BOX)
            return np.asarray(image, dtype=np.float32) / np.float32(255)
        except (OSError, ValueError, SyntaxError, EOFError) as error:
            raise TableError(_damaged(path, error)) from error


def _opened(path: Path) -> Any:
    pillow = _pillow()
    try:
        return pillow.open(path)
    except (OSError, ValueError, SyntaxError, pillow.DecompressionBombError) as error:
        raise TableError(_damaged(path, error)) from error


def _damaged(path: Path, error: Exception) -> str:
    return f"{path} is no image that can be read ({error}); take it out of the folder."


def _pillow() -> Any:
    try:
        from PIL import Image
    except ImportError as error:
        raise MissingExtraError(
            "Images are read by Pillow, which is not installed; try: pip install 'ulmus[cli]'"
        ) from error
    return Image
