"""ELM k-means and ELM NMF to the letter: equation 6, Algorithms 1 and 2 of the paper on clusters.

Algorithm 1 starts from rows drawn at random, once. Algorithm 2 updates both factors by
multiplication and stops when neither moves; its threshold and its most rounds are not printed.
"""

import numpy as np
from sklearn.cluster import KMeans

from ulmus.features import RBFFeatures

_TINY = np.finfo(float).tiny


def equation_6(X, nodes, seed):
    """exp(−b‖x − a‖²) with a from U(−1, 1) and b from U(0, 1)."""
    units = RBFFeatures(
        nodes, node="random_gaussian", centers="uniform", scaling=None, random_state=seed
    )
    return units.fit(X).transform(X)


def multiplicative_nmf(H, count, seed, threshold=1e-4, most=500):
    """W and B with H ≈ WB by Lee and Seung's updates (Algorithm 2, 2 to 7), and their number.

    H is not negative; in the paper a column is a sample. Both factors are drawn from U(0, 1). It
    stops when max(‖ΔW‖ / √(size of W), ‖ΔB‖ / √(size of B)) is less than the threshold.
    """
    rng = np.random.default_rng(seed)
    W, B = rng.random((len(H), count)), rng.random((count, H.shape[1]))
    for rounds in range(1, most + 1):  # noqa: B007 - it is returned
        before = W, B
        B = B * (W.T @ H) / np.maximum(W.T @ W @ B, _TINY)
        W = W * (H @ B.T) / np.maximum(W @ (B @ B.T), _TINY)
        moved = [
            np.linalg.norm(a - b) / np.sqrt(a.size) for a, b in zip((W, B), before, strict=True)
        ]
        if max(moved) < threshold:
            break
    return W, B, rounds


def printed_k_means(H, clusters, seed):
    """Algorithm 1 from hidden rows: one start, from rows drawn at random."""
    return KMeans(clusters, init="random", n_init=1, random_state=seed).fit(H).labels_


def printed_nmf(H, clusters, seed, **how):
    """Algorithm 2 from hidden rows: k-means on the columns of B in Hᵀ ≈ WB."""
    _, B, _ = multiplicative_nmf(H.T, clusters, seed, **how)
    return printed_k_means(B.T, clusters, seed)


def kernel_nmf(K, clusters, seed, **how):
    """Kernel NMF after Zhang and Liu (2009), and k-means on the codes.

    φ(X) ≈ φ_W B has basis vectors φ_W in the kernel's space. Both sides times φ(X)ᵀ are
    K ≈ YB with Y = φ(X)ᵀφ_W, and Y and B are found by the updates of Lee and Seung.
    """
    _, B, _ = multiplicative_nmf(K, clusters, seed, **how)
    return printed_k_means(B.T, clusters, seed)
