"""
A map of digits
===============

The embedding is found on half of the digits without any label; the other half is then placed by
one product.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from ulmus import ELMEmbedding

X, y = load_digits(return_X_y=True)
model = ELMEmbedding(n_components=2, random_state=0).fit(X[::2])

figure, axes = plt.subplots(1, 2, figsize=(11, 5), layout="constrained", sharex=True, sharey=True)
for ax, rows, title in zip(
    axes, (slice(0, None, 2), slice(1, None, 2)), ("mapped", "placed afterwards"), strict=True
):
    E = model.transform(X[rows])
    points = ax.scatter(*E.T, c=y[rows], s=8, cmap="tab10")
    ax.set_title(f"{len(E)} digits {title}")
    ax.set_xticks([])
    ax.set_yticks([])
figure.colorbar(points, ax=axes, label="digit (not used)")
plt.show()
