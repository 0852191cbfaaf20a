"""
Regression along a spiral with fifteen labels
=============================================

A value grows along a spiral and is known at fifteen of three hundred points. The neighbourhood
graph passes it along the spiral, and not across the gap between two turns.
"""

import matplotlib.pyplot as plt
import numpy as np

from ulmus import ELMRegressor, SemiSupervisedELMRegressor

t = np.linspace(3, 14, 300)
X = np.column_stack([t * np.cos(t), t * np.sin(t)])
y = np.full(300, np.nan)
y[::20] = t[::20]
known = ~np.isnan(y)

models = {
    "ELM, fifteen values": ELMRegressor(random_state=0).fit(X[known], y[known]),
    "SS-ELM, fifteen values and the rest": SemiSupervisedELMRegressor(random_state=0).fit(X, y),
}
figure, axes = plt.subplots(1, 2, figsize=(11, 5), layout="constrained", sharey=True)
for ax, (name, model) in zip(axes, models.items(), strict=True):
    error = np.abs(model.predict(X) - t)
    points = ax.scatter(*X.T, c=error, s=14, cmap="magma_r", vmin=0, vmax=1)
    ax.scatter(*X[known].T, s=60, facecolors="none", edgecolors="black")
    ax.set_title(f"{name}: mean error {error.mean():.2f}")
    ax.set_aspect("equal")
figure.colorbar(points, ax=axes, label="error")
plt.show()
