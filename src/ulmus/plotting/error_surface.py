"""The error for every pair of C and λ."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np

from ulmus.exceptions import InvalidInputError
from ulmus.plotting.canvas import Display, fitted_step, mark, percent
from ulmus.plotting.error_path import WIDE, error_words, metric_of

__all__ = ["SurfaceDisplay"]


@dataclass(eq=False, repr=False)
class SurfaceDisplay(Display):
    """The error for every pair of C and λ, as a map with the chosen pair marked.

    It is drawn by ``ax.pcolormesh``; ``colorbar=False`` leaves out what the colours mean.

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
    ax_, figure_ : matplotlib Axes and Figure
        Where it is drawn.

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
        """Draw the errors that a fitted model chose C and λ by.

        Parameters
        ----------
        estimator : estimator or Pipeline
            A fitted SS-ELM, GELM or MELM that chose among pairs. GELM's own grid has the same
            C (1 + λ) for all λ, and that goes across then.
        metric : {"auto", "error_rate", "squared_error"}, default="auto"
            Which error; "auto" is the error rate where there is one.
        ax, **kwargs : matplotlib Axes or None, dict
            As for `plot`, which draws it.
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
        return display.plot(ax, **kwargs)

    def _draw(self, *, colorbar: bool = True, **kwargs: Any) -> None:
        ax, errors = self.ax_, np.asarray(self.errors)
        lam, C = _on_log_axis(self.lam), _on_log_axis(self.C)
        style = {"cmap": "cividis", "norm": self._norm(errors)}
        self.im_ = ax.pcolormesh(_edges(C), _edges(lam), errors, **(style | kwargs))
        ax.set(xscale="log", yscale="log", xlabel=self.across, ylabel="λ")
        if lam[0] != np.min(self.lam):
            _write_zero(ax.yaxis, lam[0])
        self.chosen_ = self.colorbar_ = None
        if self.chosen is not None:
            strength, at = self.chosen
            # White with a black edge is seen on every colour.
            self.chosen_ = mark(ax, at, strength if strength else lam[0], "white", "black")
            ax.set_title(f"chosen: λ = {strength:.3g}, {self.across} = {at:.3g}")
        if colorbar:
            self.colorbar_ = self.figure_.colorbar(self.im_, ax=ax)
            self.colorbar_.set_label(error_words(self.metric, self.selection))
            if self.metric == "error_rate":
                percent(self.colorbar_.ax.yaxis)

    def _norm(self, errors: np.ndarray) -> Any:
        """Colours that tell small errors apart, though the worst pairs err on every row."""
        from matplotlib.colors import LogNorm, Normalize, PowerNorm

        if self.metric == "error_rate":
            return PowerNorm(0.5)
        return LogNorm() if 0 < WIDE * errors.min() < errors.max() else Normalize()


def _table_of(model: Any) -> dict[str, np.ndarray]:
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


def _on_log_axis(values: Any) -> np.ndarray:
    """The values, with a zero one step below the least of the others."""
    values = np.array(values, dtype=float)
    if len(values) and values[0] == 0:
        step = values[2] / values[1] if len(values) > 2 else 10.0
        values[0] = values[1] / step if len(values) > 1 else 1.0
    return values


def _edges(values: np.ndarray) -> np.ndarray:
    """The ends of the cells around values on a logarithmic axis."""
    if len(values) == 1:
        return values * np.array([10**-0.5, 10**0.5])
    middle = np.sqrt(values[1:] * values[:-1])
    return np.array([values[0] ** 2 / middle[0], *middle, values[-1] ** 2 / middle[-1]])


def _write_zero(axis: Any, position: float) -> None:
    """Call this place of a logarithmic axis zero."""
    low, high = axis.get_view_interval()
    others = [t for t in axis.get_majorticklocs() if max(low, position * 1.5) <= t <= high]
    words = axis.get_major_formatter().format_ticks(others)
    axis.set_ticks([position, *others], labels=["0", *words])
