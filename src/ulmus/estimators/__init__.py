"""scikit-learn's interface to the two stages."""

from ulmus.estimators.classifier import ELMClassifier
from ulmus.estimators.regressor import ELMRegressor

__all__ = ["ELMClassifier", "ELMRegressor"]
