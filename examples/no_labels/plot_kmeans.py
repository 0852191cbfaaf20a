"""
k-means in the hidden layer
===========================

k-means separates clusters by straight lines. Applied to the hidden layer, the same algorithm
separates them by curves. New points are assigned by the same curves.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_circles

from ulmus import ELMKMeans, RBFFeatures
from ulmus.metrics import clustering_accuracy

X, y = make_circles(400, noise=0.05, factor=0.2, random_state=0)
models = {
    "k-means": KMeans(2, n_init=10, random_state=0).fit(X),
    "ELM k-means": ELMKMeans(2, features=RBFFeatures(width="local"), random_state=0).fit(X),
}
a, b = np.meshgrid(np.linspace(-1.3, 1.3, 120), np.linspace(-1.3, 1.3, 120))
plane = np.column_stack([a.ravel(), b.ravel()])

figure, axes = plt.subplots(1, 2, figsize=(10, 5), layout="constrained", sharey=True)
for ax, (name, model) in zip(axes, models.items(), strict=True):
    ax.contourf(a, b, model.predict(plane).reshape(a.shape), alpha=0.2, cmap="coolwarm")
    ax.scatter(*X.T, c=model.labels_, s=10, cmap="coolwarm")
    ax.set_title(f"{name}: {clustering_accuracy(y, model.labels_):.0%} as drawn")
    ax.set_aspect("equal")
plt.show()
