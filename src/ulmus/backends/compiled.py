"""Coordinate descent on a box, compiled by Numba.

Rows may be float32 or float64; every sum and every variable is float64. The module imports Numba at
its top: import it through ``methods.hinge.loops``.
"""

import numpy as np
from numba import get_num_threads, njit

from ulmus.backends.threads import cpus

# Sums may be reordered, so that they are vectorised.
_FAST = {"reassoc", "contract", "nsz"}
_loop = njit(cache=True, nogil=True, fastmath=_FAST)


def threads() -> int:
    """The number of loops that may run at once: the CPUs, or NUMBA_NUM_THREADS if fewer."""
    return min(int(get_num_threads()), cpus())


@_loop
def _dot(a, b):  # type: ignore[no-untyped-def]
    total = 0.0
    for k in range(a.shape[0]):
        total += a[k] * b[k]
    return total


@_loop
def _add(factor, a, to):  # type: ignore[no-untyped-def]
    for k in range(a.shape[0]):
        to[k] += factor * a[k]


@_loop
def _squares(H):  # type: ignore[no-untyped-def]
    """‖h‖² of every row."""
    out = np.empty(H.shape[0])
    for i in range(H.shape[0]):
        # float32 entries are widened before they are squared
        out[i] = _dot(H[i], H[i].astype(np.float64))
    return out


@_loop
def margins(H, rows, w):  # type: ignore[no-untyped-def]
    """H[rows] w."""
    out = np.empty(rows.shape[0])
    for s in range(rows.shape[0]):
        out[s] = _dot(H[rows[s]], w)
    return out


@_loop
def combined(H, rows, x):  # type: ignore[no-untyped-def]
    """H[rows]ᵀ x; rows with a zero in x are not read."""
    w = np.zeros(H.shape[1])
    for s in range(rows.shape[0]):
        if x[s] != 0.0:
            _add(x[s], H[rows[s]], w)
    return w


@_loop
def _next(state):  # type: ignore[no-untyped-def]
    """The next number of a xorshift sequence, whose state is not shared by threads."""
    state ^= state << np.uint64(13)
    state ^= state >> np.uint64(7)
    state ^= state << np.uint64(17)
    return state


@_loop
def descend(H, sign, upper, alpha, w, seed, max_epochs, tol):  # type: ignore[no-untyped-def]
    """Dual coordinate descent on min ½‖Σ αᵢ yᵢ hᵢ‖² − Σ αᵢ, 0 ≤ α ≤ upper, in place.

    As Hsieh et al. (2008): rows in random order, each set to its own minimum. A row at a bound
    whose gradient exceeds the largest violation of the last epoch is put aside until the others
    have converged. ``w`` must be Σ αᵢ yᵢ hᵢ. Gives the number of epochs.
    """
    n = alpha.shape[0]
    order, square = np.arange(n), _squares(H)
    active, epochs = n, 0
    highest_before, lowest_before = np.inf, -np.inf
    # splitmix's constants spread nearby seeds apart; the state must not be zero
    state = (np.uint64(seed) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15) | np.uint64(1)
    while epochs < max_epochs:
        for s in range(active - 1, 0, -1):
            state = _next(state)
            r = np.int64((state >> np.uint64(11)) % np.uint64(s + 1))
            order[s], order[r] = order[r], order[s]
        highest, lowest = -np.inf, np.inf
        s = 0
        while s < active:
            i = order[s]
            gradient = sign[i] * _dot(H[i], w) - 1.0
            old = alpha[i]
            pull = gradient
            if old <= 0.0:
                if gradient > highest_before:
                    active -= 1
                    order[s], order[active] = order[active], order[s]
                    continue
                pull = min(gradient, 0.0)
            elif old >= upper[i]:
                if gradient < lowest_before:
                    active -= 1
                    order[s], order[active] = order[active], order[s]
                    continue
                pull = max(gradient, 0.0)
            highest, lowest = max(highest, pull), min(lowest, pull)
            if pull != 0.0:
                # A row of zeros has no curvature: its gradient moves it to the bound.
                step = gradient / square[i] if square[i] > 0.0 else np.inf * gradient
                new = min(max(old - step, 0.0), upper[i])
                if new != old:
                    alpha[i] = new
                    _add((new - old) * sign[i], H[i], w)
            s += 1
        epochs += 1
        if highest - lowest <= tol:
            if active == n:
                break
            # The others have converged: check all rows again, with none put aside.
            active, highest_before, lowest_before = n, np.inf, -np.inf
            continue
        highest_before = highest if highest > 0.0 else np.inf
        lowest_before = lowest if lowest < 0.0 else -np.inf
    return epochs


@_loop
def descend_gram(Q, gradient, upper, alpha, max_steps, tol):  # type: ignore[no-untyped-def]
    """Coordinate descent on min ½αᵀQα + pᵀα, 0 ≤ α ≤ upper, in place.

    ``gradient`` is Qα + p and is updated. Each step moves the coordinate with the largest gain.
    Returns the number of steps.
    """
    n = alpha.shape[0]
    for step in range(max_steps):
        best, chosen, target, worst = 0.0, -1, 0.0, 0.0
        for i in range(n):
            g, old = gradient[i], alpha[i]
            if (g > 0.0 and old <= 0.0) or (g < 0.0 and old >= upper[i]) or g == 0.0:
                continue
            worst = max(worst, abs(g))
            new = (
                min(max(old - g / Q[i, i], 0.0), upper[i])
                if Q[i, i] > 0.0
                else (0.0 if g > 0.0 else upper[i])
            )
            gain = -(new - old) * (g + 0.5 * (new - old) * Q[i, i])
            if gain > best:
                best, chosen, target = gain, i, new
        if chosen < 0 or worst <= tol:
            return step
        _add(target - alpha[chosen], Q[chosen], gradient)
        alpha[chosen] = target
    return max_steps
