"""``ulmus demo``: three tables and one picture, offline, in seconds."""

import os
import sys
import warnings
from pathlib import Path

import numpy as np

from ulmus.cli.picture import draw_digits
from ulmus.estimators.embedding import ELMEmbedding
from ulmus.exceptions import InvalidInputError
from ulmus.experiments import digits

__all__ = ["demo"]


def demo(picture):
    """Compare models on the bundled digits with all labels, few and none, and draw the map."""
    folder = Path(picture).absolute().parent
    if not (folder.is_dir() and os.access(folder, os.W_OK)):
        raise InvalidInputError(
            f"The picture cannot be written to {folder}; name a folder that is there and that "
            "you may write to with --picture."
        )
    train, test, y_train, y_test = digits.split()
    models = digits.all_labels()
    rows = digits.compare_all(models, train, test, y_train, y_test)
    _table("All labels: 1347 digits to learn from, 450 to be judged by", rows)
    elm = models["ELM"]
    print(
        f"The ELM chose C = {elm.C_:.3g} by leaving out each of its rows once: "
        f"{elm.loo_score_:.1%} of them right.\n"
    )
    X, y = np.vstack([train, test]), np.concatenate([y_train, y_test])
    few = digits.with_few_labels(y)
    models = digits.few_labels()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn's own, about graphs and defaults
        rows = digits.compare_few(models, X, few, y)
        _table("Five labels a class: 1797 digits, judged by the 1747 without one", rows)
        _table(
            "No labels: 1797 digits in ten clusters, named as fits best",
            digits.compare_none(digits.no_labels(), X, y),
        )
    few_elm = models["SS-ELM"][0]
    plane = ELMEmbedding(n_components=2, graph=few_elm.graph, random_state=0).fit_transform(X)
    draw_digits(elm, test, y_test, few_elm, plane, few, y, picture)
    print(f"Picture: {picture}", file=sys.stderr)
    return 0


def _table(title, rows):
    print(f"{title}\n\n{'model':<20}{'accuracy':>9}{'seconds':>9}{'MB':>7}")
    for name, accuracy, seconds, megabytes in rows:
        print(f"{name:<20}{accuracy:>9.3f}{seconds:>9.2f}{megabytes:>7.0f}")
    print()
