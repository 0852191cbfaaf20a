"""Classes: what an estimator makes of labels, and what its outputs say in labels."""

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score
from sklearn.utils.multiclass import check_classification_targets

from ulmus.backends.namespace import from_numpy, is_numpy, namespace, on_host, take, to_numpy
from ulmus.calibration import probabilities, temperature
from ulmus.distributed.mapped import by_blocks, scored
from ulmus.exceptions import InvalidInputError
from ulmus.problem import ErrorPath, Problem
from ulmus.targets import (
    ClassTargets,
    check_labels,
    chosen,
    class_factors,
    codes_of,
    distinct,
    is_balanced,
    joined_labels,
)
from ulmus.typing import Array, Rows
from ulmus.validation import complete, valid_rows_and_target

__all__ = ["ClassLabels", "predict_log_proba", "predict_proba"]

# What else can be done with rows whose label is missing.
_INSTEAD = "use SemiSupervisedELMClassifier, which learns from rows without a label"

# Targets, weights, and what a row loses of its weight when it is left out (see `Problem`).
Encoded = tuple[ClassTargets, np.ndarray | None, np.ndarray | None]


class ClassLabels:
    """For an estimator with ``class_weight`` whose ``_outputs`` are decision values.

    Parameters
    ----------
    class_weight : dict, "balanced" or None, default=None
        A factor for the rows of each class; "balanced" gives every class the same total.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    """

    classes_: np.ndarray
    _totals: np.ndarray
    _declared: bool
    _intercept = False

    @by_blocks
    def decision_function(self: Any, X: Rows) -> Array:
        """How strongly each class is held, about −1 to 1.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or Dask collection
            The rows.

        Returns
        -------
        F : ndarray of shape (n_samples, n_classes), or (n_samples,) for two classes
            Hβ; for two classes, positive means the second.
        """
        F = self._outputs(X)
        return F[:, 0] if len(self.classes_) == 2 else F

    @by_blocks
    def predict(self: Any, X: Rows) -> Array:
        """Predicted labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or Dask collection
            The rows.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The label with the largest decision value.
        """
        F = self._outputs(X)
        # A stream may begin with one class, and one column then says nothing.
        alone = len(self.classes_) == 1
        return self._named(namespace(F).argmax(F, axis=1) if alone else chosen(F))

    def _named(self, codes: Array) -> Array:
        """The labels of these codes; on the device where it has such a type."""
        if is_numpy(codes):
            return self.classes_[codes]
        if self.classes_.dtype.kind not in "biuf":  # the device has no strings
            return self.classes_[to_numpy(codes)]
        return take(from_numpy(self.classes_, codes), codes)

    def score(self: Any, X: Rows, y: Any, sample_weight: Any = None) -> float:
        """The part of the labels that is predicted right.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or Dask collection
            The rows.
        y : array-like of shape (n_samples,)
            Their labels; a Dask collection when X is one.
        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights; a row of weight two counts as two rows.

        Returns
        -------
        accuracy : float
            From 0 to 1.
        """
        return scored(accuracy_score, y, self.predict(X), sample_weight)

    # ------------------------------------------------------------------ labels to targets
    def _validate_target(self, X: Rows, y: Any, reset: bool) -> tuple[Rows, np.ndarray]:
        """X and y, checked."""
        y = complete(on_host(y), _INSTEAD)
        if y is not None:
            check_labels(y)
        X, y = valid_rows_and_target(self, X, y, reset)
        if y.dtype != object or all(isinstance(label, str) for label in y):
            check_classification_targets(y)
        return X, y

    def _encode(self: Any, y: np.ndarray, weight: np.ndarray | None) -> Encoded:
        """Learn the classes and give the targets."""
        self.classes_ = distinct(y)
        self._check_classes()
        codes = codes_of(y, self.classes_)
        totals = np.bincount(codes, weights=weight, minlength=len(self.classes_))
        factors = class_factors(self.class_weight, self.classes_, totals)
        targets, weight, unit = self._targets(codes, weight, factors)
        if is_balanced(self.class_weight):
            # All rows are here, so that those left out can take their weight along.
            targets = replace(targets, totals=totals.astype(float))
        return targets, weight, unit

    def _survey(self, y: np.ndarray, weight: np.ndarray | None) -> None:
        """Note the labels of some rows, and how much each weighs, before any row is fitted."""
        labels = distinct(y)
        known = getattr(self, "classes_", labels)
        totals = getattr(self, "_totals", np.zeros(len(known)))
        self.classes_ = distinct(joined_labels(known, labels))
        self._totals = np.bincount(
            codes_of(y, self.classes_), weights=weight, minlength=len(self.classes_)
        ).astype(float)
        self._totals[codes_of(known, self.classes_)] += totals

    def _encode_known(self: Any, y: np.ndarray, weight: np.ndarray | None) -> Encoded:
        """`_encode` where the classes are settled, and their totals if there was a survey."""
        totals = getattr(self, "_totals", None)
        factors = class_factors(self.class_weight, self.classes_, totals)
        return self._targets(codes_of(y, self.classes_), weight, factors)

    def _targets(
        self, codes: np.ndarray, weight: np.ndarray | None, factors: np.ndarray | None
    ) -> Encoded:
        """The targets, their weights, and what a row loses when it is left out."""
        targets = ClassTargets(codes, len(self.classes_))
        if weight is None and factors is None:
            return targets, None, None
        weight = np.ones(len(codes)) if weight is None else weight
        factor = np.ones(len(codes)) if factors is None else factors[codes]
        return targets, weight * factor, np.minimum(weight, 1.0) * factor

    def _check_classes(self) -> None:
        if len(self.classes_) < 2:
            raise InvalidInputError(
                f"y has only one class, {self.classes_.tolist()[0]!r}; a classifier needs rows "
                "of at least two."
            )

    def _score_of(self, path: ErrorPath, problem: Problem) -> float | None:
        """What `score` would be on left-out rows, at the best C of the path."""
        return None if path.error_rate is None else 1.0 - path.score[0]

    def _calibrate(
        self: Any, targets: Any, loo: Array, rows: np.ndarray, weight: Array | None
    ) -> None:
        """Learn the temperature from the decision values of left-out rows."""
        if len(rows) == 0:
            return  # it stays as it is until more rows have come
        if len(self.classes_) == 1:
            self.temperature_ = 1.0
            return
        weight = None if weight is None else to_numpy(take(weight, rows))
        codes = to_numpy(take(targets.codes, rows))
        self.temperature_ = temperature(to_numpy(loo), codes, weight)

    # ------------------------------------------------------------------ labels in batches
    def _declare(self, classes: np.ndarray) -> None:
        """Settle the classes before their rows are seen."""
        classes = distinct(classes)
        if hasattr(self, "_kept") and not np.array_equal(classes, self.classes_):
            raise InvalidInputError(
                f"classes={classes.tolist()} is not what the earlier calls had: "
                f"{self.classes_.tolist()}."
            )
        self.classes_, self._declared = classes, True

    def _meet(self: Any, y: np.ndarray) -> None:
        labels = distinct(y)
        if not hasattr(self, "classes_"):
            self.classes_ = labels
        every = distinct(joined_labels(self.classes_, labels))
        if len(every) > len(self.classes_):
            self._grow(every)
        # Refuses to balance classes whose rows are still to come.
        class_factors(self.class_weight, self.classes_, getattr(self, "_totals", None))

    def _grow(self: Any, every: np.ndarray) -> None:
        """Make room for labels that were not met before."""
        if getattr(self, "_declared", False):
            labels = every[codes_of(every, self.classes_) < 0]
            raise InvalidInputError(
                f"y has labels that are not among the classes: {labels.tolist()}."
            )
        old, self.classes_ = self.classes_, every
        if hasattr(self, "_moments"):
            places, m, b = codes_of(old, self.classes_), self._moments, len(self.classes_)
            # A column of this for each old class, a one in its new place.
            moved = from_numpy(np.eye(b)[places], m.cross)
            moves = {name: getattr(m, name) @ moved for name in ("cross", "energy", "target")}
            self._moments = replace(m, **moves)

    def _recall(self, y: np.ndarray) -> None:
        labels = distinct(y)
        every = distinct(joined_labels(self.classes_, labels))
        new = every[codes_of(every, self.classes_) < 0]
        if len(new):
            raise InvalidInputError(
                f"y has labels to forget that were never fitted: {new.tolist()}."
            )

    def _drop(self, y: np.ndarray, left: np.ndarray) -> bool:
        gone, stay = (codes_of(self.classes_, distinct(labels)) >= 0 for labels in (y, left))
        gone &= ~stay
        if getattr(self, "_declared", False) or not gone.any():
            return False
        self.classes_ = self.classes_[~gone]
        return True


@by_blocks
def predict_proba(self: Any, X: Rows) -> Array:
    """Probability of each class; the largest is always the predicted label's.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features), or Dask collection
        The rows.

    Returns
    -------
    P : ndarray of shape (n_samples, n_classes)
        Rows that sum to one.
    """
    F = self._outputs(X)
    return 0.0 * F + 1.0 if len(self.classes_) == 1 else probabilities(F, self.temperature_)


@by_blocks
def predict_log_proba(self: Any, X: Rows) -> Array:
    """Logarithm of `predict_proba`.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features), or Dask collection
        The rows.

    Returns
    -------
    L : ndarray of shape (n_samples, n_classes)
        Log-probabilities.
    """
    P = self.predict_proba(X)
    with np.errstate(divide="ignore"):
        return namespace(P).log(P)
