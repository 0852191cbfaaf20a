"""What every picture shares: axes to draw on, plain arrays, and colours.

The first six colours are those of Okabe and Ito, which colour-blind people can tell apart; where
colours say something, a marker's shape or a line's width says it too, so that print keeps it.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ulmus.backends.namespace import is_array_api_obj, to_numpy
from ulmus.distributed.blocks import computed
from ulmus.exceptions import MissingExtraError
from ulmus.validation import plain as plain_targets

__all__ = [
    "COLOURS",
    "MARKERS",
    "MUTED",
    "Display",
    "as_written",
    "fitted_step",
    "legend_beside",
    "legend_inside",
    "mark",
    "percent",
    "plain",
]

COLOURS = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"),
    *("#8C6D31", "#5B4FC4", "#A8174F", "#8FA600"),
)
# One fewer than there are colours, so that the pairs come round late.
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "p", "*")
MUTED = "#8C8C8C"
# The height of a legend's line in points.
_ENTRY = 13


class Display(ABC):
    """What can be drawn on matplotlib's axes."""

    figure_: Any
    ax_: Any

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a figure.
        **kwargs : dict
            For the function of matplotlib that draws it, which the class names.

        Returns
        -------
        display : Display
            This display.
        """
        try:
            if ax is None:
                from matplotlib.pyplot import subplots

                # It leaves room for what stands beside the axes.
                _, ax = subplots(layout="constrained")
        except ImportError as error:
            raise MissingExtraError(
                "Plots need matplotlib, which is not installed; try: pip install 'ulmus[plot]'"
            ) from error
        self.figure_, self.ax_ = ax.figure, ax
        self._draw(**kwargs)
        return self

    @abstractmethod
    def _draw(self, **kwargs: Any) -> None:
        """Draw on ``ax_``."""

    @property
    def _ink(self) -> Any:
        """The colour of words on these axes, dark or light as their style is."""
        return self.ax_.xaxis.label.get_color()


def mark(ax: Any, x: float, y: float, color: Any, edge: Any, **style: Any) -> Any:
    """A diamond on what is in use."""
    style = {"linestyle": "none", "markeredgecolor": edge, "markeredgewidth": 1.5} | style
    (line,) = ax.plot([x], [y], marker="D", markersize=9, color=color, **style)
    return line


def percent(axis: Any) -> None:
    """Write parts on this axis as per cent."""
    from matplotlib.ticker import PercentFormatter

    axis.set_major_formatter(PercentFormatter(1.0))


def legend_inside(ax: Any) -> None:
    """A legend where something has a name."""
    if ax.get_legend_handles_labels()[0]:
        ax.legend()


def legend_beside(ax: Any, handles: Sequence[Any], names: Sequence[str], title: Any = None) -> Any:
    """A legend to the right of the axes, in as many columns as their height asks for."""
    height = ax.bbox.height * 72 / ax.figure.dpi
    legend = ax.legend(
        handles,
        ["name"] * len(names),
        title=title,
        loc="upper left",
        bbox_to_anchor=(1.0, 1.0),
        ncols=max(1, -(-len(names) * _ENTRY // int(height))),
        fontsize="small",
        labelspacing=0.2,
        borderaxespad=0.2,
        frameon=False,
    )
    # Set afterwards: as labels, names that begin with "_" would be left out.
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set_text(name)
        as_written(text)
    return legend


def as_written(text: Any) -> None:
    """Show a name as it is, dollar signs included, which would be mathematics."""
    text.set_parse_math(False)


def plain(array: Any) -> np.ndarray:
    """A NumPy array of what may be on a device or in blocks."""
    (array,) = computed(array)
    return to_numpy(array) if is_array_api_obj(array) else plain_targets(array)


def fitted_step(estimator: Any) -> Any:
    """The estimator that is meant, the last of a pipeline; an error where it is not fitted."""
    if isinstance(estimator, Pipeline):
        estimator = estimator[-1]
    check_is_fitted(estimator)
    return estimator
