"""What every picture shares: axes to draw on, plain arrays, and colours.

The first six colours are those of Okabe and Ito, which colour-blind people can tell apart; where
colours say something, a marker's shape or a line's width says it too, so that print keeps it.
"""

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ulmus.backends.namespace import is_array_api_obj, to_numpy
from ulmus.distributed.blocks import computed
from ulmus.exceptions import MissingExtraError
from ulmus.missing import plain as plain_targets

__all__ = [
    "COLOURS",
    "MARKERS",
    "MUTED",
    "as_written",
    "axes_on",
    "fitted_step",
    "ink",
    "legend_beside",
    "percent",
    "plain",
    "ramp",
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


def axes_on(ax=None):
    """A figure and its axes: those given, or new ones that leave room for what stands beside."""
    try:
        if ax is None:
            from matplotlib.pyplot import subplots

            _, ax = subplots(layout="constrained")
    except ImportError as error:
        raise MissingExtraError(
            "Plots need matplotlib, which is not installed; try: pip install 'ulmus[plot]'"
        ) from error
    return ax.figure, ax


def ink(ax):
    """The colour of words on these axes, dark or light as their style is."""
    return ax.xaxis.label.get_color()


def percent(axis):
    """Write parts on this axis as per cent."""
    from matplotlib.ticker import PercentFormatter

    axis.set_major_formatter(PercentFormatter(1.0))


def ramp(count):
    """So many colours in order, each readable on white and on black."""
    from matplotlib import colormaps

    return colormaps["viridis"](np.linspace(0.2, 0.85, count))


def legend_beside(ax, handles, names, title=None):
    """A legend to the right of the axes, in as many columns as their height asks for."""
    height = ax.bbox.height * 72 / ax.figure.dpi
    columns = max(1, -(-len(names) * _ENTRY // int(height)))
    legend = ax.legend(
        handles,
        ["name"] * len(names),
        title=title,
        loc="upper left",
        bbox_to_anchor=(1.0, 1.0),
        ncols=columns,
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


def as_written(text):
    """Show a name as it is, dollar signs included, which would be mathematics."""
    text.set_parse_math(False)


def plain(array):
    """A NumPy array of what may be on a device or in blocks."""
    (array,) = computed(array)
    return to_numpy(array) if is_array_api_obj(array) else plain_targets(array)


def fitted_step(estimator):
    """The estimator that is meant, the last of a pipeline; an error where it is not fitted."""
    if isinstance(estimator, Pipeline):
        estimator = estimator[-1]
    check_is_fitted(estimator)
    return estimator
