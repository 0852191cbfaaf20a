"""Labels as targets of an estimator, and its outputs as labels."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score
from sklearn.utils.multiclass import check_classification_targets

from ulmus.backends.namespace import (
    from_numpy,
    is_numpy,
    namespace,
    on_host,
    take,
    to_numpy,
)
from ulmus.calibration import (
    class_scaling,
    label_probabilities,
    label_temperatures,
    probabilities,
    temperature,
)
from ulmus.distributed import by_blocks, scored
from ulmus.estimators.intervals import predict_set
from ulmus.estimators.value_labels import KnownLabels, encode
from ulmus.exceptions import InvalidInputError, InvalidParameterError
from ulmus.problem import ErrorPath, Moments, Problem
from ulmus.targets import (
    ClassTargets,
    check_labels,
    chosen,
    class_factors,
    codes_of,
    copies,
    distinct,
    is_balanced,
    joined_labels,
    plain_labels,
)
from ulmus.typing import Array, Rows
from ulmus.validation import complete, valid_rows_and_target


class ClassLabels:
    """For an estimator with ``class_weight`` whose ``_outputs`` are decision values.

    Parameters
    ----------
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes; "balanced" gives every class the same total weight.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, or the numbers of the columns where y is a matrix of several.
    beta_ : ndarray of shape (n_hidden, n_classes), or (n_hidden, 1) for two classes
        The output weights β.
    loo_score_ : float
        Accuracy on left-out rows, where C was chosen.
    temperature_ : float
        Factor of the decision values before the softmax, fitted to left-out rows. With several
        labels in each row, an array with one for each label.
    class_scaling_ : ndarray of shape (2, n_classes)
        A further factor and a bias for the decision values of each class. Fitted for three or more
        classes, if each has ten left-out rows.
    feature_importances_ : ndarray of shape (n_features,)
        Importance of each column: the mean squared gradient of the outputs, with columns in units
        of their standard deviation, as shares that sum to one. Computed on access.
    """

    classes_: np.ndarray
    _declared: bool
    # Whether y was a matrix with a column for each of several labels.
    _indicator: bool
    _takes_indicators = False
    _intercept = False
    predict_set, _encode = predict_set, encode

    @by_blocks
    def decision_function(self: Any, X: Rows) -> Array:
        """Decision values of each class, about −1 to 1.

        Returns
        -------
        F : ndarray of shape (n_samples, n_classes), or (n_samples,) for two classes
            Hβ; for two classes, positive means the second. Of several labels in each row,
            positive means that it has the label.
        """
        F = self._outputs(X)
        return F[:, 0] if len(self.classes_) == 2 and not self._several else F

    @by_blocks
    def predict(self: Any, X: Rows) -> Array:
        """Predicted labels.

        Returns
        -------
        y : ndarray of shape (n_samples,), or (n_samples, n_classes) of zeros and ones
            The label with the largest decision value; of several in each row, those with a
            positive one.
        """
        F = self._outputs(X)
        if self._several:
            return namespace(F).astype(F > 0, namespace(F).int64)
        # A stream may begin with one class; the sign of its one column has no meaning.
        alone = len(self.classes_) == 1
        return self._named(namespace(F).argmax(F, axis=1) if alone else chosen(F))

    def _named(self, codes: Array) -> Array:
        """The labels of these codes, on the device unless they are strings or objects."""
        if is_numpy(codes) or self.classes_.dtype.kind not in "biuf":  # a device has no strings
            return self.classes_[to_numpy(codes)]
        return take(from_numpy(self.classes_, codes), codes)

    def score(self: Any, X: Rows, y: Any, sample_weight: Any = None) -> float:
        """The part of the rows whose label, or all of whose labels, are predicted right.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or Dask collection
            The rows.
        y : array-like of shape (n_samples,)
            Their labels; a Dask collection when X is one.

        Returns
        -------
        accuracy : float
            From 0 to 1.
        """
        return scored(accuracy_score, plain_labels(y), self.predict(X), sample_weight)

    @property
    def _several(self) -> bool:
        return getattr(self, "_indicator", False)

    def _validate_target(self, X: Rows, y: Any, reset: bool) -> tuple[Rows, np.ndarray]:
        """X and y, checked."""
        instead = "use SemiSupervisedELMClassifier, which learns from rows without a label"
        y = complete(on_host(plain_labels(y)), instead)
        if y is not None:
            check_labels(y)
        several = is_indicator(self, y)
        X, y = valid_rows_and_target(self, X, y, reset, multi_output=several)
        if several:
            return X, y.astype(np.int8)
        if y.dtype != object or all(isinstance(label, str) for label in y):
            check_classification_targets(y)
        return X, y

    def _known(self: Any) -> Any:
        """The classes that were fitted, if any."""
        if self._several:
            return KnownLabels(columns=len(self.classes_))
        classes, fitted = getattr(self, "classes_", None), "_indicator" in vars(self)
        declared = getattr(self, "_declared", False)
        return KnownClasses(self.class_weight, classes, declared=declared, fitted=fitted)

    def _hold(self, known: Any) -> None:
        if not np.array_equal(known.classes, getattr(self, "classes_", ())):
            vars(self).pop("class_scaling_", None)
        self.classes_, self._indicator = known.classes, isinstance(known, KnownLabels)

    def _score_of(self, path: ErrorPath, problem: Problem) -> float | None:
        """The accuracy on left-out rows, at the best C of the path."""
        return None if path.error_rate is None else 1.0 - path.score[0]

    def _calibrate(
        self: Any, targets: Any, loo: Array, rows: np.ndarray, weight: Array | None
    ) -> None:
        """Fit the temperature to the decision values of left-out rows."""
        if len(rows) == 0:
            return  # it stays as it is until more rows have come
        vars(self).pop("class_scaling_", None)
        if len(self.classes_) == 1:
            self.temperature_ = 1.0
            return
        weight = None if weight is None else to_numpy(take(weight, rows))
        if self._several:
            T = to_numpy(take(targets.values, rows))
            self.temperature_ = label_temperatures(to_numpy(loo), T, weight)
            return
        codes, F = to_numpy(take(targets.codes, rows)), to_numpy(loo)
        self.temperature_ = temperature(F, codes, weight)
        scaling = class_scaling(F, codes, self.temperature_, weight)
        if scaling is not None:
            self.class_scaling_ = scaling

    def __sklearn_tags__(self: Any) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        # Weights of classes are for one label in each row.
        tags.classifier_tags.multi_label = self._takes_indicators and self.class_weight is None
        return tags

    def _declare(self, classes: np.ndarray) -> None:
        """Set the classes before the first rows."""
        classes, waiting = distinct(classes), vars(self).get("_waiting")
        known: Any = None if waiting is None else waiting.known
        if getattr(known, "declared", False) and np.array_equal(classes, known.classes):
            return
        if hasattr(self, "_kept") and not np.array_equal(classes, self.classes_):
            raise InvalidInputError(
                f"classes={classes.tolist()} is not what the earlier calls had: "
                f"{self.classes_.tolist()}."
            )
        self.classes_, self._declared = classes, True


def is_indicator(model: Any, y: np.ndarray | None) -> bool:
    """Whether y has a column of zeros and ones for each label; refused where a model takes one."""
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


@dataclass(frozen=True)
class KnownClasses:
    """The classes of the rows so far.

    ``totals`` are the classes' weights, where all rows are counted before any is fitted.
    ``declared`` classes are all there will be. ``fitted`` says whether rows with one label each
    have been fitted.
    """

    class_weight: Any
    classes: Any = None
    totals: np.ndarray | None = None
    declared: bool = False
    fitted: bool = False

    @property
    def balances(self) -> bool:
        """Whether the classes are to have equal totals."""
        return is_balanced(self.class_weight)

    def surveyed(self, y: np.ndarray, weight: np.ndarray | None) -> Any:
        """With the labels and weights of some rows."""
        if y.ndim == 2:
            return self._several(y)
        every = self._joined(distinct(y))
        totals = np.bincount(codes_of(y, every), weights=weight, minlength=len(every))
        totals = totals.astype(float)
        if self.totals is not None:
            totals[codes_of(self.classes, every)] += self.totals
        return replace(self, classes=every, totals=totals)

    def _several(self, y: np.ndarray) -> KnownLabels:
        """The state for several labels in each row, before the first rows."""
        if self.class_weight is not None:
            raise InvalidParameterError(
                "class_weight is for one label in each row, and y has a column for each of "
                f"{y.shape[1]} labels; use sample_weight."
            )
        numbered = np.array_equal(self.classes, np.arange(y.shape[1]))
        if self.classes is not None and not (self.declared and numbered and not self.fitted):
            raise InvalidInputError(
                f"y has a column for each of {y.shape[1]} labels, and there are the classes "
                f"{self.classes.tolist()[:5]} from before; labels in columns are numbered from 0."
            )
        return KnownLabels().met(y)

    def __add__(self, other: "KnownClasses") -> Any:
        return self.surveyed(other.classes, other.totals)

    def met(self, y: np.ndarray) -> Any:
        """With the labels of a batch."""
        if y.ndim == 2:
            return self._several(y)
        every = self._joined(distinct(y))
        if self.declared and len(every) > len(self.classes):
            raise InvalidInputError(
                f"y has labels that are not among the classes: {self._new(every)}."
            )
        # Class weights cannot be balanced before all rows are counted.
        class_factors(self.class_weight, every, self.totals)
        return replace(self, classes=every)

    def recalled(self, y: np.ndarray) -> None:
        """Refuse labels that no earlier batch had."""
        new = self._new(self._joined(distinct(y)))
        if new:
            raise InvalidInputError(f"y has labels to forget that were never fitted: {new}.")

    def without(self, y: np.ndarray, left: np.ndarray) -> "KnownClasses":
        """Without the labels of y that are not in ``left``."""
        gone, stay = (codes_of(self.classes, distinct(labels)) >= 0 for labels in (y, left))
        known = stay | ~gone
        return self if self.declared or known.all() else replace(self, classes=self.classes[known])

    def checked(self) -> "KnownClasses":
        """The same; refuses a single class."""
        if len(self.classes) < 2:
            raise InvalidInputError(
                f"y has only one class, {self.classes.tolist()[0]!r}; a classifier needs rows "
                "of at least two."
            )
        return self

    def moved(self, sums: Moments, before: "KnownClasses") -> Moments:
        """Sums over the classes ``before``, with columns for all classes."""
        # One column for each old class, with a one at its new position.
        places = np.eye(len(self.classes))[codes_of(before.classes, self.classes)]
        moved = from_numpy(places, sums.cross)
        names = ("cross", "energy", "target")
        return replace(sums, **{name: getattr(sums, name) @ moved for name in names})

    def problem(self, y: np.ndarray, weight: np.ndarray | None, whole: bool = False) -> Problem:
        """The targets of some rows and their weights.

        If they are all rows (``whole``), leaving a row out changes the weights of its class.
        """
        codes = codes_of(y, self.classes)
        factors = class_factors(self.class_weight, self.classes, self.totals)
        totals = self.totals if whole and self.balances else None
        targets = ClassTargets(codes, len(self.classes), totals)
        if weight is None and factors is None:
            return Problem(None, targets)
        weight = np.ones(len(codes)) if weight is None else weight
        factor = np.ones(len(codes)) if factors is None else factors[codes]
        return Problem(None, targets, weight * factor, weight / copies(weight) * factor)

    def _joined(self, labels: np.ndarray) -> np.ndarray:
        """These labels and the known ones, sorted."""
        return labels if self.classes is None else distinct(joined_labels(self.classes, labels))

    def _new(self, labels: np.ndarray) -> list[Any]:
        return labels[codes_of(labels, self.classes) < 0].tolist()


@by_blocks
def predict_proba(self: Any, X: Rows) -> Array:
    """Probability of each class; the largest is always the predicted label's.

    Of several labels in each row, the probability that it has each; above ½ where it is predicted.

    Returns
    -------
    P : ndarray of shape (n_samples, n_classes)
        Rows that sum to one, but for several labels.
    """
    F = self._outputs(X)
    if self._several:
        return label_probabilities(F, self.temperature_)
    if len(self.classes_) == 1:
        return 0.0 * F + 1.0
    return probabilities(F, self.temperature_, getattr(self, "class_scaling_", None))


@by_blocks
def predict_log_proba(self: Any, X: Rows) -> Array:
    """Logarithm of `predict_proba`.

    Returns
    -------
    L : ndarray of shape (n_samples, n_classes)
        Log-probabilities.
    """
    P = self.predict_proba(X)
    with np.errstate(divide="ignore"):
        return namespace(P).log(P)
