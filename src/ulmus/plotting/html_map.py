"""A map of rows as one HTML file, which needs no network: hover over a row to see it.

What comes from the data goes into the page as JSON alone, and is written by scripts as text, so
that no cell can become a part of the page.
"""

import base64
import html
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ulmus.exceptions import InvalidInputError
from ulmus.plotting.canvas import COLOURS, MUTED

Words = Sequence[str | None]

_PAGE = Path(__file__).with_name("map.html")
# Places are whole numbers up to this one, finer than any screen.
_FINE = 20_000
# Columns that are shown of a row, characters of a cell, and words that have colours.
MOST_CELLS, _LONGEST, _MOST_WORDS = 30, 200, 60
# Bytes of pixels in a page; images of more rows are made smaller.
_PIXELS = 16_000_000


def html_map(
    points: np.ndarray,
    *,
    cells: Mapping[str, Words] | None = None,
    colours: Mapping[str, Words] | None = None,
    images: np.ndarray | None = None,
    title: str = "Map of rows",
) -> str:
    """The page of rows at these points, with what is shown of each row and may colour it.

    ``images`` has the shape (rows, height, width) or, for colour, (rows, height, width, 3).
    """
    given = [*(cells or {}).values(), *(colours or {}).values(), images]
    if any(part is not None and len(part) != len(points) for part in given):
        raise InvalidInputError(
            f"There are {len(points)} points, and another number of cells, labels or images; "
            "give one for each point."
        )
    shown = list((cells or {}).items())[:MOST_CELLS]
    data = {
        "title": title,
        "points": _whole(np.asarray(points, dtype=float)),
        "cells": [{"name": str(name), "words": _short(words)} for name, words in shown],
        "colours": [_coded(str(name), words) for name, words in (colours or {}).items()],
        "images": None if images is None else _packed(np.asarray(images)),
        "palette": list(COLOURS),
        "muted": MUTED,
    }
    head, _, rest = _PAGE.read_text(encoding="utf-8").partition("{{data}}")
    return head.replace("{{title}}", html.escape(title)) + _harmless_json(data) + rest


def words_of(cells: np.ndarray, known: np.ndarray) -> list[str | None]:
    """Cells as text, None where they are not known."""
    texts = (f"{cell:.6g}" if isinstance(cell, float) else str(cell) for cell in cells.tolist())
    return [text if there else None for text, there in zip(texts, known, strict=True)]


def _harmless_json(data: object) -> str:
    """JSON without a character that HTML knows, so that no cell ends its element."""
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _whole(points: np.ndarray) -> list[list[int]]:
    """Both coordinates from 0 up, on one scale."""
    points = points - points.min(axis=0)
    return np.rint(points * (_FINE / max(float(points.max()), 1e-300))).astype(int).T.tolist()


def _short(words: Words) -> list[str | None]:
    return [None if word is None else str(word)[:_LONGEST] for word in words]


def _coded(name: str, words: Words) -> dict[str, Any]:
    """A column as the place of each word in the legend; rare words past sixty are one."""
    texts = _short(words)
    known, counts = np.unique([text for text in texts if text is not None], return_counts=True)
    names = [str(word) for word in known]
    if len(names) > _MOST_WORDS:
        common = np.sort(np.argsort(-counts, kind="stable")[: _MOST_WORDS - 1])
        names = [*(str(word) for word in known[common]), f"{len(known) - len(common)} others"]
    place = {word: k for k, word in enumerate(names)}
    codes = [-1 if text is None else place.get(text, len(names) - 1) for text in texts]
    return {"name": name, "names": names, "codes": codes}


def _packed(images: np.ndarray) -> dict[str, Any]:
    """Pixels as bytes, every second or third where they would make the page too large."""
    if images.ndim not in (3, 4) or (images.ndim == 4 and images.shape[3] != 3):
        raise InvalidInputError(
            f"images has shape {images.shape}; it must be (rows, height, width), or "
            "(rows, height, width, 3) for colour."
        )
    step = 1
    while images[:, ::step, ::step].size > _PIXELS and step < max(images.shape[1:3]):
        step += 1
    images = images[:, ::step, ::step].astype(float)
    least, most = float(images.min()), float(images.max())
    pixels = np.rint((images - least) * (255.0 / max(most - least, 1e-300))).astype(np.uint8)
    size = {"height": images.shape[1], "width": images.shape[2]}
    packed = base64.b64encode(pixels.tobytes()).decode("ascii")
    return {**size, "channels": 3 if images.ndim == 4 else 1, "pixels": packed}
