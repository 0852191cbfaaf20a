"""
Clusters that are rings
=======================

k-means cuts two rings into halves. In the embedding neighbours stay close together, so k-means
finds the rings there, and new points get a cluster too. In two dimensions the hidden units should
be local, so radial units of a small width are used.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_circles

from ulmus import ELMSpectralClustering, KNNGraph, RBFFeatures
from ulmus.metrics import clustering_accuracy

X, y = make_circles(400, noise=0.06, factor=0.45, random_state=0)
models = {
    "k-means": KMeans(2, n_init=10, random_state=0).fit(X),
    "US-ELM": ELMSpectralClustering(
        2,
        features=RBFFeatures(width=0.2),
        graph=KNNGraph(10),
        n_components=1,
        row_normalize=False,
        random_state=0,
    ).fit(X),
}
a, b = np.meshgrid(np.linspace(-1.3, 1.3, 120), np.linspace(-1.3, 1.3, 120))
plane = np.column_stack([a.ravel(), b.ravel()])

figure, axes = plt.subplots(1, 2, figsize=(10, 5), layout="constrained", sharey=True)
for ax, (name, model) in zip(axes, models.items(), strict=True):
    ax.contourf(a, b, model.predict(plane).reshape(a.shape), alpha=0.2, cmap="coolwarm")
    ax.scatter(*X.T, c=model.labels_, s=10, cmap="coolwarm")
    ax.set_title(f"{name}: {clustering_accuracy(y, model.labels_):.0%} of the rings found")
    ax.set_aspect("equal")
plt.show()
