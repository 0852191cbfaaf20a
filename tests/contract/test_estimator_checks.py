"""Every public estimator passes scikit-learn's own checks, with no expected failure."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import ulmus

ESTIMATORS = [
    cls()
    for cls in (getattr(ulmus, name) for name in ulmus.__all__)
    if isinstance(cls, type) and hasattr(cls, "fit")
]
VARIANTS = [
    ulmus.ELMClassifier(C=1.0, n_hidden=50, class_weight={0: 1.0, 1: 2.0}),
    ulmus.ELMClassifier(n_hidden="loo", features=ulmus.RandomFeatures(50)),
    ulmus.ELMRegressor(C=[0.1, 1.0, 10.0], n_hidden=30),
    ulmus.RandomFeatures(7, activation="relu", weights="orthogonal", scaling=None),
    ulmus.RBFFeatures(7, node="robust", centers="uniform"),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(ESTIMATORS + VARIANTS)
def test_scikit_learn_check(estimator, check):
    check(estimator)
