"""Seeded draws, always made by NumPy on the host.

Draws are float64 and one row per hidden unit, so that the same seed gives the
same weights in every precision and on every device, and the first k units of a
wide draw are the k units of a narrow one.
"""

import numpy as np
from sklearn.utils import check_random_state

from ulmus.typing import Seed

__all__ = ["normal_rows", "orthogonal_rows", "sample_rows", "uniform_rows"]


def uniform_rows(seed: Seed, n_rows: int, width: int) -> np.ndarray:
    """U(−1, 1), one row per unit."""
    draw: np.ndarray = check_random_state(seed).uniform(-1.0, 1.0, (n_rows, width))
    return draw


def normal_rows(seed: Seed, n_rows: int, width: int) -> np.ndarray:
    """N(0, 1), one row per unit."""
    draw: np.ndarray = check_random_state(seed).standard_normal((n_rows, width))
    return draw


def orthogonal_rows(seed: Seed, n_rows: int, width: int) -> np.ndarray:
    """Rows orthogonal within each group of ``width``, of length √width as normal rows have."""
    rng = check_random_state(seed)
    groups = []
    for _ in range(-(-n_rows // width)):
        Q, R = np.linalg.qr(rng.standard_normal((width, width)))
        groups.append((Q * np.sign(np.diagonal(R))).T)  # signs make Q uniform (Haar)
    return np.concatenate(groups)[:n_rows] * np.sqrt(width)


def sample_rows(seed: Seed, n_rows: int, population: int) -> np.ndarray:
    """Indices of ``n_rows`` distinct rows; with repeats only past ``population``."""
    rng = check_random_state(seed)
    rounds = -(-n_rows // population)
    left = [n_rows - population * k for k in range(rounds)]
    # A whole permutation of ten million rows is 80 MB, so no second one is made of it.
    return np.concatenate([rng.permutation(population)[:count] for count in left])
