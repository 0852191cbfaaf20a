"""The error of a low-rank factor of a kernel."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from scipy.linalg import eigvalsh

from ulmus.docstrings import documented
from ulmus.exceptions import InvalidInputError
from ulmus.kernels import Precomputed
from ulmus.kernels.kernel_matrix import DEFAULT_TOL
from ulmus.plotting.canvas import Display, fitted_step, plain

# Most rows for which the eigenvalues of an exact kernel are computed.
_MOST_ROWS = 5000


@documented
@dataclass(eq=False, repr=False)
class KernelSpectrumDisplay(Display):
    """The part of a kernel's trace that is missing, against the number of columns.

    With eigenvectors for columns it is the spectrum: the missing part after k columns is the sum of
    all eigenvalues but the first k. It is drawn by ``ax.plot``.

    Parameters
    ----------
    missing : array-like of shape (n_columns,)
        The part that is missing after each column, from 0 to 1.
    rank : int or None, default=None
        The number of columns in use.
    tol : float or None, default=None
        The tolerance of the missing part.
    name : str or None, default=None
        The curve's name in the legend.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The curve; it begins at no columns, where everything is missing.
    rank_, tol_ : matplotlib Line2D or None
        The mark on the rank in use, and the line at the tolerance.

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
        """Plot the part of the trace that the factor of a fitted model leaves out.

        Parameters
        ----------
        estimator : kernel ELM, KernelFeatures, an estimator with such features, or Pipeline
            A fitted model. For an exact one the eigenvalues are computed here, for at most 5000
            rows.
        name : str or None, default=None
            The curve's name in the legend; None is the method's.
        """
        model = fitted_step(estimator)
        model = model if hasattr(model, "rank_") else getattr(model, "features_", model)
        if not (hasattr(model, "rank_") and hasattr(model, "kernel_")):
            raise InvalidInputError(
                f"{type(model).__name__} has no factor of a kernel to draw; use a kernel ELM or "
                "KernelFeatures."
            )
        if not hasattr(model, "approximation_path_"):
            name = name or "exact, by eigenvectors"
            return cls(_eigenvalues_left(model), name=name).plot(ax, **kwargs)
        path, tol = plain(model.approximation_path_), _tolerance(model)
        name = name or getattr(model, "method_", model.method)
        return cls(path, rank=model.rank_, tol=tol, name=name).plot(ax, **kwargs)

    def _draw(self, **kwargs: Any) -> None:
        ax, missing = self.ax_, np.concatenate([[1.0], self.missing])
        # Zero cannot be shown on a logarithmic axis.
        missing = np.where(missing > 0, missing, np.nan)
        style = {} if self.name is None else {"label": self.name}
        (self.line_,) = ax.plot(np.arange(len(missing)), missing, **(style | kwargs))
        self.rank_ = self.tol_ = None
        colour = self.line_.get_color()
        if self.tol:
            label = f"tolerance {self.tol:g}"
            self.tol_ = ax.axhline(self.tol, color=colour, ls="--", linewidth=1, label=label)
        if self.rank is not None:
            label = f"in use: {self.rank} columns"
            self.rank_ = self._mark(
                self.rank, missing[self.rank], colour, clip_on=False, label=label
            )
        ax.set(xlabel="columns", ylabel="part of trace missing", yscale="log")
        ax.set_xlim(left=0)
        if ax.get_legend_handles_labels()[0]:
            ax.legend()


def _eigenvalues_left(model: Any) -> np.ndarray:
    """The missing part after each eigenvector of an exact kernel."""
    name, n = type(model).__name__, model.landmarks_.shape[0]
    if isinstance(model.kernel_, Precomputed) or n > _MOST_ROWS:
        many = f"has {n} rows, whose eigenvalues take too long to draw"
        kept = "used a precomputed kernel as it was and did not keep it"
        why = kept if isinstance(model.kernel_, Precomputed) else many
        raise InvalidInputError(f"This {name} {why}; fit it with rank= or tol=, to draw a factor.")
    K = plain(model.kernel_(model.landmarks_, model.landmarks_)).astype(float)
    values = np.maximum(eigvalsh(K)[::-1], 0.0)
    # Summed from the smallest value, because a difference from one would lose it by rounding.
    return np.append(np.cumsum(values[::-1])[::-1][1:], 0.0) / values.sum()


def _tolerance(model: Any) -> float | None:
    """The fraction of the trace that ends the search; None where the rank alone does."""
    how = model if isinstance(model.method, str) else model.method
    tol = getattr(model, "tol", None) or getattr(how, "tol", None)
    return DEFAULT_TOL if tol is None and (model.rank or how.rank) is None else tol
