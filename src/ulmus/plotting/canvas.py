"""Shared parts of all plots: axes, plain arrays, and colours.

The first six colours are those of Okabe and Ito, which colour-blind people can distinguish. Where
colour has a meaning, a marker's shape or a line's width has the same, for print.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ulmus.backends.namespace import extra, is_array_api_obj, to_numpy
from ulmus.distributed import computed
from ulmus.validation import plain as plain_targets

COLOURS = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"),
    *("#8C6D31", "#5B4FC4", "#A8174F", "#8FA600"),
)
# One fewer than there are colours, so that a pair comes again after ninety classes.
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "p", "*")
MUTED = "#8C8C8C"
# The height of a legend's line in points.
_ENTRY = 13


class Display(ABC):
    """A plot on matplotlib's axes.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        The axes and the figure of the plot.
    """

    figure_: Any
    ax_: Any

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw it."""
        if ax is None:
            ax = extra("matplotlib.pyplot", "plot", "A plot").subplots(layout="constrained")[1]
        self.ax_ = ax
        self.figure_ = self.ax_.figure
        self._draw(**kwargs)
        return self

    @abstractmethod
    def _draw(self, **kwargs: Any) -> None:
        """Draw on ``ax_``."""

    @property
    def _ink(self) -> Any:
        """The colour of text on these axes, by their style."""
        return self.ax_.xaxis.label.get_color()

    def _name_curves(self) -> None:
        """A legend where something has a name."""
        if self.ax_.get_legend_handles_labels()[0]:
            self.ax_.legend()

    def _mark(self, x: float, y: float, color: Any, edge: Any = None, **style: Any) -> Any:
        """A diamond at the values in use."""
        style = {"ls": "none", "color": color, "mec": self._ink if edge is None else edge} | style
        return self.ax_.plot([x], [y], marker="D", markersize=9, mew=1.5, **style)[0]


def legend_beside(ax: Any, handles: Sequence[Any], names: Sequence[str], title: Any = None) -> Any:
    """A legend to the right of the axes, in as many columns as their height requires."""
    height = ax.bbox.height * 72 / ax.figure.dpi
    columns = max(1, -(-len(names) * _ENTRY // int(height)))
    place = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0), "borderaxespad": 0.2}
    look = {"fontsize": "small", "labelspacing": 0.2, "frameon": False, "ncols": columns}
    legend = ax.legend(handles, ["name"] * len(names), title=title, **place, **look)
    # Set afterwards: as labels, names that begin with "_" would be left out.
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set_text(name)
        text.set_parse_math(False)  # dollar signs are dollar signs
    return legend


def plain(array: Any) -> np.ndarray:
    """A NumPy array of an array on a device or a Dask collection."""
    (array,) = computed(array)
    return to_numpy(array) if is_array_api_obj(array) else plain_targets(array)


def fitted_step(estimator: Any) -> Any:
    """The estimator, the last of a pipeline; an error where it is not fitted."""
    step = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    check_is_fitted(step)
    return step
