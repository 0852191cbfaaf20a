"""Kernel estimators and the kernel map as a user meets them."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, make_moons
from sklearn.model_selection import cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline

from ulmus import (
    ELMClassifier,
    ELMEmbedding,
    ELMSpectralClustering,
    KernelELMClassifier,
    KernelELMRegressor,
    KernelFeatures,
    LowRank,
    Randomized,
    SemiSupervisedELMClassifier,
)
from ulmus.estimators import kernel_elm
from ulmus.exceptions import InvalidInputError, InvalidParameterError, LowRankWarning
from ulmus.kernels import RBF, InfiniteRBF
from ulmus.kernels.kernel_matrix import GivenKernel

IRIS = load_iris(return_X_y=True)
KERNELS = ["rbf", "linear", "poly", "laplacian", "infinite_rbf", "arcsine"]


@pytest.mark.slow
def test_digits_by_default():
    X, y = load_digits(return_X_y=True)
    A, B, a, b = train_test_split(X, y, random_state=0)
    model = KernelELMClassifier(random_state=0).fit(A, a)
    assert model.score(B, b) > 0.985
    assert abs(model.loo_score_ - model.score(B, b)) < 0.02
    assert_array_equal(model.predict_proba(B).argmax(axis=1), model.predict(B))


def test_past_two_thousand_rows_it_is_low_rank():
    X, y = make_moons(2500, noise=0.2, random_state=0)
    model = KernelELMClassifier("rbf", random_state=0).fit(X, y)
    assert model.method_ == "rpcholesky"
    assert model.rank_ < 2000  # two columns have no more directions than that
    assert model.approximation_error_ < 1e-6
    assert model.dual_coef_.shape == (model.rank_, 1)
    assert model.score(X, y) > 0.96


@pytest.mark.parametrize("kernel", KERNELS)
def test_every_kernel_learns_iris(kernel):
    assert KernelELMClassifier(kernel).fit(*IRIS).loo_score_ > (0.8 if kernel == "linear" else 0.93)


def test_gamma_is_chosen_by_leaving_rows_out():
    X, y = make_moons(300, noise=0.15, random_state=0)
    plain = KernelELMClassifier("rbf", C=1.0).fit(X, y)
    chosen = KernelELMClassifier("rbf", C=1.0, gamma="loo").fit(X, y)
    path = chosen.gamma_path_
    assert len(path["gamma"]) == 7
    best = min(zip(path["error_rate"], path["squared_error"], path["gamma"], strict=True))
    assert np.isclose(chosen.kernel_.gamma, best[2])
    assert path["error_rate"].min() <= 1 - KernelELMClassifier("rbf", C=[1.0]).fit(X, y).loo_score_
    assert np.isclose(path["gamma"][3], plain.kernel_.gamma)


def test_gamma_is_chosen_on_a_sample_of_many_rows(monkeypatch):
    monkeypatch.setattr("ulmus.estimators.kernel_inputs.CHOICE_ROWS", 200)
    X, y = make_moons(300, noise=0.15, random_state=0)
    model = KernelELMRegressor("rbf", gamma="loo", C=[1.0, 100.0], random_state=0).fit(X, 1.0 * y)
    assert "error_rate" not in model.gamma_path_
    assert model.kernel_.gamma in model.gamma_path_["gamma"]


def test_the_width_is_the_mean_distance():
    X = np.random.default_rng(0).standard_normal((50, 3))
    phi = KernelFeatures(scaling=None).fit(X)
    D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    assert np.isclose(phi.kernel_.gamma, 0.5 / D.mean() ** 2)


def test_features_serve_every_second_stage():
    X, y = IRIS
    phi = KernelFeatures(rank=40, random_state=0)
    few = np.where(np.arange(len(y)) % 10 == 0, y, -1)
    assert ELMClassifier(phi).fit(X, y).loo_score_ > 0.94
    assert SemiSupervisedELMClassifier(phi).fit(X, few).score(X, y) > 0.85
    assert ELMEmbedding(2, features=phi).fit_transform(X).shape == (150, 2)
    assert len(np.unique(ELMSpectralClustering(3, features=phi).fit_predict(X))) == 3
    assert make_pipeline(phi, ELMClassifier(random_state=0)).fit(X, y).score(X, y) > 0.95


def test_the_rank_can_be_chosen_by_leaving_rows_out():
    X, y = IRIS
    model = ELMClassifier(KernelFeatures(rank=64, random_state=0), n_hidden="loo").fit(X, y)
    assert model.n_hidden_ in (64, 32, 16)
    assert model.features_.transform(X).shape == (150, model.n_hidden_)


@pytest.mark.parametrize("method", ["rpcholesky", "nystrom", "randomized", "eig"])
def test_a_truncated_map_is_its_first_columns(method):
    X, _ = IRIS
    phi = KernelFeatures(rank=30, method=method, random_state=0).fit(X)
    assert_allclose(phi.truncate(10).transform(X), phi.transform(X)[:, :10], atol=1e-9)
    assert phi.truncate(10).rank_ == 10
    assert phi.rank_ == 30


def test_a_part_of_the_rows_is_a_rank():
    X, _ = IRIS
    assert KernelFeatures(rank=0.2).fit(X).rank_ == 30
    assert KernelFeatures(rank=1).fit(X).rank_ == 1
    assert KernelFeatures(tol=0.1).fit(X).approximation_error_ <= 0.1


@pytest.mark.parametrize("method", ["rpcholesky", "nystrom", "randomized", "eig"])
def test_a_tolerance_ends_every_search_wherever_it_is_given(method):
    X = load_digits().data[:300]
    how = Randomized(tol=0.3) if method == "randomized" else LowRank(tol=0.3, method=method)
    beside = KernelFeatures(method=method, tol=0.3, random_state=0).fit(X)
    within = KernelFeatures(method=how, random_state=0).fit(X)
    model = KernelELMClassifier(method=how, C=1.0, random_state=0).fit(X, np.arange(300) % 2)
    assert beside.rank_ == within.rank_ < 200
    for each in (beside, within, model):
        assert 0.0 < each.approximation_error_ <= 0.3
    with pytest.raises(InvalidParameterError, match=r"tol=0.1 is given beside.*leave one out"):
        KernelFeatures(method=how, tol=0.1).fit(X)


def test_landmarks_of_more_rows_than_memory_holds_come_from_a_sample():
    X = np.random.default_rng(0).standard_normal((4000, 3))
    with config_context(working_memory=16):
        phi = KernelFeatures(rank=50, random_state=0).fit(X)
    assert phi.landmarks_.shape == (50, 3)
    whole = KernelFeatures(rank=50, random_state=0).fit(X)
    assert phi.approximation_error_ < 1.5 * whole.approximation_error_


def test_rows_without_weight_are_as_if_they_were_not_there():
    X, y = IRIS
    weight = (np.arange(150) % 3 > 0).astype(float)
    for rank in (None, 30):
        a = KernelELMClassifier(rank=rank, random_state=0).fit(X, y, weight)
        b = KernelELMClassifier(rank=rank, random_state=0).fit(X[weight > 0], y[weight > 0])
        assert_allclose(a.decision_function(X), b.decision_function(X), atol=1e-8)
    K = RBF(0.3)(X, X)
    part = KernelELMClassifier("precomputed").fit(K, y, weight)
    whole = KernelELMClassifier("precomputed").fit(K[weight > 0][:, weight > 0], y[weight > 0])
    assert_allclose(part.decision_function(K), whole.decision_function(K[:, weight > 0]), atol=1e-8)


def test_balanced_classes_and_balanced_weights_are_one():
    X, y = IRIS[0][:110], IRIS[1][:110]
    weight = (110 / 3 / np.bincount(y))[y]
    a = KernelELMClassifier("rbf", C=1.0, class_weight="balanced").fit(X, y)
    b = KernelELMClassifier("rbf", C=1.0, gamma=a.kernel_.gamma, scaling=None)
    rows = (X - a.scaling_.center) * a.scaling_.factor
    b.fit(rows, y, weight)
    assert_allclose(a.decision_function(X), b.decision_function(rows), atol=1e-8)


def test_cross_validation_cuts_a_precomputed_kernel_both_ways():
    X, y = IRIS
    scores = cross_val_score(KernelELMClassifier("precomputed"), RBF(0.5)(X, X), y)
    assert scores.mean() > 0.93


def test_float32_stays_float32():
    X, y = IRIS
    model = KernelELMRegressor(rank=30, random_state=0).fit(X.astype(np.float32), 1.0 * y)
    assert model.predict(X.astype(np.float32)).dtype == np.float32
    assert KernelFeatures().fit(X.astype(np.float32)).transform(X.astype(np.float32)).dtype == (
        np.float32
    )


def test_float32_rows_lose_nothing_where_the_kernel_is_smooth():
    X, y = make_moons(2200, noise=0.1, random_state=0)
    y = np.sin(2 * X[:, 0]) * X[:, 1]
    scores = [
        KernelELMRegressor("rbf", random_state=0).fit(A[:2100], y[:2100]).score(A[2100:], y[2100:])
        for A in (X, X.astype(np.float32))
    ]
    assert scores[0] > 0.99
    assert abs(scores[0] - scores[1]) < 1e-3
    phi = KernelFeatures(random_state=0).fit(X.astype(np.float32))
    assert phi.landmarks_.dtype == float
    assert phi.transform(X.astype(np.float32)).dtype == np.float32


def test_models_pickle_and_clone():
    X, y = IRIS
    for kernel in ("arcsine", InfiniteRBF(0.3, 2.0), RBF(0.1)):
        model = clone(KernelELMClassifier(kernel)).fit(X, y)
        copy = pickle.loads(pickle.dumps(model))
        assert_array_equal(copy.decision_function(X), model.decision_function(X))


# --------------------------------------------------------------------------- bad input
def both(**options):
    return [KernelELMClassifier(**options), KernelFeatures(**options)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernel": "chi2"}, "is unknown; use one of"),
        ({"kernel": 3}, "is unknown; use one of .* or a function"),
        ({"gamma": 0.0}, "must be 'mean'"),
        ({"gamma": -1}, "must be 'mean'"),
        ({"gamma": np.nan}, "must be 'mean'"),
        ({"gamma": "auto"}, "must be 'mean'"),
        ({"coef0": -1.0}, "zero or more"),
        ({"rank": 0}, "at least 1"),
        ({"rank": -3}, "at least 1"),
        ({"rank": 1.5}, "at most 1.0"),
        ({"rank": 0.0}, "at most 1.0"),
        ({"rank": True}, "at least 1"),
        ({"rank": "all"}, "at least 1"),
        ({"method": LowRank(tol=0.0)}, "above 0 and below 1"),
        ({"method": LowRank(tol=-1e-3)}, "above 0 and below 1"),
        ({"method": LowRank(tol=1.0)}, "above 0 and below 1"),
        ({"method": LowRank(method="svd")}, "is unknown"),
        ({"method": LowRank(5), "rank": 5}, "leave one out"),
        ({"method": "svd"}, "is unknown"),
        ({"method": 7}, "is unknown"),
        ({"method": np.eye(3)}, "is unknown"),
        ({"scaling": "standard"}, "is unknown"),
        ({"method": Randomized(oversampling=-1)}, "whole number of at least 0"),
        ({"method": Randomized(power_steps=0.5)}, "whole number from 0 to 100"),
    ],
)
def test_arguments_that_cannot_be_used(options, message):
    for model in both(**options):
        with pytest.raises(InvalidParameterError, match=message):
            model.fit(*IRIS)
        assert not [name for name in vars(model) if name.endswith("_")]


@pytest.mark.parametrize("degree", [0, 2.5])
def test_a_degree_that_cannot_be_used(degree):
    with pytest.raises(InvalidParameterError, match="whole number from 1 to 100"):
        KernelFeatures("poly", degree=degree).fit(*IRIS)


def test_arguments_that_contradict():
    with pytest.raises(InvalidParameterError, match="needs the targets"):
        KernelFeatures(gamma="loo").fit(IRIS[0])
    with pytest.raises(InvalidParameterError, match="has none to choose"):
        KernelELMClassifier("linear", gamma="loo").fit(*IRIS)
    with pytest.raises(InvalidParameterError, match="leave rank out"):
        KernelELMClassifier(method="exact", rank=10).fit(*IRIS)


@pytest.mark.parametrize("method", ["exact", "rpcholesky", "nystrom", "randomized", "eig"])
@pytest.mark.parametrize("C", [1.0, "loo"])
def test_a_matrix_that_is_no_kernel_is_refused(method, C):
    y = IRIS[1]
    A = np.random.default_rng(0).standard_normal((150, 150))
    model = KernelELMClassifier("precomputed", method=method, C=C)
    with pytest.raises(InvalidInputError, match="not symmetric"):
        model.fit(A, y)
    with pytest.raises(InvalidInputError, match="not positive semi-definite"):
        model.fit(A + A.T, y)
    with pytest.raises(InvalidInputError, match="square"):
        model.fit(A[:, :100], y)


def test_a_function_that_is_no_kernel_is_refused():
    X, y = IRIS
    with pytest.raises(InvalidInputError, match="one number for each pair"):
        KernelELMClassifier(lambda A, B: A).fit(X, y)
    with pytest.raises(InvalidInputError, match="not finite"):
        KernelELMClassifier(lambda A, B: np.where(A @ B.T > 50, np.inf, 1.0)).fit(X, y)
    with pytest.raises(InvalidInputError, match="not positive semi-definite"):
        KernelELMClassifier(lambda A, B: -(A @ B.T)).fit(X, y)


def test_more_columns_than_directions_is_said():
    X, y = IRIS
    for model in (KernelFeatures(rank=200), KernelELMClassifier(rank=200)):
        with pytest.warns(LowRankWarning, match="columns and not 200"):
            model.fit(X, y)
    repeated = np.repeat(X[:10], 5, axis=0)
    with pytest.warns(LowRankWarning, match="10 columns and not 30"):
        phi = KernelFeatures(rank=30).fit(repeated)
    assert phi.rank_ == 10


@pytest.mark.parametrize("method", ["exact", "rpcholesky", "nystrom", "randomized", "eig"])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.filterwarnings("ignore::ulmus.exceptions.LowRankWarning")
def test_constant_repeated_and_zero_rows(method, kernel):
    y = np.arange(20) % 2
    X = np.random.default_rng(0).standard_normal((20, 3))
    X[5:15] = X[5]
    X[15] = 0
    model = KernelELMClassifier(kernel, method=method, random_state=0).fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()
    constant = np.ones((20, 3))
    if kernel == "linear" and method != "exact":
        with pytest.raises(InvalidInputError, match="zero for every pair"):
            KernelELMClassifier(kernel, method=method).fit(constant, y)
    else:
        model = KernelELMClassifier(kernel, method=method).fit(constant, y)
        assert np.isfinite(model.decision_function(constant)).all()


def test_a_failed_fit_leaves_the_model_as_it_was():
    X, y = IRIS
    model = KernelELMClassifier().fit(X, y)
    before = model.decision_function(X)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.where(X > 7, np.nan, X), y)
    model.kernel = lambda A, B: A
    with pytest.raises(InvalidInputError):
        model.fit(X, y)
    model.kernel = "rbf"
    assert_array_equal(model.decision_function(X), before)


@pytest.mark.parametrize("method", ["exact", "rpcholesky", "randomized", "eig"])
def test_a_precomputed_kernel_is_read_in_place(method, monkeypatch):
    X, y = IRIS
    K, seen = RBF(0.5)(X, X), []
    monkeypatch.setattr(kernel_elm, "GivenKernel", lambda A: seen.append(A) or GivenKernel(A))
    K.flags.writeable = False
    KernelELMClassifier("precomputed", method=method, random_state=0).fit(K, y)
    assert np.shares_memory(seen[0], K)


def test_precomputed_rows_of_the_wrong_length():
    X, y = IRIS
    model = KernelELMClassifier("precomputed").fit(RBF(0.5)(X, X), y)
    with pytest.raises(ValueError, match="150 features"):
        model.predict(RBF(0.5)(X, X[:20]))


def test_sparse_text_is_never_made_dense():
    rng = np.random.default_rng(0)
    X = sp.random_array((300, 20_000), density=1e-3, random_state=rng, format="csr")
    y = (
        np.asarray(X[:, :10_000].sum(axis=1)).ravel()
        > np.asarray(X[:, 10_000:].sum(axis=1)).ravel()
    )
    model = KernelELMClassifier(rank=100, random_state=0).fit(X, y)
    assert sp.issparse(model.landmarks_.rows)
    assert model.predict(X[:5]).shape == (5,)
