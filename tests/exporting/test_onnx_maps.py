"""scikit-learn's transformers before a model, or in place of its hidden layer."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    PolynomialFeatures,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

from exporting.runtime import assert_agrees, results, session_of
from ulmus import ELMClassifier, ELMRegressor, ELMSpectralClustering, RandomFeatures, to_onnx
from ulmus.exceptions import ExportError

X, CLASSES = load_iris(return_X_y=True)
X = X[::2].astype(np.float32).astype(float)
CLASSES = CLASSES[::2]

KNOWN = [
    StandardScaler(),
    StandardScaler(with_mean=False),
    StandardScaler(with_std=False),
    RobustScaler(),
    RobustScaler(with_centering=False, with_scaling=False),
    MaxAbsScaler(),
    MinMaxScaler((-1, 2), clip=True),
    Normalizer(),
    Normalizer("l1"),
    Normalizer("max"),
    PolynomialFeatures(3),
    PolynomialFeatures((2, 3), interaction_only=True, include_bias=False),
    PolynomialFeatures(0),
    PCA(3),
    PCA(2, whiten=True),
    TruncatedSVD(2, random_state=0),
    RBFSampler(n_components=10, random_state=0),
    Nystroem(n_components=10, random_state=0),
    Nystroem("laplacian", gamma=0.3, n_components=10, random_state=0),
    Nystroem("cosine", n_components=10, random_state=0),
    Nystroem("sigmoid", gamma=0.1, n_components=10, random_state=0),
    Nystroem("poly", degree=2, coef0=0.5, n_components=10, random_state=0),
    Nystroem("linear", n_components=4, random_state=0),
    SelectKBest(k=2),
    VarianceThreshold(0.3),
    SimpleImputer(strategy="median"),
    FrozenEstimator(StandardScaler().fit(X)),
]


@pytest.mark.parametrize("transformer", KNOWN, ids=lambda t: f"{t!s:.40}")
def test_transformers_by_themselves_and_before_a_model(transformer):
    # Beyond the fitted range, where clipping shows.
    rows = (X * 1.25).astype(np.float32).astype(float)
    model = make_pipeline(transformer, ELMClassifier(n_hidden=20, random_state=0))
    assert_agrees(model.fit(X, CLASSES), rows)
    assert_agrees(model[0], rows, atol=1e-6)


@pytest.mark.parametrize(
    "features",
    [
        Nystroem(n_components=20, random_state=0),
        make_pipeline(StandardScaler(), RandomFeatures(20, random_state=0)),
        make_pipeline(StandardScaler(), "passthrough", PolynomialFeatures(2)),
    ],
    ids=["Nystroem", "pipeline", "polynomial"],
)
def test_transformers_as_the_hidden_layer(features):
    assert_agrees(ELMRegressor(features).fit(X, X[:, 0] * X[:, 1]), X)
    assert_agrees(ELMSpectralClustering(3, features=features, random_state=0).fit(X), X)


def test_a_search_is_its_best_model():
    pipeline = make_pipeline(StandardScaler(), ELMClassifier(n_hidden=20, random_state=0))
    search = GridSearchCV(pipeline, {"elmclassifier__C": [0.1, 1.0]}, cv=2).fit(X, CLASSES)
    assert_agrees(search, X)


def test_a_pipeline_that_ends_in_nothing_transforms():
    assert_agrees(make_pipeline(StandardScaler(), "passthrough").fit(X), X)


def test_missing_values_are_filled_in():
    holes = X.copy()
    holes[::3, 1] = np.nan
    model = make_pipeline(SimpleImputer(), ELMClassifier(n_hidden=20, random_state=0))
    model.fit(holes, CLASSES)
    found = results(session_of(to_onnx(model)), holes)
    np.testing.assert_array_equal(found["label"], model.predict(holes))
    np.testing.assert_allclose(found["scores"], model.decision_function(holes), atol=1e-4)


@pytest.mark.parametrize(
    ("transformer", "why"),
    [
        (QuantileTransformer(n_quantiles=10), "QuantileTransformer cannot .* StandardScaler"),
        (FunctionTransformer(np.log1p), "FunctionTransformer cannot"),
        (Nystroem("chi2", n_components=5, random_state=0), "Nystroem.kernel='chi2'"),
        (SimpleImputer(add_indicator=True), "add_indicator=False"),
        (SimpleImputer(missing_values=-1), "NaN marks"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_other_transformers_are_refused(transformer, why):
    model = make_pipeline(transformer, ELMClassifier(n_hidden=5, random_state=0))
    with pytest.raises(ExportError, match=why):
        to_onnx(model.fit(X, CLASSES))
