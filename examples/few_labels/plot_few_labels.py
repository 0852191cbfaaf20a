"""
Two moons with ten labels
=========================

Ten labelled points and three hundred without a label. The supervised model uses the ten labels
only; the semi-supervised one also uses the shape of the other points. Both have their defaults.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from ulmus import ELMClassifier, SemiSupervisedELMClassifier

X, y = make_moons(310, noise=0.09, random_state=4)
few = np.full(len(y), -1)
for label in (0, 1):
    few[np.flatnonzero(y == label)[:5]] = label
known = few >= 0

models = {
    "ELM, ten labels": ELMClassifier(random_state=0).fit(X[known], y[known]),
    "SS-ELM, ten labels and the rest": SemiSupervisedELMClassifier(random_state=0).fit(X, few),
}
a, b = np.meshgrid(np.linspace(-1.6, 2.6, 150), np.linspace(-1.1, 1.6, 120))
plane = np.column_stack([a.ravel(), b.ravel()])

figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained", sharey=True)
for ax, (name, model) in zip(axes, models.items(), strict=True):
    ax.contourf(
        a, b, model.decision_function(plane).reshape(a.shape) > 0, alpha=0.2, cmap="coolwarm"
    )
    ax.scatter(*X[~known].T, s=8, color="grey")
    ax.scatter(*X[known].T, c=y[known], s=60, cmap="coolwarm", edgecolors="black")
    right = np.mean(model.predict(X[~known]) == y[~known])
    ax.set_title(f"{name}\n{right:.0%} of the others right")
plt.show()
