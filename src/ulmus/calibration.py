"""Decision values as probabilities.

Leave-one-out decision values are as unbiased as a validation set's, so the
temperature a of softmax(a f) is fitted to them. One positive number leaves every
order as it was: the likeliest class is always the predicted one.

With many or unequal classes, some are over-confident and others under-confident. So from three
classes on each has a scale and a bias beside the temperature, penalised towards one and zero
(vector scaling). Where another class then has a larger probability than the predicted one, both
get the same.
"""

import numpy as np

from ulmus.backends.namespace import clipped, eps, from_numpy, namespace, numpy_dtype
from ulmus.targets import chosen, copy_weight
from ulmus.typing import Array

# Bounds of log a: probabilities from nearly equal to nearly zero and one.
_BOUNDS = (-7.0, 7.0)
# The range of every fitted a.
TEMPERATURES = (float(np.exp(_BOUNDS[0])), float(np.exp(_BOUNDS[1])))
# The exponential of more is no float64.
_LARGEST_EXPONENT = 700.0
# Newton's method on log a ends at a step of this size; it takes five to seven.
_NEWTON_STEP, _NEWTON_STEPS = 1e-6, 100
# Strength of the penalty on scales and biases, in rows. On half of the visible tables 3 and 10 had
# the least log loss, and 10 on more of them.
_DRAWN = 10.0
# Fewest rows a class, on average, for scales and biases.
_ROWS_PER_CLASS = 10.0
# The range of every scale, and of every bias.
SCALES, BIASES = (0.1, 10.0), (-20.0, 20.0)


def in_rows(weight: Array | None, unit: Array | None) -> Array | None:
    """Weights whose sum is how many rows they are, where each row loses ``unit`` when it leaves.

    The smoothing of `temperature` and the penalty of `class_scaling` are in rows. With weights of
    0.01 as they are, 100 rows of wine had a log loss of .45 in place of .10.
    """
    if weight is None or unit is None:
        return weight
    return weight / copy_weight(weight, unit)


def temperature(F: np.ndarray, codes: np.ndarray, weight: np.ndarray | None = None) -> float:
    """The a > 0 that maximises the likelihood of the codes under softmax(a F), or expit(a F).

    Targets are smoothed to (N + 1)/(N + 2), as Platt does, so that a few correct rows do not give
    probabilities of one.
    """
    return float(temperatures(F[None], codes, weight)[0])


def temperatures(F: np.ndarray, codes: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
    """A `temperature` for each of several models' decision values (models × rows × outputs)."""
    c = np.ones(F.shape[1]) if weight is None else weight
    doubt = 1.0 / (c.sum() + 2.0)
    logits = _logits(F)
    own = logits[:, np.arange(len(codes)), codes]
    others = (logits.sum(axis=2) - own) / (logits.shape[2] - 1)
    return _likeliest(logits, (1.0 - doubt) * own + doubt * others, c)


def class_scaling(
    F: np.ndarray, codes: np.ndarray, a: float, weight: np.ndarray | None = None
) -> np.ndarray | None:
    """A scale s and a bias b of each class (2 × k) for softmax(a s F + b); None where they are few.

    Newton's method on the loss of `temperature`, with a penalty that draws them to one and zero.
    """
    c, k = np.ones(len(F)) if weight is None else weight, F.shape[1]
    if k < 3 or c.sum() < _ROWS_PER_CLASS * k:
        return None
    doubt, Z = 1.0 / (c.sum() + 2.0), a * F
    T = np.full(F.shape, doubt / (k - 1))
    T[np.arange(len(F)), codes] = 1.0 - doubt
    found = np.repeat([1.0, 0.0], k)
    for _ in range(_NEWTON_STEPS):
        loss, slope, curvature = _scaled_loss(found, Z, T, c)
        step = np.linalg.solve(curvature, slope)
        if np.abs(step).max() < _NEWTON_STEP:
            break
        # With few rows a Newton step may be too long; it is halved until the loss falls.
        while _scaled_loss(found - step, Z, T, c)[0] > loss and np.abs(step).max() > _NEWTON_STEP:
            step = step / 2.0
        found = found - step
    scale, bias = found.reshape(2, k)
    return np.stack([np.clip(scale, *SCALES), np.clip(bias, *BIASES)])


def _scaled_loss(
    found: np.ndarray, Z: np.ndarray, T: np.ndarray, c: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray]:
    """The loss of scales and biases, its gradient and its Hessian."""
    k = Z.shape[1]
    z = Z * found[:k] + found[k:]
    z -= z.max(axis=1, keepdims=True)
    P = np.exp(z)
    total = P.sum(axis=1, keepdims=True)
    P /= total
    away = found - np.repeat([1.0, 0.0], k)
    loss = c @ (np.log(total[:, 0]) - (T * z).sum(axis=1)) + _DRAWN / 2.0 * float(away @ away)
    G = c[:, None] * (P - T)
    slope = np.concatenate([(G * Z).sum(axis=0), G.sum(axis=0)]) + _DRAWN * away
    own = [c @ (P * Z**n) for n in (0, 1, 2)]
    U = np.sqrt(c)[:, None] * np.concatenate([P * Z, P], axis=1)
    blocks = [[np.diag(own[2]), np.diag(own[1])], [np.diag(own[1]), np.diag(own[0])]]
    return float(loss), slope, np.block(blocks) - U.T @ U + _DRAWN * np.eye(2 * k)


def likelihoods(F: np.ndarray, codes: np.ndarray, heat: np.ndarray) -> np.ndarray:
    """The probability of every row's code under several models (models × rows)."""
    z = np.moveaxis(heat[:, None, None] * _logits(F), 2, 0)
    own = np.take_along_axis(z, codes[None, None, :], axis=0)
    return np.asarray(1.0 / np.exp(np.minimum(z - own, _LARGEST_EXPONENT)).sum(axis=0))


def temperature_for(F: np.ndarray, P: np.ndarray) -> float:
    """The a > 0 under which softmax(a F), or expit(a F), is closest to the probabilities P."""
    logits = _logits(F[None])
    return float(_likeliest(logits, (P * logits).sum(axis=2), np.ones(len(F)))[0])


def _logits(F: np.ndarray) -> np.ndarray:
    return np.concatenate([-F / 2, F / 2], axis=-1) if F.shape[-1] == 1 else F


def _likeliest(logits: np.ndarray, expected: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The a for logits whose mean under the true probabilities is ``expected``.

    The loss Σ c (log Σ exp(a z) − a ē) is convex in a. Where a Newton step would leave the bounds
    within which its slope changes sign, their middle is taken.
    """
    largest = logits.max(axis=2)
    # Classes come first, so that sums over them run along the memory.
    z = np.ascontiguousarray(np.moveaxis(logits - largest[:, :, None], 2, 0))
    expected, left = expected - largest, np.arange(len(logits))
    (low, high), found = np.tile(np.array(_BOUNDS)[:, None], len(logits)), np.zeros(len(logits))
    for _ in range(_NEWTON_STEPS):
        log_a = found[left]
        a = np.exp(log_a)
        P = np.exp(a[:, None] * z)
        total, mean, square = P.sum(axis=0), _sums(P, z), _sums(P, z)
        mean /= total
        slope = (mean - expected) @ weight
        curvature = a * ((square / total - mean**2) @ weight)
        low, high = np.where(slope <= 0, log_a, low), np.where(slope >= 0, log_a, high)
        with np.errstate(divide="ignore", invalid="ignore"):
            step = log_a - slope / curvature
        found[left] = step = np.where((step > low) & (step < high), step, (low + high) / 2)
        on = np.abs(step - log_a) >= _NEWTON_STEP
        left, low, high, z, expected = left[on], low[on], high[on], z[:, on], expected[on]
        if not len(left):
            break
    return np.exp(found)


def _sums(P: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Σ P z over classes; P is then P z."""
    P *= z
    return np.asarray(P.sum(axis=0))


def probabilities(F: Array, a: float, scaling: np.ndarray | None = None) -> Array:
    """One row of class probabilities for each row of decision values.

    ``scaling`` is what `class_scaling` gives. The class that F names is the likeliest.
    """
    xp = namespace(F)
    logits = xp.concat([0.0 * F, F], axis=1) if F.shape[1] == 1 else F
    if scaling is None:
        logits = a * (logits - xp.max(logits, axis=1, keepdims=True))
    else:
        scale, bias = (from_numpy(each, F, F.dtype) for each in (a * scaling[0], scaling[1]))
        most = float(np.finfo(numpy_dtype(F.dtype)).max) / 4.0
        with np.errstate(over="ignore"):  # differences of infinite logits would be NaN
            logits = clipped(logits * scale + bias, -most, most)
        logits = logits - xp.max(logits, axis=1, keepdims=True)
    P = xp.exp(logits)
    P /= xp.sum(P, axis=1, keepdims=True)
    # Where another class is likelier, or as likely to rounding, the choice stands.
    picked = chosen(F)
    tied = picked != xp.argmax(P, axis=1)
    if bool(xp.any(tied)):
        own = picked[:, None] == from_numpy(np.arange(P.shape[1]), picked, picked.dtype)
        above = xp.max(P, axis=1, keepdims=True) * (1.0 + 2.0 * eps(P.dtype))
        P = xp.where(own & tied[:, None], above, P)
        P /= xp.sum(P, axis=1, keepdims=True)
    return P


def label_temperatures(F: np.ndarray, T: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
    """A temperature for each label, from decision values and ±1 targets of left-out rows."""
    columns = zip(F.T, (T > 0).T.astype(int), strict=True)
    return np.array([temperature(f[:, None], own, weight) for f, own in columns])


def label_probabilities(F: Array, temperatures: np.ndarray) -> Array:
    """The probability that a row has each label: 1/(1 + exp(−aF))."""
    a = from_numpy(temperatures, F, F.dtype)
    with np.errstate(over="ignore"):
        P: Array = 1.0 / (1.0 + namespace(F).exp(-a * F))
    return P
