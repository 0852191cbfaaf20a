"""The errors by which a model chose C, or C and λ."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np

from ulmus.arguments import check_known
from ulmus.docstrings import documented
from ulmus.exceptions import InvalidInputError
from ulmus.plotting.canvas import Display, fitted_step, legend_beside

# Squared errors that differ by more than this factor are drawn by their logarithm.
_WIDE = 10.0
_PATHS = ["loo_path_", "cv_path_", "validation_path_"]


class ErrorDisplay(Display):
    """Errors on rows left out or held out.

    Parameters
    ----------
    metric : {"error_rate", "squared_error"}, default="error_rate"
        The kind of error.
    selection : {"loo", "loo-sample", "cv", "validation"}, default="loo"
        The rows it was measured on, as in ``selection_`` of an estimator.

    Attributes
    ----------
    chosen_ : matplotlib Line2D or None
        The mark at the values in use.
    """

    errors: Any
    metric: str
    selection: str

    def _name_errors(self, axis: Any) -> None:
        """Label an axis of errors; rates are in per cent."""
        from matplotlib.ticker import PercentFormatter

        rows = "left-out rows" if self.selection.startswith("loo") else "held-out rows"
        rates = self.metric == "error_rate"
        axis.set_label_text(f"{rows} wrong" if rates else f"squared error, {rows}")
        if rates:
            axis.set_major_formatter(PercentFormatter(1.0))

    @property
    def _wide(self) -> bool:
        """Whether squared errors are drawn by their logarithm."""
        errors = np.asarray(self.errors)
        return self.metric != "error_rate" and 0 < _WIDE * errors.min() < errors.max()


@documented
@dataclass(eq=False, repr=False)
class LOOPathDisplay(ErrorDisplay):
    """The error on left-out rows, for every C that was tried.

    `from_estimator` plots a fitted model; the class itself takes arrays. It is drawn by
    ``ax.plot``.

    Parameters
    ----------
    values : array-like of shape (n_values,)
        The values that were tried.
    errors : array-like of shape (n_values,)
        The error of each.
    chosen : int or None, default=None
        The position of the chosen value.
    lam : array-like of shape (n_values,) or None, default=None
        λ of each value, where pairs were tried; there is a curve for every λ.
    parameter : str, default="C"
        The name of the parameter.
    estimator_name : str or None, default=None
        The curve's name in the legend.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The curve; of several, the one with the chosen point.
    lines_ : list of matplotlib Line2D
        All curves, by ascending λ.

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
        """Plot the errors by which a fitted model chose a parameter.

        Parameters
        ----------
        estimator : estimator or Pipeline
            A fitted model with ``loo_path_``, ``cv_path_`` or ``validation_path_``.
        parameter : {"C", "gamma"}, default="C"
            The parameter; "gamma" is that of a kernel ELM fitted with ``gamma="loo"``.
        metric : {"auto", "error_rate", "squared_error"}, default="auto"
            Which error; "auto" is the error rate where there is one.
        name : str or None, default=None
            The curve's name in the legend.
        """
        check_known("parameter", parameter, ("C", "gamma"))
        model = fitted_step(estimator)
        path = _path_of(model, parameter)
        metric, lam = _metric_of(path, metric), path.get("lam")
        in_use = path[parameter] == (model.C_ if parameter == "C" else model.kernel_.gamma)
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
        curves = self._curves(np.argsort(values, kind="stable"))
        self.lines_ = [ax.plot(values[k], errors[k], **(look | style))[0] for k, look in curves]
        own = [n for n, (rows, _) in enumerate(curves) if self.chosen in rows]
        self.line_, self.chosen_ = self.lines_[own[0] if own else 0], None
        ax.set(xscale="log", xlabel=self.parameter)
        self._name_errors(ax.yaxis)
        if self.metric == "error_rate":
            ax.set_ylim(bottom=0)
        elif self._wide:
            ax.set_yscale("log")
        if self.chosen is not None:
            value, colour = values[self.chosen], self.line_.get_color()
            words = f"{self.parameter} = {value:.3g}"
            label = {"zorder": 3, "label": f"chosen: {words}"}
            self.chosen_ = self._mark(value, errors[self.chosen], colour, **label)
            if self.lam is not None:
                ax.set_title(f"chosen: λ = {np.asarray(self.lam)[self.chosen]:.3g}, {words}")
        if self.lam is not None:
            legend_beside(ax, self.lines_, [line.get_label() for line in self.lines_], "λ")
        else:
            self._name_curves()

    def _curves(self, order: np.ndarray) -> list[tuple[np.ndarray, dict[str, Any]]]:
        """The points of every curve by ascending value, and its style."""
        if self.lam is None:
            return [(order, {"label": self.estimator_name} if self.estimator_name else {})]
        from matplotlib import colormaps

        strengths, codes = np.unique(self.lam, return_inverse=True)
        # The ends of the colour map are not readable on white or on black.
        colours, curves = colormaps["viridis"](np.linspace(0.2, 0.85, len(strengths))), []
        for k, (strength, colour) in enumerate(zip(strengths, colours, strict=True)):
            rows = order[codes[order] == k]
            heavy = {"linewidth": 2.5, "zorder": 2.5} if self.chosen in rows else {"linewidth": 1}
            curves.append((rows, {"label": f"{strength:.3g}", "color": colour} | heavy))
        return curves


@documented
@dataclass(eq=False, repr=False)
class SurfaceDisplay(ErrorDisplay):
    """The error for every pair of C and λ, as a map with the chosen pair marked.

    It is drawn by ``ax.pcolormesh``; ``colorbar=False`` leaves out the colour bar.

    Parameters
    ----------
    lam : array-like of shape (n_lam,)
        The λ that were tried, ascending. Zero is drawn one step below the least of the others.
    C : array-like of shape (n_C,)
        The C that were tried, ascending.
    errors : array-like of shape (n_lam, n_C)
        The error of each pair.
    chosen : tuple (lam, C) or None, default=None
        The chosen pair.
    across : str, default="C"
        The name of the horizontal axis.

    Attributes
    ----------
    im_ : matplotlib QuadMesh
        The map.
    colorbar_ : matplotlib Colorbar or None
        The colour bar.

    See Also
    --------
    LOOPathDisplay : C alone, or a curve for every λ.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_moons
    >>> from ulmus import SemiSupervisedELMClassifier
    >>> from ulmus.plotting import SurfaceDisplay
    >>> X, y = make_moons(100, noise=0.1, random_state=0)
    >>> few = np.where(np.arange(100) < 10, y, -1)
    >>> model = SemiSupervisedELMClassifier(n_hidden=50, coupling="published").fit(X, few)
    >>> display = SurfaceDisplay.from_estimator(model)
    >>> display.ax_.get_xlabel(), display.ax_.get_ylabel()
    ('C', 'λ')
    """

    lam: Any
    C: Any
    errors: Any
    _: KW_ONLY
    chosen: tuple[float, float] | None = None
    metric: str = "error_rate"
    selection: str = "loo"
    across: str = "C"

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, metric: str = "auto", ax: Any = None, **kwargs: Any
    ) -> Self:
        """Plot the errors by which a fitted model chose C and λ.

        Parameters
        ----------
        estimator : estimator or Pipeline
            A fitted SS-ELM, GELM or MELM that chose among pairs. GELM's own grid has the same
            C (1 + λ) for all λ, which is then the horizontal axis.
        metric : {"auto", "error_rate", "squared_error"}, default="auto"
            Which error; "auto" is the error rate where there is one.
        """
        model = fitted_step(estimator)
        table = _table_of(model)
        metric = _metric_of(table, metric)
        lam, rows = np.unique(table["lam"], return_index=True)
        C, across, at = np.atleast_2d(table["C"]), "C", model.C_
        C = C[rows] if len(C) > 1 else C
        if not np.allclose(C, C[0], rtol=1e-9):
            C, across, at = C * (1 + lam[:, None]), "C (1 + λ)", model.C_ * (1 + model.lam_)
        C, columns = np.unique(C[0], return_index=True)
        errors, where = table[metric][np.ix_(rows, columns)], (model.lam_, at)
        same = {"metric": metric, "selection": model.selection_, "across": across}
        return cls(lam, C, errors, chosen=where, **same).plot(ax, **kwargs)

    def _draw(self, *, colorbar: bool = True, **kwargs: Any) -> None:
        from matplotlib.colors import LogNorm, Normalize, PowerNorm

        ax, lam, C = self.ax_, _on_log_axis(self.lam), _on_log_axis(self.C)
        # On this scale small errors differ in colour, though the worst pairs have an error of one.
        rates = PowerNorm(0.5) if self.metric == "error_rate" else Normalize()
        style = {"cmap": "cividis", "norm": LogNorm() if self._wide else rates}
        self.im_ = ax.pcolormesh(_edges(C), _edges(lam), self.errors, **(style | kwargs))
        ax.set(xscale="log", yscale="log", xlabel=self.across, ylabel="λ")
        if lam[0] != np.min(self.lam):
            _write_zero(ax.yaxis, lam[0])
        self.chosen_ = self.colorbar_ = None
        if self.chosen is not None:
            strength, at = self.chosen
            # White with a black edge is visible on every colour.
            self.chosen_ = self._mark(at, strength if strength else lam[0], "white", "black")
            ax.set_title(f"chosen: λ = {strength:.3g}, {self.across} = {at:.3g}")
        if colorbar:
            self.colorbar_ = self.figure_.colorbar(self.im_, ax=ax)
            self._name_errors(self.colorbar_.ax.yaxis)


def _path_of(model: Any, parameter: str) -> dict[str, np.ndarray]:
    """The table of errors by which the model chose."""
    name = type(model).__name__
    names = ["gamma_path_"] if parameter == "gamma" else _PATHS
    found = [getattr(model, path) for path in names if hasattr(model, path)]
    if found:
        return found[0]
    if parameter == "gamma":
        why = "did not choose its gamma; fit a kernel ELM with gamma='loo'"
    elif hasattr(model, "surface_"):
        why = "chose C and lam together; SurfaceDisplay.from_estimator draws that"
    elif not hasattr(model, "C_"):
        why = "has no C"
    else:
        grid = {"SparseELMClassifier": "validation", "ManifoldELMClassifier": "cv"}.get(name, "loo")
        why = f"was given C = {model.C_:.3g}, and chose none; fit it with C={grid!r} or a list"
    raise InvalidInputError(f"There is no path to draw: {name} {why}.")


def _table_of(model: Any) -> dict[str, np.ndarray]:
    """The errors, λ by rows and C by columns; C is a table too where it differs between the λ."""
    if hasattr(model, "surface_"):
        return model.surface_
    path = getattr(model, "loo_path_", getattr(model, "cv_path_", None))
    if path is not None and "lam" in path:
        lam = path["lam"][np.sort(np.unique(path["lam"], return_index=True)[1])]
        shape = (len(lam), -1)
        return {"lam": lam} | {n: path[n].reshape(shape) for n in path if n != "lam"}
    why = "has no lam to choose beside C; LOOPathDisplay.from_estimator draws the errors over C"
    if hasattr(model, "lam_"):
        given = f"was given C = {model.C_:.3g} and lam = {model.lam_:.3g}"
        why = f"{given}; fit it with C='loo' and lam='loo', or lists of values"
    raise InvalidInputError(f"There is no surface to draw: {type(model).__name__} {why}.")


def _metric_of(table: dict[str, Any], metric: str) -> str:
    """The column to plot of a table of errors."""
    there = "error_rate" if "error_rate" in table else "squared_error"
    check_known("metric", metric, ("auto", "error_rate", "squared_error"))
    if metric != "auto" and metric not in table:
        raise InvalidInputError(f"There is no {metric} to draw here; use metric={there!r}.")
    return there if metric == "auto" else metric


def _on_log_axis(values: Any) -> np.ndarray:
    """The values, with a zero one step below the least of the others."""
    values = np.array(values, dtype=float)
    if len(values) and values[0] == 0:
        step = values[2] / values[1] if len(values) > 2 else 10.0
        values[0] = values[1] / step if len(values) > 1 else 1.0
    return values


def _edges(values: np.ndarray) -> np.ndarray:
    """The edges of the cells around values on a logarithmic axis."""
    if len(values) == 1:
        return values * np.array([10**-0.5, 10**0.5])
    middle = np.sqrt(values[1:] * values[:-1])
    return np.array([values[0] ** 2 / middle[0], *middle, values[-1] ** 2 / middle[-1]])


def _write_zero(axis: Any, position: float) -> None:
    """Label a position of a logarithmic axis as zero."""
    low, high = axis.get_view_interval()
    others = [t for t in axis.get_majorticklocs() if max(low, position * 1.5) <= t <= high]
    words = axis.get_major_formatter().format_ticks(others)
    axis.set_ticks([position, *others], labels=["0", *words])
