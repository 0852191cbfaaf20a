"""Labels and values as a target matrix, and decision values as classes.

Every kind of target has a basis Y (n × b) and a coding E (b × m); the targets of a solve are
T = Y E. Sums over Y add across batches whatever E is, and a new class is a column of Y that was
zero so far. T is built one block at a time.
"""

from collections.abc import Hashable
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from array_api_compat import device as device_of
from sklearn.utils.validation import _check_sample_weight

from ulmus.arguments import is_number
from ulmus.backends.namespace import is_sparse, namespace, on_host, placed, take
from ulmus.exceptions import InvalidInputError, InvalidParameterError
from ulmus.typing import Array, DType, Rows
from ulmus.validation import missing, plain

# Squares of this and of its reciprocal, summed over many rows, are within float64's range.
_LARGEST = 1e150
# Labels that are looked up together; a copy of ten million would be 80 MB.
_STEP = 2**16


@dataclass(frozen=True)
class ClassTargets:
    """Y is one-hot; T is +1 for a row's own class and −1 for the others.

    Two classes need one column, +1 for the second. ``totals`` are the classes' weights, where class
    weights are balanced, so that leaving a row out changes them.
    """

    codes: Array
    n_classes: int
    totals: np.ndarray | None = None

    def __len__(self) -> int:
        return int(self.codes.shape[0])

    @property
    def array(self) -> Array:
        """The codes, which live where the targets do."""
        return self.codes

    @property
    def width(self) -> int:
        """A column of Y for each class."""
        return self.n_classes

    @property
    def outputs(self) -> int:
        """One for each class, or one for two."""
        return 1 if self.n_classes == 2 else self.n_classes

    def encoded(self, Y: Array) -> Array:
        """Y E."""
        return signed(Y)

    def placed(self, like: Array) -> "ClassTargets":
        """The same where ``like`` lives."""
        return replace(self, codes=placed(self.codes, like))

    def take(self, rows: Any) -> "ClassTargets":
        """Those of some rows, whose weights stay as they are."""
        return ClassTargets(take(self.codes, rows), self.n_classes)

    def block(self, rows: Any, dtype: DType) -> Array:
        """One-hot rows."""
        xp = namespace(self.codes)
        codes = take(self.codes, rows)
        every = xp.arange(self.n_classes, dtype=codes.dtype, device=device_of(codes))
        return xp.astype(codes[:, None] == every, dtype)


@dataclass(frozen=True)
class ValueTargets:
    """Y is the target columns, and T is Y."""

    values: Array

    def __len__(self) -> int:
        return int(self.values.shape[0])

    @property
    def array(self) -> Array:
        return self.values

    @property
    def width(self) -> int:
        return int(self.values.shape[1])

    @property
    def outputs(self) -> int:
        return self.width

    def encoded(self, Y: Array) -> Array:
        return Y

    def placed(self, like: Array) -> "ValueTargets":
        return replace(self, values=placed(self.values, like))

    def take(self, rows: Any) -> "ValueTargets":
        return replace(self, values=take(self.values, rows))

    def block(self, rows: Any, dtype: DType) -> Array:
        return namespace(self.values).astype(take(self.values, rows), dtype, copy=False)


@dataclass(frozen=True)
class LabelTargets(ValueTargets):
    """Y has a column for each of several labels: +1 for rows that have it, −1 for the others."""


# What the rows should map to, given out block by block.
Targets = ClassTargets | ValueTargets


def check_size(name: str, values: np.ndarray) -> None:
    """Refuse numbers (NaN aside) whose squares overflow, or all underflow."""
    size = float(np.max(np.abs(values), initial=0.0, where=~np.isnan(values)))
    if size > _LARGEST or 0.0 < size < 1.0 / _LARGEST:
        raise InvalidInputError(
            f"{name} goes up to {size:.3g}, and float64 cannot hold the square of that; "
            f"{'divide' if size > 1.0 else 'multiply'} it by a constant."
        )


def coded(targets: Targets, rows: Any, dtype: DType) -> Array:
    """T = Y E for these rows."""
    return targets.encoded(targets.block(rows, dtype))


def signed(Y: Array) -> Array:
    """Y E for columns of Y that are classes: E is 2I − 11ᵀ, or (−1, 1)ᵀ for two classes.

    E is never made: of ten thousand classes it would be 800 MB.
    """
    if Y.shape[-1] == 2:
        return Y[..., 1:] - Y[..., :1]
    return 2.0 * Y - namespace(Y).sum(Y, axis=-1, keepdims=True)


def chosen(F: Array) -> Array:
    """The class of decision values, or of ±1 targets, F (… × m)."""
    xp = namespace(F)
    return xp.astype(F[..., 0] > 0, xp.int64) if F.shape[-1] == 1 else xp.argmax(F, axis=-1)


def wrong(T: Array, F: Array, several: bool = False) -> Array:
    """Where decision values F (… × m) give another class than the ±1 targets T.

    With ``several`` labels a row, where any of them is wrong.
    """
    if several:
        return namespace(F).any((F > 0) != (T > 0), axis=-1)
    return chosen(F) != chosen(T)


def distinct(y: np.ndarray) -> np.ndarray:
    """The labels that occur, sorted; labels of several types by type first."""
    try:
        return np.unique(y)
    except TypeError:
        labels = sorted(set(y.tolist()), key=lambda label: (type(label).__name__, label))
        return np.array(labels, dtype=object)


def joined_labels(known: np.ndarray, more: np.ndarray) -> np.ndarray:
    """Both sets of labels; refuses kinds that are not in ``known``: NumPy would merge 0 and "0"."""
    before, after = _kinds(known), _kinds(more)
    for kind in after.keys() - before.keys():
        earlier, example = next(iter(before.items()))
        raise InvalidInputError(
            f"y has labels that are {kind}, such as {after[kind]!r}, and the earlier ones are "
            f"{earlier}, such as {example!r}. Labels keep their kind: convert all of y alike "
            "before the first batch."
        )
    return np.concatenate([known, more])


def _kinds(y: np.ndarray) -> dict[str, Any]:
    """The kinds of labels that occur, and an example of each."""
    if y.dtype != object:
        return {_kind(label): label for label in y[:1].tolist()}
    return {_kind(label): label for label in reversed(y.tolist())}


def _kind(label: Any) -> str:
    if isinstance(label, Real):
        return "numbers"
    return "text" if isinstance(label, str) else f"of the type {type(label).__name__}"


def plain_labels(y: Any) -> Any:
    """y, dense where it is a sparse matrix of indicators."""
    return y.toarray() if is_sparse(y) else y


def check_labels(y: np.ndarray) -> None:
    """Refuse labels that cannot be hashed, such as lists."""
    for label in y.ravel().tolist() if y.dtype == object else ():
        if not isinstance(label, Hashable):
            raise InvalidInputError(
                f"y has a label of the type {type(label).__name__}, {str(label)[:40]}; a label is "
                "one number or word."
            )


def numeric(y: np.ndarray, name: str = "y") -> np.ndarray:
    """y as floating-point numbers, or an error where it is text, dates or nested."""
    words = y.dtype == object and any(isinstance(entry, str | bytes) for entry in y.ravel())
    if y.dtype.kind not in "biufO" or words:
        if y.dtype.kind == "c":
            raise InvalidInputError(f"Complex data not supported: {name} is {y.dtype}.")
        kind = "text" if words or y.dtype.kind in "SU" else f"of the type {y.dtype}"
        raise InvalidInputError(f"{name} must be numbers, and is {kind}; convert it first.")
    try:
        return y if y.dtype in (np.float32, np.float64) else y.astype(float)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInputError(
            f"{name} must be numbers, one for each row and output, and some entries are none."
        ) from error


def codes_of(y: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Each label's position among the classes, and −1 where it is none of them."""
    if y.dtype == object or classes.dtype == object:
        positions = {label: code for code, label in enumerate(classes.tolist())}
        return np.array([positions.get(label, -1) for label in y.tolist()], dtype=np.intp)
    codes = np.empty(len(y), dtype=np.intp)
    for start in range(0, len(y), _STEP):
        labels = y[start : start + _STEP]
        places = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
        codes[start : start + _STEP] = np.where(classes[places] == labels, places, -1)
    return codes


def known_labels(y: np.ndarray) -> np.ndarray:
    """Where a label is neither missing nor the number −1."""
    known = ~missing(y)
    return known & (y != -1) if y.dtype.kind in "ifO" else known


def balanced(totals: np.ndarray) -> np.ndarray:
    """S/(m Sₜ) for every class, and zero for one without rows."""
    factors = np.zeros(len(totals))
    np.divide(totals.sum(), np.count_nonzero(totals) * totals, out=factors, where=totals > 0)
    return factors


def is_balanced(class_weight: dict[Any, float] | str | None) -> bool:
    """Whether classes are to have equal totals."""
    return isinstance(class_weight, str) and class_weight == "balanced"


def class_factors(
    class_weight: dict[Any, float] | str | None, classes: np.ndarray, totals: np.ndarray | None
) -> np.ndarray | None:
    """One factor per class, or None for none; ``totals`` are the classes' weights, if known."""
    if class_weight is None:
        return None
    if isinstance(class_weight, dict):
        if not all(is_number(factor) for factor in class_weight.values()):
            raise InvalidParameterError(
                f"class_weight={class_weight!r} must hold positive numbers."
            )
        return np.array([float(class_weight.get(label, 1.0)) for label in classes.tolist()])
    if not is_balanced(class_weight):
        raise InvalidParameterError(
            f"class_weight={class_weight!r} must be a dict, 'balanced' or None."
        )
    if totals is None:
        raise InvalidParameterError(
            "class_weight='balanced' needs all the labels at once, and these come in batches; "
            "use a dict, or sample_weight."
        )
    return balanced(totals)


def copies(weight: np.ndarray) -> np.ndarray:
    """How many equal rows each row stands for, by the weights of all rows together.

    Weights that are counts, whole numbers of which the least is one, say it. Other weights say how
    much a row matters, and each is one row. If a row lost one of its weight there, w − 1 of it
    would stay and predict itself: with weights from U(0, 3), intervals for 90 % of the rows held
    55 % (600 rows of friedman1).
    """
    counts = weight.min(initial=np.inf) == 1.0 and bool((weight == np.floor(weight)).all())
    return weight if counts else np.ones(len(weight))


def lost(weight: np.ndarray | None) -> np.ndarray | None:
    """What each row loses of its weight when it is left out: one copy."""
    return None if weight is None else weight / copies(weight)


def copy_weight(weight: Array | None, unit: Array | None) -> float:
    """The mean weight of one copy of a row, which is what C is multiplied by.

    ``unit`` is what each row loses when it is left out, None for all of it.
    """
    if weight is None:
        return 1.0
    xp = namespace(weight)
    return float(xp.sum(weight) / xp.sum(weight / (weight if unit is None else unit)))


def weighted_rows(
    X: Rows, y: np.ndarray, sample_weight: Any
) -> tuple[Rows, np.ndarray, np.ndarray | None]:
    """The rows with positive weight, and their weights; None without sample_weight."""
    if sample_weight is None:
        return X, y, None
    weight = numeric(plain(on_host(sample_weight)), "sample_weight")
    if missing(weight).any():
        raise InvalidInputError(
            f"sample_weight has {missing(weight).sum():,} missing values; give every row a number."
        )
    weight = _check_sample_weight(weight, y, dtype=float, ensure_non_negative=True)
    if not weight.any():
        raise InvalidInputError("All sample weights are zero; at least one row must count.")
    check_size("sample_weight", weight)
    if not weight.all():
        counts = np.flatnonzero(weight)
        X, y, weight = take(X, counts), y[counts], weight[counts]
    return X, y, weight
