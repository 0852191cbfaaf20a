"""
A map of digits that takes new rows
===================================

The embedding is fitted to half of the digits without any label. The other half is then placed by
one matrix product.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from ulmus import ELMEmbedding
from ulmus.plotting import EmbeddingDisplay

X, y = load_digits(return_X_y=True)
model = ELMEmbedding(n_components=2, random_state=0).fit(X[::2])

figure, axes = plt.subplots(1, 2, figsize=(11, 5), layout="constrained", sharex=True, sharey=True)
for ax, rows, title in zip(
    axes, (slice(0, None, 2), slice(1, None, 2)), ("mapped", "placed afterwards"), strict=True
):
    display = EmbeddingDisplay.from_estimator(model, X[rows], y[rows], ax=ax)
    ax.set_title(f"{len(X[rows])} digits {title}")
display.legend_.set_title("digit (not used)")
plt.show()
