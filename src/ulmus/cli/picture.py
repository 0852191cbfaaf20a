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


def _map(figure: Any, model: Any, plane: np.ndarray, few: np.ndarray, truth: np.ndarray) -> None:
    """Every row where the embedding puts it, in the colour of the label it was given."""
    labels = model.transduction_
    wrong, known = labels != truth, few >= 0
    axes = figure.subplots()
    EmbeddingDisplay.from_predictions(plane, labels, proba=model.label_distributions_, ax=axes)
    for digit in np.unique(truth):
        spot = np.median(plane[truth == digit], axis=0)
        axes.annotate(
            str(digit),
            spot,
            fontsize=15,
            weight="bold",
            color=INK,
            ha="center",
            va="center",
            bbox={"boxstyle": "circle,pad=0.1", "facecolor": "white", "alpha": 0.7, "linewidth": 0},
        )
    marks = [
        axes.scatter(*plane[wrong].T, s=22, marker="x", color=INK, linewidths=0.9, label="wrong"),
        axes.scatter(
            *plane[known].T, s=46, facecolors="none", edgecolors=INK, linewidths=1, label="labelled"
        ),
    ]
    right = np.mean(~wrong[~known])
    axes.set_title(
        f"All {len(truth)} digits, mapped without labels; colours from {known.sum()} labels "
        f"({right:.1%} of the others are right)",
        fontsize=11,
        color=INK,
    )
    # The digits are named where they are, so that only the marks need a legend.
    axes.legend(handles=marks, frameon=False, fontsize=9)
    axes.set(xlabel="", ylabel="")
    for side in axes.spines.values():
        side.set_visible(False)


def _doubtful(figure: Any, model: Any, X: np.ndarray, y: np.ndarray) -> None:
    """The fifteen digits with the least margin, each with the two classes it hovers between."""
    P = model.predict_proba(X)
    order = np.argsort(P.max(axis=1))[:15]
    right = np.mean(model.predict(X) == y)
    figure.suptitle(
        f"The {len(order)} digits the ELM is least sure of ({right:.1%} of all are right)",
        fontsize=11,
        color=INK,
    )
    for axes, row in zip(figure.subplots(3, 5).flat, order, strict=True):
        axes.imshow(X[row].reshape(8, 8), cmap="Greys", interpolation="nearest")
        first, second = np.argsort(P[row])[::-1][:2]
        colour = ACCENT if model.classes_[first] == y[row] else WRONG
        axes.set_title(
            f"{model.classes_[first]} {P[row, first]:.0%} · "
            f"{model.classes_[second]} {P[row, second]:.0%}",
            fontsize=9,
            color=colour,
        )
        axes.set(xticks=[], yticks=[])
        for side in axes.spines.values():
            side.set_color(colour)


def _curve(figure: Any, model: Any) -> None:
    """Error on left-out rows for every C, all from one eigendecomposition."""
    axes = LOOPathDisplay.from_estimator(model, ax=figure.subplots(), color=ACCENT).ax_
    axes.set_title("Every C tried, each row left out once, one solve", fontsize=11, color=INK)
    axes.grid(alpha=0.2)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
