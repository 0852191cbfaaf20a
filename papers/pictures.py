"""Figures 3 and 11 of the SS-ELM paper: IRIS in two dimensions, and digits with noise.

``python -m papers.pictures docs/papers`` draws both.
"""

import sys
from pathlib import Path

import numpy as np

from papers.clustering import _noisy
from papers.datasets import benchmark_rows
from papers.eigenmaps import laplacian_eigenmap
from ulmus import ELMEmbedding, KNNGraph, RandomFeatures

SHARES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)


def embeddings(X, n_hidden=1000, lam=0.1, seed=0):
    """The first two dimensions of rows, Laplacian eigenmaps and US-ELM, these of one graph."""
    graph = KNNGraph(5, weights="binary", normalized=False)
    units = RandomFeatures(n_hidden, scaling=None, bias=False, random_state=seed)
    model = ELMEmbedding(2, features=units, graph=graph, lam=lam, row_normalize=False)
    return {
        "rows": X[:, :2],
        "LE": laplacian_eigenmap(graph.affinity(X), 2),
        "US-ELM": model.fit_transform(X),
    }


def noisy_digits(X, y, seed=0):
    """The first image of every digit, with each share of its pixels replaced, pixels in [0, 1]."""
    first = np.array([np.flatnonzero(y == digit)[0] for digit in np.unique(y)])
    low, high = X.min(), X.max()
    images = (X[first] - low) / (high - low)
    return np.stack([_noisy(images, share, False, seed) for share in SHARES])


def draw(folder):
    """Draw both into a folder, as PNG."""
    import matplotlib.pyplot as plt

    X, y = benchmark_rows("iris")
    figure, axes = plt.subplots(1, 3, figsize=(9, 3), layout="constrained")
    for axis, (name, E) in zip(axes, embeddings(X).items(), strict=True):
        for label, marker in enumerate("os^"):
            axis.scatter(*E[y == label].T, s=12, marker=marker, label=f"class {label + 1}")
        axis.set_title(name)
        axis.tick_params(labelsize=7)
    axes[0].legend(fontsize=7)
    figure.savefig(folder / "figure-3.png", dpi=120)
    images = noisy_digits(*benchmark_rows("uspst_mr"))
    side = int(np.sqrt(images.shape[2]))
    grid = np.vstack([np.hstack(row.reshape(-1, side, side)) for row in images])
    plt.imsave(folder / "figure-11.png", np.kron(grid, np.ones((3, 3))), cmap="gray")


if __name__ == "__main__":
    draw(Path(sys.argv[1]))
