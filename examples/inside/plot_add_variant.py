"""
An estimator of your own
========================

A robust regressor. Huber's loss is a ridge regression whose rows are weighted by their residuals:
fit, look at the residuals, give rows with large ones less weight, fit again. Its method is a value
that asks for the rows and solves a ridge several times. Input checks, the hidden layer, the choice
of C by leave-one-out, streams and prediction are inherited.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

import matplotlib.pyplot as plt
import numpy as np

from ulmus import ELMRegressor
from ulmus.methods.ridge import Ridge
from ulmus.sources.source import AtHand


@dataclass(frozen=True)
class Robust:
    """Ridge whose far-off rows count less: Huber's loss by a few weighted solves."""

    ridge: Ridge
    parameters: ClassVar = ("C",)
    needs_rows: ClassVar = True  # weights follow residuals, so sums of rows are not enough

    @property
    def chooses(self):
        """Whether leave-one-out chooses C."""
        return self.ridge.chooses

    def at(self, **values):
        """The same at a C that was chosen before."""
        return replace(self, ridge=self.ridge.at(**values))

    def compared(self):
        """The same with a left-out error even for one C."""
        return replace(self, ridge=self.ridge.compared())

    def fit(self, source):
        """Solve, look how far off each row is, and solve again."""
        problem = source.rows()  # an error where they are gone
        own = np.ones(len(problem.H)) if problem.weight is None else problem.weight
        unit = problem.unit_weight(slice(None))
        H, T = problem.H.all(), problem.targets.block(slice(None), float)
        solution = self.ridge.fit(AtHand(problem))
        for _ in range(10):
            residual = np.abs(T - H @ solution.coef - solution.intercept).max(axis=1)
            usual = np.quantile(residual, 0.5, weights=own, method="inverted_cdf")
            bound = max(2.0 * usual, 1e-9 * np.ptp(T), np.finfo(float).tiny)
            trust = bound / np.maximum(residual, bound)
            weighted = replace(problem, weight=own * trust, unit=unit * trust)
            solution = self.ridge.fit(AtHand(weighted))
        return solution


class RobustELMRegressor(ELMRegressor):
    """ELM for data in which some rows are wrong."""

    def _method(self):
        return Robust(super()._method())

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.array_api_support = False  # the lines above are NumPy's
        return tags


# %%
# One row in ten of these is wrong, and always in the same direction.

rng = np.random.default_rng(0)
X = np.sort(rng.uniform(-3, 3, size=(300, 1)), axis=0)
truth = np.sin(2 * X[:, 0])
y = truth + 0.1 * rng.standard_normal(300)
y[rng.random(300) < 0.1] += 3.0

figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
ax.scatter(X[:, 0], y, s=6, color="lightgrey")
for cls in (ELMRegressor, RobustELMRegressor):
    found = cls(random_state=0).fit(X, y).predict(X)
    ax.plot(X[:, 0], found, label=f"{cls.__name__}: off by {np.abs(found - truth).mean():.2f}")
ax.plot(X[:, 0], truth, "k:", label="the truth")
ax.legend()
plt.show()
