"""The candidates of a semi-supervised model and their weights."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ulmus.docstrings import documented
from ulmus.exceptions import InvalidInputError
from ulmus.plotting.canvas import COLOURS, MARKERS, Display, fitted_step, legend_beside


@documented
@dataclass(eq=False, repr=False)
class CandidatesDisplay(Display):
    """The weight of every candidate of a semi-supervised model against its left-out error.

    Kinds differ in colour and shape, and the legend has the total weight of each kind.
    It is drawn by ``ax.scatter``.

    Parameters
    ----------
    kind : array-like of str
        The kind of every candidate.
    error : array-like of float
        Its error on labelled rows left out.
    weight : array-like of float
        Its weight; they sum to one.

    Attributes
    ----------
    points_ : dict of matplotlib PathCollection
        The points of each kind.
    legend_ : matplotlib Legend
        The kinds and their weights.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_moons
    >>> from ulmus import SemiSupervisedELMClassifier
    >>> from ulmus.plotting import CandidatesDisplay
    >>> X, y = make_moons(200, noise=0.1, random_state=0)
    >>> few = np.where(np.arange(200) < 20, y, -1)
    >>> model = SemiSupervisedELMClassifier(n_hidden=50, random_state=0).fit(X, few)
    >>> display = CandidatesDisplay.from_estimator(model)
    >>> sorted(display.points_)
    ['alone', 'clusters', 'free', 'tight']
    """

    kind: Any
    error: Any
    weight: Any

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **kwargs: Any) -> Self:
        """Plot the candidates of a fitted model.

        Parameters
        ----------
        estimator : SemiSupervisedELMClassifier, SemiSupervisedELMRegressor or Pipeline
            A fitted model with ``coupling="auto"``.
        ax, **kwargs : matplotlib Axes or None, dict
            As for `plot`, which draws it.
        """
        model = fitted_step(estimator)
        table = getattr(model, "candidates_", None)
        if table is None:
            raise InvalidInputError(
                f"{type(model).__name__} has no candidates to draw; use a semi-supervised model "
                "with coupling='auto'."
            )
        if "error" not in table:
            raise InvalidInputError(
                "No candidate has a left-out error: every class has one label. Label one row more "
                "of some class."
            )
        return cls(table["kind"], table["error"], table["weight"]).plot(ax, **kwargs)

    def _draw(self, **kwargs: Any) -> None:
        kind, error, weight = (np.asarray(each) for each in (self.kind, self.error, self.weight))
        shares = {name: float(weight[kind == name].sum()) for name in np.unique(kind).tolist()}
        names = sorted(shares, key=shares.__getitem__, reverse=True)
        self.points_ = {
            name: self.ax_.scatter(
                error[kind == name],
                weight[kind == name],
                **({"color": COLOURS[k], "marker": MARKERS[k], "alpha": 0.7} | kwargs),
            )
            for k, name in enumerate(names)
        }
        words = [f"{name}, {shares[name]:.0%}" for name in names]
        self.legend_ = legend_beside(
            self.ax_, list(self.points_.values()), words, title="weight of"
        )
        self.ax_.set(xlabel="error on left-out labels", ylabel="weight", yscale="log")
        # Candidates with smaller weights do not matter for the average.
        self.ax_.set_ylim(bottom=1e-6)
