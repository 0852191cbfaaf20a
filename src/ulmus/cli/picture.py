"""The demonstration's picture."""

import os
from pathlib import Path

import numpy as np

from ulmus.exceptions import MissingExtraError

__all__ = ["draw_digits"]

INK, QUIET, ACCENT = "#1b2a1f", "#8a958c", "#2f7d4f"


def draw_digits(model, X, y, few_model, plane, few, truth, path):
    """The doubtful digits, the curve over C, and the map of all rows; written atomically.

    ``model`` has all labels and is judged on X, y. ``few_model`` knows the labels ``few`` alone,
    and colours the points of ``plane``, whose true labels are ``truth``.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError(
            "Drawing needs matplotlib, which is not installed; try: pip install 'ulmus[plot]'"
        ) from error

    figure = Figure(figsize=(13, 9.6), layout="constrained", facecolor="white")
    top, bottom = figure.subfigures(2, 1, height_ratios=(1, 1.1))
    left, right = top.subfigures(1, 2, width_ratios=(1.25, 1))
    _doubtful(left, model, X, y)
    _curve(right, model)
    _map(bottom, few_model, plane, few, truth)
    _write(figure, Path(path))


def _map(figure, model, plane, few, truth):
    """Every row where the embedding puts it, in the colour of the label it was given."""
    from matplotlib import colormaps

    palette = colormaps["tab10"]
    labels = model.transduction_
    wrong = labels != truth
    axes = figure.subplots()
    for digit in np.unique(truth):
        rows = labels == digit
        axes.scatter(*plane[rows].T, s=9, color=palette(digit), alpha=0.55, linewidths=0)
        spot = np.median(plane[truth == digit], axis=0)
        axes.annotate(
            str(digit), spot, fontsize=15, weight="bold", color=INK, ha="center", va="center"
        )
    axes.scatter(*plane[wrong].T, s=22, marker="x", color=INK, linewidths=0.9, label="wrong")
    known = few >= 0
    axes.scatter(
        *plane[known].T, s=46, facecolors="none", edgecolors=INK, linewidths=1.1, label="labelled"
    )
    right = np.mean(~wrong[~known])
    axes.set_title(
        f"All {len(truth)} digits, mapped without labels; colours from {known.sum()} labels "
        f"({right:.1%} of the others are right)",
        fontsize=11,
        color=INK,
    )
    axes.legend(frameon=False, fontsize=9)
    axes.set_xticks([])
    axes.set_yticks([])
    for side in axes.spines.values():
        side.set_visible(False)


def _doubtful(figure, model, X, y):
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
        correct = model.classes_[first] == y[row]
        axes.set_title(
            f"{model.classes_[first]} {P[row, first]:.0%} · "
            f"{model.classes_[second]} {P[row, second]:.0%}",
            fontsize=9,
            color=ACCENT if correct else "#b3402a",
        )
        axes.set_xticks([])
        axes.set_yticks([])
        for side in axes.spines.values():
            side.set_color(ACCENT if correct else "#b3402a")


def _curve(figure, model):
    """Error on left-out rows for every C, all from one eigendecomposition."""
    axes = figure.subplots()
    path = model.loo_path_
    axes.semilogx(path["C"], 100 * path["error_rate"], color=INK, marker="o", markersize=4)
    best = np.flatnonzero(path["C"] == model.C_)[0]
    axes.plot(model.C_, 100 * path["error_rate"][best], "o", markersize=11, color=ACCENT)
    axes.annotate(
        f"chosen: C = {model.C_:.3g}\n{path['error_rate'][best]:.1%} wrong",
        (model.C_, 100 * path["error_rate"][best]),
        xytext=(18, 40),
        textcoords="offset points",
        ha="left",
        color=ACCENT,
    )
    axes.set_title("Every C tried, each row left out once, one solve", fontsize=11, color=INK)
    axes.set_xlabel("C", color=INK)
    axes.set_ylabel("left-out rows wrong (%)", color=INK)
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.2)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.tick_params(colors=QUIET)


def _write(figure, path):
    """Save under another name first: a picture that is there is a picture that is whole."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        figure.savefig(draft, dpi=140, format=path.suffix.lstrip(".") or "png")
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
