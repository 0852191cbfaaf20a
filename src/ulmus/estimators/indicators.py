"""Several labels for each row: y is a matrix of zeros and ones, a column for each label."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ulmus.backends.namespace import from_numpy, is_sparse, namespace
from ulmus.calibration import temperature
from ulmus.estimators.value_labels import KnownValues
from ulmus.exceptions import InvalidInputError
from ulmus.problem import Problem
from ulmus.targets import LabelTargets
from ulmus.typing import Array


@dataclass(frozen=True)
class KnownLabels(KnownValues):
    """The number of labels of the rows so far; ±1 targets have no intercept."""

    intercept: bool = False
    flat: bool = False
    balances: ClassVar[bool] = False

    def met(self, y: np.ndarray, weight: np.ndarray | None = None) -> "KnownLabels":
        """With a batch, which must have the same number of labels."""
        if y.ndim == 1:
            raise InvalidInputError(
                "y has one label for each row, and that of the earlier rows was a matrix with a "
                f"column for each of {self.columns} labels; give it so."
            )
        known: Any = super().met(y)
        return known

    surveyed = recalled = met

    @property
    def classes(self) -> np.ndarray:
        """The numbers of the labels, as scikit-learn has them."""
        return np.arange(self.columns or 0)

    def problem(self, y: np.ndarray, weight: np.ndarray | None, whole: bool = False) -> Problem:
        """The targets of some rows and their weights."""
        unit = None if weight is None else np.minimum(weight, 1.0)
        return Problem(None, LabelTargets(2.0 * y - 1.0), weight, unit)


def has_several(model: Any) -> bool:
    """Whether the rows of a fitted model have several labels each."""
    return getattr(model, "_indicator", False)


def plain_labels(y: Any) -> Any:
    """y, dense where it is a sparse matrix of indicators."""
    return y.toarray() if is_sparse(y) else y


def is_indicator(model: Any, y: np.ndarray | None) -> bool:
    """Whether y is a matrix with a column for each of several labels, which must be zeros and ones.

    Refuses one for a model that takes a single label for each row.
    """
    if y is None or y.ndim != 2 or y.shape[1] < 2:
        return False
    if not model._takes_indicators:
        raise InvalidInputError(
            f"y has {y.shape[1]} columns, and {type(model).__name__} takes one label for each row. "
            "ELMClassifier and KernelELMClassifier take several; "
            "sklearn.multioutput.MultiOutputClassifier fits a model for each column."
        )
    if y.dtype.kind not in "biuf" or not np.isin(y, (0, 1)).all():
        raise InvalidInputError(
            f"y has {y.shape[1]} columns, one for each label, and entries that are not 0 or 1. Of "
            "several targets with more than two classes, fit a model for each: "
            "sklearn.multioutput.MultiOutputClassifier."
        )
    return True


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
