"""Pictures that commands draw, each written whole or not at all."""

from pathlib import Path
from typing import Any

import numpy as np

from ulmus.exceptions import MissingExtraError
from ulmus.files import replacing
from ulmus.plotting import EmbeddingDisplay, LOOPathDisplay

__all__ = ["draw_digits", "draw_map"]

INK, ACCENT, WRONG = "#1b2a1f", "#2f7d4f", "#b3402a"


def draw_map(places: np.ndarray, colour: np.ndarray | None, name: str | None, path: str) -> None:
    """Rows at their places, in the colours of a column of this name."""
    figure = _figure(9, 7)
    display = EmbeddingDisplay.from_predictions(places, colour, ax=figure.subplots())
    if display.legend_ is not None and name:
        display.legend_.set_title(name)
    _write(figure, path, dpi=150)


def draw_digits(
    model: Any,
    X: np.ndarray,
    y: np.ndarray,
    few_model: Any,
    plane: np.ndarray,
    few: np.ndarray,
    truth: np.ndarray,
    path: str,
) -> None:
    """The doubtful digits, the curve over C, and the map of all rows.

    ``model`` has all labels and is judged on X, y. ``few_model`` knows the labels ``few`` alone,
    and colours the points of ``plane``, whose true labels are ``truth``.
    """
    figure = _figure(13, 9.6)
    top, bottom = figure.subfigures(2, 1, height_ratios=(1, 1.1))
    left, right = top.subfigures(1, 2, width_ratios=(1.25, 1))
    _doubtful(left, model, X, y)
    _curve(right, model)
    _map(bottom, few_model, plane, few, truth)
    _write(figure, path, dpi=140)


def _figure(width: float, height: float) -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError(
            "Drawing needs matplotlib, which is not installed; try: pip install 'ulmus[plot]'"
        ) from error
    return Figure(figsize=(width, height), layout="constrained", facecolor="white")


def _write(figure: Any, path: str, dpi: int) -> None:
    with replacing(path) as stream:
        figure.savefig(stream, dpi=dpi, format=Path(path).suffix.lstrip(".").lower() or "png")


def _doubtful(figure: Any, model: Any, X: np.ndarray, y: np.ndarray) -> None:
    """The fifteen digits with the least probability, each with its two likeliest classes."""
    P, right = model.predict_proba(X), np.mean(model.predict(X) == y)
    order = np.argsort(P.max(axis=1))[:15]
    title = f"The {len(order)} digits the ELM is least sure of ({right:.1%} of all are right)"
    figure.suptitle(title, fontsize=11, color=INK)
    for axes, row in zip(figure.subplots(3, 5).flat, order, strict=True):
        axes.imshow(X[row].reshape(8, 8), cmap="Greys", interpolation="nearest")
        best = np.argsort(P[row])[::-1][:2]
        colour = ACCENT if model.classes_[best[0]] == y[row] else WRONG
        title = " · ".join(f"{model.classes_[k]} {P[row, k]:.0%}" for k in best)
        axes.set_title(title, fontsize=9, color=colour)
        axes.set(xticks=[], yticks=[])


def _curve(figure: Any, model: Any) -> None:
    """Error on left-out rows for every C, all from one eigendecomposition."""
    axes = LOOPathDisplay.from_estimator(model, ax=figure.subplots(), color=ACCENT).ax_
    axes.set_title("Every C tried, each row left out once, one solve", fontsize=11, color=INK)


def _map(figure: Any, model: Any, plane: np.ndarray, few: np.ndarray, truth: np.ndarray) -> None:
    """Every row where the embedding puts it, in the colour of the label that it was given."""
    labels, known = model.transduction_, few >= 0
    wrong = labels != truth
    display = EmbeddingDisplay.from_predictions(
        plane, labels, proba=model.label_distributions_, ax=figure.subplots()
    )
    display.ax_.scatter(*plane[wrong].T, s=22, marker="x", color=INK, linewidths=0.9)
    title = (
        f"All {len(truth)} digits, mapped without labels; colours from {known.sum()} labels "
        f"({np.mean(~wrong[~known]):.1%} of the others are right, a cross marks the wrong ones)"
    )
    display.ax_.set_title(title, fontsize=11, color=INK)
