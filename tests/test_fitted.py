"""A fit is finite, or an error that names what was too large or too small."""

import array_api_strict
import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose
from sklearn.preprocessing import FunctionTransformer

from ulmus import (
    ELMNMF,
    ELMClassifier,
    ELMEmbedding,
    ELMKMeans,
    ELMRegressor,
    ELMSpectralClustering,
    GraphELMClassifier,
    KernelELMClassifier,
    KernelELMRegressor,
    KernelFeatures,
    ManifoldELMClassifier,
    RandomFeatures,
    RBFFeatures,
    SemiSupervisedELMClassifier,
    SemiSupervisedELMRegressor,
    SparseELMClassifier,
)
from ulmus.exceptions import ConstantColumnWarning, InvalidInputError
from ulmus.fitted import atomic
from ulmus.kernels import RBF

N = 60
rng = np.random.default_rng(0)
X = rng.standard_normal((N, 3))
LABELS = (X[:, 0] + 0.3 * X[:, 1] > 0).astype(int)
VALUES = 2.0 * X[:, 0] + X[:, 1]
SOME = np.arange(N) < 20

CLASSIFIERS = {
    "ELM": ELMClassifier(n_hidden=30, random_state=0),
    "ELM, few rows": ELMClassifier(n_hidden=90, random_state=0),
    "ELM, RBF": ELMClassifier(RBFFeatures(30), random_state=0),
    "GELM": GraphELMClassifier(n_hidden=30, random_state=0),
    "MELM": ManifoldELMClassifier(n_hidden=30, random_state=0),
    "kernel": KernelELMClassifier(),
    "S-ELM": SparseELMClassifier(n_hidden=30, random_state=0),
    "S-ELM, kernel": SparseELMClassifier(kernel="rbf"),
}
REGRESSORS = {
    "ELM": ELMRegressor(n_hidden=30, random_state=0),
    "ELM, few rows": ELMRegressor(n_hidden=90, random_state=0),
    "kernel": KernelELMRegressor(),
    "kernel, low rank": KernelELMRegressor(rank=20, random_state=0),
}
SEMI = {
    "SS-ELM": SemiSupervisedELMClassifier(n_hidden=30, random_state=0),
    "SS-ELM, free": SemiSupervisedELMClassifier(n_hidden=30, coupling="free", random_state=0),
    "SS-ELM, values": SemiSupervisedELMRegressor(n_hidden=30, random_state=0),
}
UNSUPERVISED = {
    "embedding": ELMEmbedding(n_hidden=30, random_state=0),
    "spectral": ELMSpectralClustering(2, n_hidden=30, random_state=0),
    "k-means": ELMKMeans(2, n_hidden=30, random_state=0),
    "NMF": ELMNMF(2, n_hidden=30, random_state=0),
    "random": RandomFeatures(30, random_state=0),
    "rbf": RBFFeatures(30, random_state=0),
    "kernel": KernelFeatures(rank=20, random_state=0),
}
RAW = {
    "random": RandomFeatures(30, scaling=None, random_state=0),
    "rbf": RBFFeatures(30, scaling=None, random_state=0),
    "kernel": KernelFeatures(rank=10, scaling=None, random_state=0),
    "kernel ELM": KernelELMClassifier(scaling=None),
    "S-ELM": SparseELMClassifier(kernel=RBF(1.0)),
    "k-means": ELMKMeans(2, features=RBFFeatures(30, scaling=None), random_state=0),
}


def every():
    """Each estimator with a target it can be fitted to."""
    for name, model in CLASSIFIERS.items():
        yield pytest.param(model, LABELS, id=f"classifier {name}")
    for name, model in REGRESSORS.items():
        yield pytest.param(model, VALUES, id=f"regressor {name}")
    for name, model in SEMI.items():
        numbers = isinstance(model, SemiSupervisedELMRegressor)
        y = np.where(SOME, VALUES, np.nan) if numbers else np.where(SOME, LABELS, -1)
        yield pytest.param(model, y, id=name)
    for name, model in UNSUPERVISED.items():
        yield pytest.param(model, None, id=name)


def outputs(model, rows):
    method = next(
        name for name in ("decision_function", "predict", "transform") if hasattr(model, name)
    )
    return np.asarray(getattr(model, method)(rows), dtype=float)


def with_column(column):
    return np.column_stack([X, column])


@pytest.mark.parametrize(("model", "y"), list(every()))
def test_a_column_of_denormal_range_counts_as_constant_and_is_named(model, y):
    wide = with_column(rng.uniform(0.0, 1e-310, N))
    with pytest.warns(ConstantColumnWarning, match="Column 3 .*counts as constant"):
        model.fit(wide, y)
    constant = with_column(np.zeros(N))
    assert np.isfinite(outputs(model, wide)).all()
    assert_allclose(outputs(model, wide), outputs(model, constant))


@pytest.mark.parametrize(("model", "y"), list(every()))
def test_a_range_that_float64_does_not_hold_is_refused_by_its_column(model, y):
    wide = with_column(np.where(np.arange(N) < 2, 1.7e308, -1.7e308))
    with pytest.raises(InvalidInputError, match="Column 3 .*range"):
        model.fit(wide, y)


@pytest.mark.parametrize("scale", [1e200, 1e-200])
@pytest.mark.parametrize(("model", "y"), list(every()))
def test_a_table_of_extreme_scale_is_fitted_as_it_would_be_at_another(model, y, scale):
    assert np.isfinite(outputs(model.fit(scale * X, y), scale * X)).all()


@pytest.mark.parametrize("scale", [1e200, 1e-200])
@pytest.mark.parametrize("name", RAW)
def test_inputs_that_are_used_as_they_are_must_have_squares(name, scale):
    wide = scale * X
    with pytest.raises(InvalidInputError, match="Column .*as they are; use scaling='auto'"):
        RAW[name].fit(wide, LABELS)
    single = (1e-30 if scale < 1 else 1e30) * X.astype(np.float32)
    with pytest.raises(InvalidInputError, match="Column .*as they are; use scaling='auto'"):
        RAW[name].fit(single, LABELS)


@pytest.mark.parametrize("scale", [1e155, 1e-160, 1e-310])
@pytest.mark.parametrize("name", REGRESSORS)
def test_values_whose_squares_are_lost_are_refused(name, scale):
    with pytest.raises(InvalidInputError, match="y goes up to .*(divide|multiply) it"):
        REGRESSORS[name].fit(X, scale * VALUES)


@pytest.mark.parametrize("scale", [1e155, 1e-160])
def test_values_whose_squares_are_lost_are_refused_among_unknown_ones(scale):
    y = np.where(SOME, scale * VALUES, np.nan)
    with pytest.raises(InvalidInputError, match="y goes up to"):
        SEMI["SS-ELM, values"].fit(X, y)


@pytest.mark.parametrize("scale", [1e120, 1e-120])
@pytest.mark.parametrize("name", REGRESSORS)
def test_large_and_small_values_are_fitted_alike(name, scale):
    expected = REGRESSORS[name].fit(X, VALUES).predict(X)
    assert_allclose(REGRESSORS[name].fit(X, scale * VALUES).predict(X) / scale, expected, rtol=1e-6)


@pytest.mark.parametrize("name", ["ELM", "kernel", "S-ELM"])
def test_weights_whose_squares_are_lost_are_refused(name):
    for scale in (1e300, 1e-300):
        with pytest.raises(InvalidInputError, match="sample_weight goes up to"):
            CLASSIFIERS[name].fit(X, LABELS, sample_weight=np.full(N, scale))


@pytest.mark.parametrize("n_hidden", [30, 90])
def test_a_transformer_whose_squares_overflow_is_refused(n_hidden):
    tall = FunctionTransformer(lambda rows: np.tile(1e200 * rows, n_hidden // 3))
    with pytest.raises(InvalidInputError, match="Sums of squares .*not finite"):
        ELMClassifier(tall).fit(X, LABELS)


def test_new_rows_whose_outputs_overflow_are_refused():
    straight = FunctionTransformer(lambda rows: rows)
    model = ELMRegressor(straight).fit(X, VALUES)
    with pytest.raises(InvalidInputError, match="outputs of row 2 .*not finite"):
        model.predict(np.vstack([X[:2], np.full((1, 3), 1.7e308)]))


def test_a_fit_that_is_not_finite_leaves_the_model_as_it_was():
    model = ELMClassifier(n_hidden=30, random_state=0).fit(X, LABELS)
    before = vars(model).copy()
    for name, value in {
        "beta_": np.array([[np.nan]]),
        "temperature_": np.inf,
        "loo_path_": {"squared_error": np.array([1.0, np.nan])},
    }.items():
        with pytest.raises(InvalidInputError, match=f"values in {name}"):
            atomic(setattr)(model, name, value)
        assert vars(model) == before


def test_factors_that_float32_does_not_hold_serve_a_device_too():
    small = (1e-40 * X).astype(np.float32)
    expected = ELMClassifier(n_hidden=30, random_state=0).fit(small, LABELS)
    with sklearn.config_context(array_api_dispatch=True):
        rows = array_api_strict.asarray(small)
        model = ELMClassifier(n_hidden=30, random_state=0).fit(rows, LABELS)
        F = np.asarray(model.decision_function(rows))
    assert_allclose(F, expected.decision_function(small), atol=1e-3)
