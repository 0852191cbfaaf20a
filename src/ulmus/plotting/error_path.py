"""The error for every C that was tried."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np

from ulmus.arguments import check_known
from ulmus.exceptions import InvalidInputError
from ulmus.plotting.canvas import Display, fitted_step, legend_beside, legend_inside, mark, percent

__all__ = ["WIDE", "LOOPathDisplay", "error_words", "metric_of"]

_PATHS = ("loo_path_", "cv_path_", "validation_path_")
# Squared errors that differ by more than this factor are drawn by their logarithm.
WIDE = 10.0


@dataclass(eq=False, repr=False)
class LOOPathDisplay(Display):
    """The error on rows left out, for every C that was tried.

    `from_estimator` makes one of a fitted model; with the arrays at hand the class can be called
    itself. It is drawn by ``ax.plot``.

    Parameters
    ----------
    values : array-like of shape (n_values,)
        What was tried.
    errors : array-like of shape (n_values,)
        The error of each.
    chosen : int or None, default=None
        Which of them is in use.
    lam : array-like of shape (n_values,) or None, default=None
        λ of each, where pairs were tried; there is a curve for every λ.
    parameter : str, default="C"
        The name of what was tried.
    metric : {"error_rate", "squared_error"}, default="error_rate"
        Which error it is.
    selection : {"loo", "loo-sample", "cv", "validation"}, default="loo"
        What it was measured on, as ``selection_`` of an estimator says.
    estimator_name : str or None, default=None
        The curve's name in the legend.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The curve; of several, the one with the chosen point.
    lines_ : list of matplotlib Line2D
        All curves, by ascending λ.
    chosen_ : matplotlib Line2D or None
        The mark on what is in use.
    ax_, figure_ : matplotlib Axes and Figure
        Where it is drawn.

    See Also
    --------
    SurfaceDisplay : C and λ as a map.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ulmus import ELMClassifier
    >>> from ulmus.plotting import LOOPathDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ELMClassifier(n_hidden=50, random_state=0).fit(X, y)
    >>> display = LOOPathDisplay.from_estimator(model)
    >>> display.ax_.get_xlabel(), display.ax_.get_ylabel()
    ('C', 'left-out rows wrong')
    """

    values: Any
    errors: Any
    _: KW_ONLY
    chosen: int | None = None
    lam: Any = None
    parameter: str = "C"
    metric: str = "error_rate"
    selection: str = "loo"
    estimator_name: str | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        parameter: str = "C",
        metric: str = "auto",
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the errors that a fitted model chose by.

        Parameters
        ----------
        estimator : estimator or Pipeline
            A fitted model with ``loo_path_``, ``cv_path_`` or ``validation_path_``.
        parameter : {"C", "gamma"}, default="C"
            Which choice; "gamma" is the width of a kernel ELM fitted with ``gamma="loo"``.
        metric : {"auto", "error_rate", "squared_error"}, default="auto"
            Which error; "auto" is the error rate where there is one.
        name : str or None, default=None
            The curve's name in the legend.
        ax, **kwargs : matplotlib Axes or None, dict
            As for `plot`, which draws it.
        """
        check_known("parameter", parameter, ("C", "gamma"))
        model = fitted_step(estimator)
        path = _path_of(model, parameter)
        metric = metric_of(path, metric)
        in_use = path[parameter] == (model.C_ if parameter == "C" else model.kernel_.gamma)
        lam = path.get("lam")
        if lam is not None:
            in_use &= lam == model.lam_
            lam = lam if len(np.unique(lam)) > 1 else None
        display = cls(
            path[parameter],
            path[metric],
            chosen=int(np.flatnonzero(in_use)[0]),
            lam=lam,
            parameter=parameter,
            metric=metric,
            selection="loo" if parameter == "gamma" else model.selection_,
            estimator_name=name,
        )
        return display.plot(ax, **kwargs)

    def _draw(self, **kwargs: Any) -> None:
        ax, values, errors = self.ax_, np.asarray(self.values), np.asarray(self.errors)
        style = {"marker": "o", "markersize": 4} | kwargs
        self.lines_: list[Any] = []
        self.line_: Any = None
        self.chosen_ = None
        for rows, words in self._curves(np.argsort(values, kind="stable")):
            (line,) = ax.plot(values[rows], errors[rows], **(words | style))
            self.lines_.append(line)
            if self.line_ is None or self.chosen in rows:
                self.line_ = line
        ax.set(xscale="log", xlabel=self.parameter, ylabel=error_words(self.metric, self.selection))
        if self.metric == "error_rate":
            percent(ax.yaxis)
            ax.set_ylim(bottom=0)
        elif errors.min() > 0 and errors.max() > WIDE * errors.min():
            ax.set_yscale("log")
        if self.chosen is not None:
            self._mark(values[self.chosen], errors[self.chosen])
        if self.lam is None:
            legend_inside(ax)
        else:
            legend_beside(ax, self.lines_, [line.get_label() for line in self.lines_], "λ")

    def _curves(self, order: np.ndarray) -> list[tuple[np.ndarray, dict[str, Any]]]:
        """The points of every curve by ascending value, and what sets it apart."""
        if self.lam is None:
            return [(order, {"label": self.estimator_name} if self.estimator_name else {})]
        from matplotlib import colormaps

        lam, curves = np.asarray(self.lam), []
        strengths = np.unique(lam)
        # From end to end the colours would not all be readable on white and on black.
        colours = colormaps["viridis"](np.linspace(0.2, 0.85, len(strengths)))
        for strength, colour in zip(strengths, colours, strict=True):
            rows = order[lam[order] == strength]
            heavy = {"linewidth": 2.5, "zorder": 2.5} if self.chosen in rows else {"linewidth": 1}
            curves.append((rows, {"label": f"{strength:.3g}", "color": colour} | heavy))
        return curves

    def _mark(self, value: float, error: float) -> None:
        words = f"{self.parameter} = {value:.3g}"
        if self.lam is not None:
            self.ax_.set_title(f"chosen: λ = {np.asarray(self.lam)[self.chosen]:.3g}, {words}")
        label = f"chosen: {words}"
        colour = self.line_.get_color()
        self.chosen_ = mark(self.ax_, value, error, colour, self._ink, zorder=3, label=label)


def _path_of(model: Any, parameter: str) -> dict[str, np.ndarray]:
    """The table that the model chose from."""
    name = type(model).__name__
    if parameter == "gamma":
        if hasattr(model, "gamma_path_"):
            return model.gamma_path_
        raise InvalidInputError(
            f"This {name} did not choose its gamma, so there is no path to draw; fit a kernel ELM "
            "with gamma='loo'."
        )
    for path in _PATHS:
        if hasattr(model, path):
            return getattr(model, path)
    if hasattr(model, "surface_"):
        raise InvalidInputError(
            f"This {name} chose C and lam together; SurfaceDisplay.from_estimator draws that."
        )
    if not hasattr(model, "C_"):
        raise InvalidInputError(f"{name} has no C, so there is no path to draw.")
    grid = {"SparseELMClassifier": "validation", "ManifoldELMClassifier": "cv"}.get(name, "loo")
    raise InvalidInputError(
        f"This {name} was given C = {model.C_:.3g}, so there is no path to draw; fit it with "
        f"C={grid!r} or a list of values."
    )


def metric_of(table: Mapping[str, Any], metric: str) -> str:
    """The column to draw of a table of errors."""
    there = "error_rate" if "error_rate" in table else "squared_error"
    if metric == "auto":
        return there
    check_known("metric", metric, ("auto", "error_rate", "squared_error"))
    if metric not in table:
        raise InvalidInputError(f"There is no {metric} to draw here; use metric={there!r}.")
    return metric


def error_words(metric: str, selection: str) -> str:
    """What the axis of an error is called."""
    rows = "left-out rows" if selection.startswith("loo") else "held-out rows"
    return f"{rows} wrong" if metric == "error_rate" else f"squared error, {rows}"
