"""Data that are made, not measured: each an exact function of its seed.

Draws come from NumPy's legacy generator, whose numbers never change between versions.
"""

import numpy as np
from scipy.special import ndtri
from sklearn.utils import check_random_state

from ulmus.arguments import check_whole
from ulmus.exceptions import InvalidParameterError
from ulmus.typing import Seed

# Breiman's triangles stand at these places; a class is a mixture of two of them. The classes are
# numbered as in the published file.
_TRIANGLES = np.maximum(6.0 - np.abs(np.arange(1, 22) - np.array([[7], [11], [15]])), 0.0)
_PAIRS = np.array([(0, 2), (0, 1), (1, 2)])

_LINES = [
    *((3 * k, 3 * k + 1, 3 * k + 2) for k in range(3)),
    *((k, k + 3, k + 6) for k in range(3)),
    (0, 4, 8),
    (2, 4, 6),
]


def make_g50c(
    seed: Seed = 0, *, n_samples: int = 550, n_features: int = 50, bayes_error: float = 0.05
) -> tuple[np.ndarray, np.ndarray]:
    """Two spherical Gaussians with a Bayes error of ``bayes_error``, classes 0 and 1.

    With means ±μ and unit covariance the best rule errs with probability Φ(−‖μ‖), and μ is the
    same in every column. The defaults are the distribution of the benchmark G50C. Half of the
    rows, or one more, are of class 1.
    """
    check_whole("n_samples", n_samples, least=1)
    check_whole("n_features", n_features, least=1)
    if not 0.0 < bayes_error < 0.5:
        raise InvalidParameterError(f"bayes_error={bayes_error!r} must lie between 0 and 0.5.")
    rng = check_random_state(seed)
    y = rng.permutation(np.arange(n_samples) % 2 == 0).astype(np.int64)
    mean = -ndtri(bayes_error) / np.sqrt(n_features)
    X = rng.standard_normal((n_samples, n_features))
    X += mean * (2 * y[:, None] - 1)
    return X, y


def make_waveform(
    seed: Seed = 0, *, n_samples: int = 5000, n_noise: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Breiman's waves: x = u hᵢ + (1 − u) hⱼ + ε with three triangles h and u uniform on [0, 1].

    The classes are 0 to 2, and the best rule is right for about 86 % of the rows. ``n_noise``
    columns of pure noise follow the 21; the noisy version has 19.
    """
    check_whole("n_samples", n_samples, least=1)
    check_whole("n_noise", n_noise, least=0)
    rng = check_random_state(seed)
    y = rng.randint(0, 3, n_samples).astype(np.int64)
    u = rng.uniform(size=(n_samples, 1))
    X = rng.standard_normal((n_samples, 21 + n_noise))
    first, second = _TRIANGLES[_PAIRS[y]].transpose(1, 0, 2)
    X[:, :21] += u * first + (1.0 - u) * second
    return X, y


def make_synthetic_control(
    seed: Seed = 0, *, n_per_class: int = 100
) -> tuple[np.ndarray, np.ndarray]:
    """Control charts of six kinds, by the equations of Alcock and Manolopoulos (1999).

    At times t = 0, …, 59 every chart is 30 + 2 r(t) with r uniform on [−3, 3], and to this is added

    - normal: nothing;
    - cyclic: a sin(2πt / T), a and T uniform on [10, 15];
    - increasing, decreasing: ±g t, g uniform on [0.2, 0.5];
    - upward, downward shift: ±x from a time on, x uniform on [7.5, 20], the time on [20, 40].

    One chart in each row, kind after kind as in the published file, 0 to 5 in the order above.
    """
    check_whole("n_per_class", n_per_class, least=1)
    rng = check_random_state(seed)
    t = np.arange(60)

    def uniform(low: float, high: float) -> np.ndarray:
        draw: np.ndarray = rng.uniform(low, high, (n_per_class, 1))
        return draw

    kinds = [np.zeros((n_per_class, 60)), uniform(10, 15) * np.sin(2 * np.pi * t / uniform(10, 15))]
    kinds += [sign * uniform(0.2, 0.5) * t for sign in (1, -1)]
    kinds += [sign * uniform(7.5, 20) * (t >= uniform(20, 40)) for sign in (1, -1)]
    X = 30.0 + 2.0 * rng.uniform(-3, 3, (6 * n_per_class, 60)) + np.concatenate(kinds)
    return X, np.repeat(np.arange(6), n_per_class)


def tic_tac_toe() -> tuple[np.ndarray, np.ndarray]:
    """All 958 boards on which a game of tic-tac-toe can end, x having moved first.

    They are found by playing every game out, and are the published file row for row. The squares
    are 1 for x, −1 for o, 0 for blank; y is 1 where x has three in a row (626 boards).
    """
    ends: dict[tuple[int, ...], int] = {}
    seen: set[tuple[int, ...]] = set()

    def play(board: tuple[int, ...], mover: int) -> None:
        if board in seen:
            return
        seen.add(board)
        winner = next((board[a] for a, b, c in _LINES if board[a] == board[b] == board[c] != 0), 0)
        if winner or 0 not in board:
            ends[board] = winner
            return
        for square in range(9):
            if board[square] == 0:
                play((*board[:square], mover, *board[square + 1 :]), -mover)

    play((0,) * 9, 1)
    # As in the published file: wins of x, wins of o, draws; then x, o, blank square by square.
    rank = (1, -1, 0).index
    order = sorted(ends, key=lambda board: (rank(ends[board]), [rank(square) for square in board]))
    y = np.array([ends[board] == 1 for board in order], dtype=np.int64)
    return np.array(order, dtype=np.int8), y
