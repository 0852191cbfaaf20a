"""What a supervised estimator makes of y: classes, or numbers."""

from dataclasses import replace

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight

from ulmus.backends.namespace import on_host, take, to_numpy
from ulmus.calibration import temperature
from ulmus.estimators.outputs import ValueOutputs
from ulmus.exceptions import InvalidInputError
from ulmus.progress import log_facts
from ulmus.targets import (
    ClassTargets,
    ValueTargets,
    check_labels,
    check_size,
    class_factors,
    codes_of,
    distinct,
    is_balanced,
    joined_labels,
    numeric,
)
from ulmus.validation import complete, missing, plain, valid_rows_and_target

__all__ = ["ClassLabels", "ValueLabels", "record", "weighted_rows"]

# What else can be done with rows whose target is missing.
CLASSES_INSTEAD = "use SemiSupervisedELMClassifier, which learns from rows without a label"
VALUES_INSTEAD = "use SemiSupervisedELMRegressor, which learns from rows without a value"


class ClassLabels:
    """y as labels, for an estimator with ``class_weight``."""

    _totals: np.ndarray

    def _validate_target(self, X, y, reset):
        """X and y, checked."""
        y = complete(on_host(y), CLASSES_INSTEAD)
        if y is not None:
            check_labels(y)
        X, y = valid_rows_and_target(self, X, y, reset)
        if y.dtype != object or all(isinstance(label, str) for label in y):
            check_classification_targets(y)
        return X, y

    def _encode(self, y, weight):
        """Learn the classes; give targets, weight and unit (see Problem)."""
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

    def _survey(self, y, weight):
        """Note the labels of some rows, and how much each weighs, before any row is fitted."""
        labels = distinct(y)
        known = getattr(self, "classes_", labels)
        totals = getattr(self, "_totals", np.zeros(len(known)))
        self.classes_ = distinct(joined_labels(known, labels))
        self._totals = np.bincount(
            codes_of(y, self.classes_), weights=weight, minlength=len(self.classes_)
        ).astype(float)
        self._totals[codes_of(known, self.classes_)] += totals

    def _encode_known(self, y, weight):
        """`_encode` where the classes are settled, and their totals if there was a survey."""
        totals = getattr(self, "_totals", None)
        factors = class_factors(self.class_weight, self.classes_, totals)
        return self._targets(codes_of(y, self.classes_), weight, factors)

    def _targets(self, codes, weight, factors):
        """The targets, their weights, and what a row loses when it is left out."""
        targets = ClassTargets(codes, len(self.classes_))
        if weight is None and factors is None:
            return targets, None, None
        weight = np.ones(len(codes)) if weight is None else weight
        factor = np.ones(len(codes)) if factors is None else factors[codes]
        return targets, weight * factor, np.minimum(weight, 1.0) * factor

    def _check_classes(self):
        if len(self.classes_) < 2:
            raise InvalidInputError(
                f"y has only one class, {self.classes_.tolist()[0]!r}; a classifier needs rows "
                "of at least two."
            )

    def _score_of(self, path, problem):
        """What `score` would be on left-out rows, at the best C of the path."""
        return None if path.error_rate is None else 1.0 - path.score[0]

    def _calibrate(self, problem, solution):
        """Learn the temperature from left-out decision values."""
        rows = solution.loo_rows
        if len(rows) == 0:
            return  # it stays as it is until more rows have come
        if len(self.classes_) == 1:
            self.temperature_ = 1.0
            return
        weight = None if problem.weight is None else to_numpy(take(problem.weight, rows))
        codes = to_numpy(take(problem.targets.codes, rows))
        self.temperature_ = temperature(to_numpy(solution.loo), codes, weight)


class ValueLabels(ValueOutputs):
    """y as numbers, one column or several, for an estimator with ``fit_intercept``."""

    @property
    def _intercept(self):
        return bool(self.fit_intercept)

    def _validate_target(self, X, y, reset):
        """X and y, checked."""
        y = complete(on_host(y), VALUES_INSTEAD)
        y = None if y is None else numeric(y)
        return valid_rows_and_target(self, X, y, reset, multi_output=True, y_numeric=True)

    def _encode(self, y, weight):
        """Targets, weight and unit (see Problem)."""
        check_size("y", y)
        self._flat = y.ndim == 1
        unit = None if weight is None else np.minimum(weight, 1.0)
        return ValueTargets(y.reshape(len(y), -1)), weight, unit

    _encode_known = _encode

    def _survey(self, y, weight):
        """Numbers need none."""

    def _score_of(self, path, problem):
        """R² on left-out rows, at the best C of the path."""
        T = to_numpy(problem.targets.values)
        weight = None if problem.weight is None else to_numpy(problem.weight)
        spread = np.average((T - np.average(T, 0, weight)) ** 2, 0, weight).sum()
        return 1.0 - path.score[1] / spread if path.kind == "loo" and spread > 0 else None

    def _calibrate(self, problem, solution):
        """Numbers need no calibration."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def record(estimator, problem, solution, n_rows=None, settled=False):
    """How C was chosen and what leaving rows out said, as fitted attributes.

    ``n_rows`` is how many rows were fitted, where ``problem`` is only some of them; ``settled``
    says that C, and what led to it, stay as they are.
    """
    estimator.solver_ = solution.method
    estimator.solver_reason_ = _reason(estimator, solution.method)
    if not settled:
        _record_choice(estimator, problem, solution, n_rows)
    estimator._calibrate(problem, solution)
    log_facts(estimator)


def _record_choice(estimator, problem, solution, n_rows):
    estimator.C_, path = solution.C, solution.path
    if path is None:
        estimator.selection_ = "fixed"
        for name in ("loo_path_", "loo_score_"):
            vars(estimator).pop(name, None)
    else:
        partial = path.kind == "loo" and path.rows < (n_rows or len(problem.H))
        estimator.selection_ = "loo-sample" if partial else path.kind
        balances = is_balanced(getattr(estimator, "class_weight", None))
        if path.kind == "loo" and balances and not problem.reweighs:
            estimator.selection_ += "-kept"
        estimator.loo_path_ = path.table()
        estimator.loo_score_ = estimator._score_of(path, problem)


def _reason(estimator, method):
    """Why it was solved like this."""
    if method == getattr(estimator, "solver", None):
        return "asked for"
    if method == "spectral":
        return "one eigendecomposition serves every C"
    if method == "dual" and hasattr(estimator, "solver"):
        return "one C, and fewer rows than hidden units: a Cholesky factorisation between rows"
    return "one C: one Cholesky factorisation"


def weighted_rows(X, y, sample_weight):
    """The rows that have a weight, and the weights if they differ."""
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
