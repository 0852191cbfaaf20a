"""
Penalising scatter within classes (GELM)
========================================

GELM penalises how much the outputs of a class vary. With few rows and many units a plain ELM fits
the training rows almost exactly, and its outputs for other rows vary widely. The penalty reduces
this. Leave-one-out chooses its strength; a row that is left out is also removed from its class
mean.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from ulmus import ELMClassifier, GraphELMClassifier
from ulmus.plotting import SurfaceDisplay

X, y = load_digits(return_X_y=True)
rng = np.random.default_rng(1)
train = np.concatenate([rng.permutation(np.flatnonzero(y == k))[:15] for k in range(10)])
test = np.setdiff1d(np.arange(len(y)), train)
models = {
    "ELM": ELMClassifier(random_state=0).fit(X[train], y[train]),
    "GELM": GraphELMClassifier(random_state=0).fit(X[train], y[train]),
}

# %%
# Decision values for two of the classes, and the whole surface that lam and C were chosen from.

figure, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
shown = np.isin(y[test], (3, 8))
for ax, (name, model) in zip(axes, models.items(), strict=False):
    F = model.decision_function(X[test][shown])
    ax.scatter(F[:, 3], F[:, 8], c=y[test][shown], s=10, cmap="coolwarm")
    ax.axline((0, 0), slope=1, color="grey", linewidth=1)
    right = model.score(X[test], y[test])
    ax.set(title=f"{name}: {right:.1%} right", xlabel="held to be 3", ylabel="held to be 8")
SurfaceDisplay.from_estimator(models["GELM"], ax=axes[2])
plt.show()
