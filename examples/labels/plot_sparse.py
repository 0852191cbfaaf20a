"""
Support rows of a sparse ELM
============================

With the hinge loss only some rows determine the model: those near the decision boundary and those
on its wrong side. They are the support rows. A small C regularises more and keeps many of them; a
large C keeps few, and the boundary follows them closely. In two dimensions the hidden units should
be local, so radial units of a small width are used.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from ulmus import RBFFeatures, SparseELMClassifier

X, y = make_moons(300, noise=0.22, random_state=0)
a, b = np.meshgrid(np.linspace(-1.8, 2.8, 150), np.linspace(-1.4, 1.9, 150))
plane = np.column_stack([a.ravel(), b.ravel()])

figure, axes = plt.subplots(1, 3, figsize=(13, 4.2), layout="constrained", sharey=True)
for ax, C in zip(axes, (0.01, 1.0, 100.0), strict=True):
    model = SparseELMClassifier(RBFFeatures(width=0.5), C=C, random_state=0).fit(X, y)
    F = model.decision_function(plane).reshape(a.shape)
    ax.contourf(a, b, np.clip(F, -1.5, 1.5), 12, alpha=0.35, cmap="coolwarm")
    ax.contour(a, b, F, [-1, 0, 1], colors="black", linestyles=["--", "-", "--"], linewidths=1)
    ax.scatter(*X.T, c=y, s=8, cmap="coolwarm")
    ax.scatter(*X[model.support_].T, s=45, facecolors="none", edgecolors="black", linewidths=0.8)
    ax.set_title(f"C = {C:g}: {len(model.support_)} of {len(X)} rows matter")
    ax.set_aspect("equal")
plt.show()
