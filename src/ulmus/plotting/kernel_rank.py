"""What a kernel's factor leaves out."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from scipy.linalg import eigvalsh

from ulmus.exceptions import InvalidInputError
from ulmus.kernels import Precomputed
from ulmus.kernels.approximation import DEFAULT_TOL
from ulmus.plotting.canvas import Display, fitted_step, legend_inside, mark, plain

__all__ = ["KernelSpectrumDisplay"]

# The eigenvalues of an exact kernel are worked out for at most this many rows.
_MOST_ROWS = 5000


@dataclass(eq=False, repr=False)
class KernelSpectrumDisplay(Display):
    """The part of a kernel's trace that is missing, against the number of columns.

    With eigenvectors for columns it is the spectrum: what is missing after k of them is the sum of
    all eigenvalues but the first k. For other factors it is what their own columns have left. It is
    drawn by ``ax.plot``.

    Parameters
    ----------
    missing : array-like of shape (n_columns,)
        The part that is missing after each column, from 0 to 1.
    rank : int or None, default=None
        Columns that are in use.
    tol : float or None, default=None
        The part that was allowed to be missing.
    name : str or None, default=None
        The curve's name in the legend.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The curve; it begins at no columns, where everything is missing.
    rank_ : matplotlib Line2D or None
        The mark on the rank in use.
    tol_ : matplotlib Line2D or None
        The line at the tolerance.
    ax_, figure_ : matplotlib Axes and Figure
        Where it is drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ulmus import KernelELMClassifier, LowRank
    >>> from ulmus.plotting import KernelSpectrumDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelELMClassifier(method=LowRank(tol=1e-3), random_state=0).fit(X, y)
    >>> display = KernelSpectrumDisplay.from_estimator(model)
    >>> display.rank == model.rank_
    True
    """

    missing: Any
    _: KW_ONLY
    rank: int | None = None
    tol: float | None = None
    name: str | None = None

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, name: str | None = None, ax: Any = None, **kwargs: Any
    ) -> Self:
        """Draw what the factor of a fitted model has left out.

        Parameters
        ----------
        estimator : KernelELMClassifier, KernelELMRegressor, KernelFeatures or Pipeline
            A fitted model with a kernel; also a model whose ``features`` were `KernelFeatures`.
            Of an exact one the eigenvalues are worked out here, for at most 5000 rows.
        name : str or None, default=None
            The curve's name in the legend; None is the method's.
        ax, **kwargs : matplotlib Axes or None, dict
            As for `plot`, which draws it.
        """
        model = fitted_step(estimator)
        model = model if hasattr(model, "rank_") else getattr(model, "features_", model)
        if not (hasattr(model, "rank_") and hasattr(model, "kernel_")):
            raise InvalidInputError(
                f"{type(model).__name__} has no factor of a kernel to draw; use a kernel ELM or "
                "KernelFeatures."
            )
        if hasattr(model, "approximation_path_"):
            display = cls(
                plain(model.approximation_path_),
                rank=model.rank_,
                tol=_tolerance(model),
                name=name or getattr(model, "method_", model.method),
            )
        else:
            display = cls(_eigenvalues_left(model), name=name or "exact, by eigenvectors")
        return display.plot(ax, **kwargs)

    def _draw(self, **kwargs: Any) -> None:
        ax, missing = self.ax_, np.concatenate([[1.0], self.missing])
        # Nothing at all has no place on a logarithmic axis.
        missing = np.where(missing > 0, missing, np.nan)
        style = {} if self.name is None else {"label": self.name}
        (self.line_,) = ax.plot(np.arange(len(missing)), missing, **(style | kwargs))
        self.rank_ = self.tol_ = None
        colour = self.line_.get_color()
        if self.tol:
            label = f"tolerance {self.tol:g}"
            self.tol_ = ax.axhline(self.tol, color=colour, ls="--", linewidth=1, label=label)
        if self.rank is not None:
            place, label = (self.rank, missing[self.rank]), f"in use: {self.rank} columns"
            self.rank_ = mark(ax, *place, colour, self._ink, clip_on=False, label=label)
        ax.set(xlabel="columns", ylabel="part of trace missing", yscale="log")
        ax.set_xlim(left=0)
        legend_inside(ax)


def _eigenvalues_left(model: Any) -> np.ndarray:
    """What is missing after each eigenvector of an exact kernel."""
    name = type(model).__name__
    if isinstance(model.kernel_, Precomputed):
        raise InvalidInputError(
            f"This {name} used a precomputed kernel as it was and did not keep it; fit it with "
            "rank= or tol= to see what a factor leaves out."
        )
    n = model.landmarks_.shape[0]
    if n > _MOST_ROWS:
        raise InvalidInputError(
            f"The eigenvalues of {n} rows take too long to draw; fit {name} with rank= or tol=, "
            "which finds a factor."
        )
    K = plain(model.kernel_(model.landmarks_, model.landmarks_)).astype(float)
    values = np.maximum(eigvalsh(K)[::-1], 0.0)
    # Summed from the small end, which a difference from one would round away.
    return np.append(np.cumsum(values[::-1])[::-1][1:], 0.0) / values.sum()


def _tolerance(model: Any) -> float | None:
    """The fraction of the trace that ends the search; None where the rank alone does."""
    how = model if isinstance(model.method, str) else model.method
    tol = getattr(model, "tol", None) or getattr(how, "tol", None)
    return DEFAULT_TOL if tol is None and (model.rank or how.rank) is None else tol
