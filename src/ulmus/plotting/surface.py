"""The error for every pair of C and λ."""

import numpy as np

from ulmus.exceptions import InvalidInputError
from ulmus.plotting.canvas import axes_on, fitted_step, percent
from ulmus.plotting.path import error_words, metric_of

__all__ = ["SurfaceDisplay"]

# Squared errors that differ by more than this factor have colours by their logarithm.
_WIDE = 10.0


class SurfaceDisplay:
    """The error for every pair of C and λ, as a map with the chosen pair marked.

    Parameters
    ----------
    lam : array-like of shape (n_lam,)
        The λ that were tried, ascending. Zero is drawn one step below the least of the others.
    C : array-like of shape (n_C,)
        The C that were tried, ascending.
    errors : array-like of shape (n_lam, n_C)
        The error of each pair.
    chosen : tuple (lam, C) or None, default=None
        The pair in use.
    metric : {"error_rate", "squared_error"}, default="error_rate"
        Which error it is.
    selection : {"loo", "loo-sample", "cv", "validation"}, default="loo"
        What it was measured on, as ``selection_`` of an estimator says.
    across : str, default="C"
        The name of what goes across.

    Attributes
    ----------
    im_ : matplotlib QuadMesh
        The map.
    chosen_ : matplotlib Line2D or None
        The mark on the pair in use.
    colorbar_ : matplotlib Colorbar or None
        What the colours mean.
    ax_ : matplotlib Axes
        Where it is drawn.
    figure_ : matplotlib Figure
        The figure they belong to.

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
    >>> model = SemiSupervisedELMClassifier(n_hidden=50, random_state=0).fit(X, few)
    >>> display = SurfaceDisplay.from_estimator(model)
    >>> display.ax_.get_xlabel(), display.ax_.get_ylabel()
    ('C', 'λ')
    """

    def __init__(
        self,
        lam,
        C,
        errors,
        *,
        chosen=None,
        metric="error_rate",
        selection="loo",
        across="C",
    ):
        self.lam = lam
        self.C = C
        self.errors = errors
        self.chosen = chosen
        self.metric = metric
        self.selection = selection
        self.across = across

    @classmethod
    def from_estimator(cls, estimator, *, metric="auto", ax=None, colorbar=True, **kwargs):
        """Draw the errors that a fitted model chose C and λ by.

        Parameters
        ----------
        estimator : estimator or Pipeline
            A fitted SS-ELM, GELM or MELM that chose among pairs. GELM's own grid has the same
            C (1 + λ) for all λ, and that goes across then.
        metric : {"auto", "error_rate", "squared_error"}, default="auto"
            Which error; "auto" is the error rate where there is one.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a figure.
        colorbar : bool, default=True
            Whether the meaning of the colours is drawn beside.
        **kwargs : dict
            For ``ax.pcolormesh``.

        Returns
        -------
        display : SurfaceDisplay
            What was drawn.
        """
        model = fitted_step(estimator)
        table = _table_of(model)
        metric = metric_of(table, metric)
        lam, rows = np.unique(table["lam"], return_index=True)
        C, across, chosen = table["C"], "C", model.C_
        if C.ndim == 2:
            C = C[rows]
            if not np.allclose(C, C[0], rtol=1e-9):
                C, across = C * (1 + lam[:, None]), "C (1 + λ)"
                chosen = model.C_ * (1 + model.lam_)
            C = C[0]
        C, columns = np.unique(C, return_index=True)
        display = cls(
            lam,
            C,
            table[metric][np.ix_(rows, columns)],
            chosen=(model.lam_, chosen),
            metric=metric,
            selection=model.selection_,
            across=across,
        )
        return display.plot(ax, colorbar=colorbar, **kwargs)

    def plot(self, ax=None, *, colorbar=True, **kwargs):
        """Draw the map.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a figure.
        colorbar : bool, default=True
            Whether the meaning of the colours is drawn beside.
        **kwargs : dict
            For ``ax.pcolormesh``.

        Returns
        -------
        display : SurfaceDisplay
            This display.
        """
        self.figure_, self.ax_ = axes_on(ax)
        ax, errors = self.ax_, np.asarray(self.errors)
        lam, C = _on_log_axis(self.lam), _on_log_axis(self.C)
        style = {"cmap": "cividis", "norm": self._norm(errors)}
        self.im_ = ax.pcolormesh(_edges(C), _edges(lam), errors, **(style | kwargs))
        ax.set(xscale="log", yscale="log", xlabel=self.across, ylabel="λ")
        if lam[0] != np.min(self.lam):
            _write_zero(ax.yaxis, lam[0])
        self.chosen_ = self.colorbar_ = None
        if self.chosen is not None:
            self._mark(lam)
        if colorbar:
            self.colorbar_ = self.figure_.colorbar(self.im_, ax=ax)
            self.colorbar_.set_label(error_words(self.metric, self.selection))
            if self.metric == "error_rate":
                percent(self.colorbar_.ax.yaxis)
        return self

    def _norm(self, errors):
        """Colours that tell small errors apart, though the worst pairs err on every row."""
        from matplotlib.colors import LogNorm, Normalize, PowerNorm

        if self.metric == "error_rate":
            return PowerNorm(0.5)
        return LogNorm() if 0 < _WIDE * errors.min() < errors.max() else Normalize()

    def _mark(self, positions):
        """A white diamond with a black edge, to be seen on every colour."""
        strength, C = self.chosen
        (self.chosen_,) = self.ax_.plot(
            [C],
            [positions[0] if strength == 0 else strength],
            marker="D",
            markersize=9,
            linestyle="none",
            color="white",
            markeredgecolor="black",
            markeredgewidth=1.5,
        )
        self.ax_.set_title(f"chosen: λ = {strength:.3g}, {self.across} = {C:.3g}")


def _table_of(model):
    """The errors, λ down and C across; C is a table too where it differs between the λ."""
    if hasattr(model, "surface_"):
        return model.surface_
    path = getattr(model, "loo_path_", getattr(model, "cv_path_", None))
    if path is not None and "lam" in path:
        lam = path["lam"][np.sort(np.unique(path["lam"], return_index=True)[1])]
        shape = (len(lam), -1)
        return {"lam": lam} | {n: path[n].reshape(shape) for n in path if n != "lam"}
    name = type(model).__name__
    if not hasattr(model, "lam_"):
        raise InvalidInputError(
            f"{name} has no lam to choose beside C; LOOPathDisplay.from_estimator draws the errors "
            "over C."
        )
    raise InvalidInputError(
        f"This {name} was given C = {model.C_:.3g} and lam = {model.lam_:.3g}, so there is no "
        "surface to draw; fit it with C='loo' and lam='loo', or lists of values."
    )


def _on_log_axis(values):
    """The values, with a zero one step below the least of the others."""
    values = np.array(values, dtype=float)
    if len(values) and values[0] == 0:
        step = values[2] / values[1] if len(values) > 2 else 10.0
        values[0] = values[1] / step if len(values) > 1 else 1.0
    return values


def _edges(values):
    """The ends of the cells around values on a logarithmic axis."""
    logs = np.log10(values)
    if len(logs) == 1:
        return 10.0 ** np.array([logs[0] - 0.5, logs[0] + 0.5])
    middle = (logs[1:] + logs[:-1]) / 2
    ends = [2 * logs[0] - middle[0], *middle, 2 * logs[-1] - middle[-1]]
    return 10.0 ** np.array(ends)


def _write_zero(axis, position):
    """Call this place of a logarithmic axis zero."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, LogFormatterSciNotation

    low, high = axis.get_view_interval()
    others = [t for t in axis.get_majorticklocs() if max(low, position * 1.5) <= t <= high]
    formatter = LogFormatterSciNotation()
    formatter.set_axis(axis)
    axis.set_major_locator(FixedLocator([position, *others]))
    axis.set_major_formatter(
        FuncFormatter(lambda at, i: "0" if np.isclose(at, position) else formatter(at, i))
    )
