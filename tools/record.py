"""``python -m tools.record``: a recording of the labelling page, made from the real one.

The digits of scikit-learn are labelled by suggestion, one after the other, in headless Chromium;
the screenshots become docs/_static/labelling.webp.
"""

import io
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image
from sklearn.datasets import load_digits

from tools.environments import ROOT, say
from tools.labelling import LabelPage, browser, labelling
from ulmus.files import replacing

TARGET = ROOT / "docs" / "_static" / "labelling.webp"
LABELS = 40
SIZE = {"width": 1100, "height": 680}
# Milliseconds of the first frames, of one label, and of the last frame.
SLOW, QUICK, LAST = 900, 280, 4000
MOST_BYTES = 3_000_000


def main() -> None:
    """Label, write the frames, say how large they are and how right the page was."""
    X, y = load_digits(return_X_y=True)
    frames: list[tuple[Image.Image, int]] = []
    with tempfile.TemporaryDirectory() as folder, browser() as chromium:
        path = Path(folder) / "digits.npz"
        np.savez(path, X=X)
        with labelling(path, "--image-shape", "8x8", "--quiet") as running:
            page = LabelPage.opened(chromium.new_context(viewport=SIZE), running.url)
            right = _labelled(page, y, frames)
    images, times = zip(*frames, strict=True)
    with replacing(TARGET) as stream:
        images[0].save(
            stream, "webp", save_all=True, append_images=images[1:],
            duration=[*times[:-1], LAST], loop=0, quality=55, method=4,
        )  # fmt: skip
    size = TARGET.stat().st_size
    say(f"{TARGET.name}: {len(images)} frames, {size / 1e6:.2f} MB; {right:.1%} of rows are right.")
    if size > MOST_BYTES:
        raise SystemExit(f"The recording is larger than {MOST_BYTES:,} bytes.")


def _labelled(page: LabelPage, y: np.ndarray, frames: list[tuple[Image.Image, int]]) -> float:
    """Label rows as they are suggested; the share of all rows that is right then."""

    def shoot(time: int) -> None:
        shot = page.page.screenshot(type="png")
        frames.append((Image.open(io.BytesIO(shot)).convert("RGB"), time))

    shoot(SLOW)
    for k in range(10):
        page.add_class(f"digit {k}")
        if k in (0, 1, 9):
            shoot(SLOW)
    for count in range(LABELS):
        page.page.keyboard.press("n")
        (row,) = page.selected
        page.page.locator("#row img").wait_for()
        if count < 4:
            shoot(SLOW)
        page.settled(page.give(int(y[row])))
        shoot(SLOW if count < 4 else QUICK)
    return float(np.mean(np.array(page.codes) == y))


if __name__ == "__main__":
    main()
