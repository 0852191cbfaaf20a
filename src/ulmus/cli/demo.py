"""``ulmus demo``: one table and one picture, offline, in seconds."""

import os
import sys
from pathlib import Path

from ulmus.cli.picture import draw_digits
from ulmus.exceptions import InvalidInputError
from ulmus.experiments.digits import compare, contenders, split

__all__ = ["demo"]


def demo(picture):
    """Compare models on the bundled digits, and draw what the first one sees."""
    folder = Path(picture).absolute().parent
    if not (folder.is_dir() and os.access(folder, os.W_OK)):
        raise InvalidInputError(
            f"The picture cannot be written to {folder}; name a folder that is there and that "
            "you may write to with --picture."
        )
    rows = split()
    models = contenders()
    print("Digits: 1347 images to learn from, 450 to be judged by\n")
    print(f"{'model':<20}{'accuracy':>9}{'seconds':>9}{'MB':>7}")
    for name, accuracy, seconds, megabytes in compare(models, *rows):
        print(f"{name:<20}{accuracy:>9.3f}{seconds:>9.2f}{megabytes:>7.0f}")
    elm = models["ELM"]
    print(
        f"\nThe ELM chose C = {elm.C_:.3g} by leaving out each of its rows once: "
        f"{elm.loo_score_:.1%} of them right.\n"
    )
    draw_digits(elm, rows[1], rows[3], picture)
    print(f"Picture: {picture}", file=sys.stderr)
    return 0
