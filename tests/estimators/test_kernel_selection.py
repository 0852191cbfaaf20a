"""The kernel, its width and column weights, chosen by a kernel ELM or given to it."""

import array_api_strict
import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_diabetes, load_iris, make_friedman1
from sklearn.model_selection import cross_val_score

import ulmus
from ulmus import KernelELMClassifier, KernelELMRegressor
from ulmus.exceptions import InvalidInputError, InvalidParameterError
from ulmus.kernels import RBF, Kernel

IRIS = load_iris(return_X_y=True)
NAMES = ("laplacian", "exponential", "rbf")
X, Y = make_friedman1(120, noise=0.3, random_state=0)
UNITS = np.logspace(-3, 4, 10)


def test_the_best_of_all_that_was_tried_is_used():
    model = KernelELMRegressor(random_state=0).fit(X, Y)
    path = model.kernel_path_
    assert model.kernel_.gamma in path["gamma"]
    assert set(path["kernel"]) <= set(NAMES)
    assert model.C_ in path["C"]
    corrected = path["squared_error"] * np.where(path["round"] > 0, 1 + 2 * 10 / 120, 1.0)
    assert model.kernel_.gamma == path["gamma"][np.argmin(corrected)]
    assert model.selection_ == "loo"


def test_columns_of_noise_weigh_least():
    weights = KernelELMRegressor(random_state=0).fit(X, Y).column_weights_
    assert weights[5:].max() < weights[:5].min()  # friedman1 is a function of the first five


def test_other_units_of_the_columns_change_nothing():
    model = KernelELMRegressor(random_state=0)
    before = sklearn.clone(model).fit(X, Y)
    after = model.fit(X * UNITS + 7.0 * UNITS, Y)
    assert after.kernel_path_["kernel"].tolist() == before.kernel_path_["kernel"].tolist()
    assert_allclose(after.column_weights_, before.column_weights_, rtol=1e-6)
    assert_allclose(after.predict(X * UNITS + 7.0 * UNITS), before.predict(X), rtol=1e-6)


def test_the_chosen_weights_given_again_are_the_same_model():
    chosen = KernelELMRegressor(random_state=0).fit(X, Y)
    name = chosen.kernel_path_["kernel"][
        np.flatnonzero(chosen.kernel_path_["gamma"] == chosen.kernel_.gamma)[0]
    ]
    given = KernelELMRegressor(
        str(name), gamma=chosen.kernel_.gamma, C=chosen.C_, column_weights=chosen.column_weights_
    )
    assert_allclose(given.fit(X, Y).predict(X), chosen.predict(X), rtol=1e-9)
    assert_array_equal(given.column_weights_, chosen.column_weights_)


def test_the_score_is_over_all_left_out_rows_also_where_some_were_chosen_on(monkeypatch):
    monkeypatch.setattr("ulmus.estimators.kernel_inputs.CHOICE_ROWS", 60)
    model = KernelELMRegressor(random_state=0).fit(X, Y)
    K = model.kernel_(model.landmarks_, model.landmarks_)
    alone = KernelELMRegressor("precomputed", C=model.C_)
    left_out = []
    for i in range(len(X)):
        rest = np.delete(np.arange(len(X)), i)
        left_out += alone.fit(K[np.ix_(rest, rest)], Y[rest]).predict(K[[i]][:, rest]).tolist()
    assert_allclose(model.loo_score_, 1.0 - np.mean((Y - left_out) ** 2) / np.var(Y), rtol=1e-9)


def test_without_weights_columns_stay_as_they_are_scaled():
    model = KernelELMRegressor(column_weights=None).fit(X, Y)
    assert_array_equal(model.column_weights_, np.ones(10))
    assert set(model.kernel_path_["round"]) == {0}
    assert not hasattr(KernelELMRegressor("rbf").fit(X, Y), "column_weights_")


def test_a_list_is_chosen_from():
    model = KernelELMRegressor(["rbf"]).fit(X, Y)
    assert set(model.kernel_path_["kernel"]) == {"rbf"}
    assert isinstance(model.kernel_, RBF)


def test_many_rows_are_chosen_by_a_sample_and_fitted_whole(monkeypatch):
    monkeypatch.setattr("ulmus.estimators.kernel_inputs.CHOICE_ROWS", 60)
    model = KernelELMRegressor(random_state=0).fit(X, Y)
    assert (model.selection_, model.method_, model.rank_) == ("loo-sample", "exact", 120)


def test_past_five_thousand_rows_it_is_low_rank(monkeypatch):
    monkeypatch.setattr("ulmus.estimators.kernel_elm._CHOSEN_EXACT", 100)
    model = KernelELMRegressor(random_state=0, rank=None).fit(X, Y)
    assert model.method_ == "rpcholesky"
    assert model.loo_score_ > 0.8


def test_a_given_c_stays():
    model = KernelELMRegressor(C=3.0).fit(X, Y)
    assert (model.C_, model.selection_) == (3.0, "fixed")
    assert set(model.kernel_path_["C"]) == {3.0}


def test_sparse_rows_choose_the_same():
    A = np.where(X > 0.5, X, 0.0)
    dense = KernelELMRegressor(random_state=0).fit(A, Y)
    sparse = KernelELMRegressor(random_state=0).fit(sp.csr_array(A), Y)
    assert_allclose(sparse.column_weights_, dense.column_weights_, rtol=1e-6)
    assert_allclose(sparse.predict(sp.csr_array(A)), dense.predict(A), rtol=1e-6)


def test_rows_on_a_device_choose_the_same():
    here = KernelELMRegressor(random_state=0).fit(X, Y)
    with sklearn.config_context(array_api_dispatch=True):
        A = array_api_strict.asarray(X, device=array_api_strict.Device("device1"))
        there = KernelELMRegressor(random_state=0).fit(A, Y)
        assert there.column_weights_.device == A.device
        weights = there.column_weights_.to_device(array_api_strict.Device("CPU_DEVICE"))
    assert_allclose(np.asarray(weights), here.column_weights_, rtol=1e-9)


@pytest.mark.parametrize("scaling", ["auto", None])
def test_a_saved_model_predicts_the_same(scaling, tmp_path):
    model = KernelELMClassifier(scaling=scaling, random_state=0).fit(*IRIS)
    ulmus.save(model, tmp_path / "model")
    loaded = ulmus.load(tmp_path / "model")
    assert_array_equal(loaded.predict_proba(IRIS[0]), model.predict_proba(IRIS[0]))
    assert_array_equal(loaded.column_weights_, model.column_weights_)
    ulmus.save(KernelELMRegressor(["rbf"]).fit(X, Y), tmp_path / "list")
    assert ulmus.load(tmp_path / "list").kernel == ["rbf"]


def test_class_weights_count_in_the_choice():
    model = KernelELMClassifier(class_weight="balanced", random_state=0).fit(*IRIS)
    assert model.loo_score_ > 0.94


# ------------------------------------------------------------------ arguments
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernel": []}, "no kernel to choose from"),
        ({"kernel": ["rbf", "chi2"]}, "is unknown"),
        ({"kernel": ["linear"]}, "cannot be chosen"),
        ({"kernel": ["sigmoid"]}, "cannot be chosen"),
        ({"kernel": [RBF(1.0)]}, "cannot be chosen"),
        ({"gamma": 0.5}, "chooses it"),
        ({"column_weights": "mean"}, "is unknown"),
        ({"kernel": RBF(1.0), "column_weights": np.ones(4)}, "needs a kernel that is given by"),
        ({"kernel": "precomputed", "column_weights": np.ones(4)}, "needs a kernel that is given"),
    ],
)
def test_arguments_that_cannot_be_used(options, message):
    with pytest.raises(InvalidParameterError, match=message):
        KernelELMClassifier(**options).fit(*IRIS)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(3), "X has 4 columns"),
        ([1.0, -1.0, 1.0, 1.0], "not negative"),
        ([1.0, np.nan, 1.0, 1.0], "finite"),
        (np.zeros(4), "more than zero"),
        (b"rbf", "must be numbers"),
    ],
)
def test_weights_that_cannot_be_used(weights, message):
    with pytest.raises(InvalidInputError, match=message):
        KernelELMClassifier("rbf", column_weights=weights).fit(*IRIS)


def test_a_kernel_without_a_gradient_says_so(monkeypatch):
    monkeypatch.setattr(RBF, "slopes", Kernel.slopes)
    with pytest.raises(InvalidParameterError, match="states no gradient"):
        KernelELMClassifier(["rbf"]).fit(*IRIS)
    assert KernelELMClassifier(["rbf"], column_weights=None).fit(*IRIS).loo_score_ > 0.9


# ------------------------------------------------------------------ bad input
def score(A, y=Y):
    return KernelELMRegressor(random_state=0).fit(A[::2], y[::2]).score(A[1::2], y[1::2])


PLAIN = score(X)


def test_constant_and_repeated_columns_do_no_harm():
    assert_allclose(score(np.column_stack([X, np.full(120, 5.0)])), PLAIN, rtol=1e-6)
    more = np.column_stack([X, X[:, 0], X[:, 0]])
    assert score(more) > PLAIN - 0.1
    weights = KernelELMRegressor(random_state=0).fit(more, Y).column_weights_
    assert_allclose(weights[[10, 11]], weights[0], rtol=1e-9)


@pytest.mark.parametrize("n", [20, 200, 600])
def test_rows_that_are_all_equal_have_the_mean(n):
    y = np.random.default_rng(0).standard_normal(n)
    model = KernelELMRegressor(random_state=0).fit(np.ones((n, 2)), y)
    assert_allclose(model.predict(np.ones((3, 2))), y.mean(), atol=1e-9)


def test_one_column_has_the_weight_one():
    model = KernelELMRegressor(random_state=0).fit(X[:, :1], Y)
    assert_allclose(model.column_weights_, [1.0])


def test_a_target_of_noise_is_not_believed():
    rng = np.random.default_rng(1)
    scores = [score(rng.standard_normal((120, 5)), rng.standard_normal(120)) for _ in range(5)]
    assert np.mean(scores) > -0.15


def test_one_hot_columns_are_weighed():
    rng = np.random.default_rng(0)
    codes, other = rng.integers(0, 6, (2, 150))
    A = np.column_stack([np.eye(6)[codes], np.eye(6)[other]])
    y = np.array([0.0, 3.0, -2.0, 1.0, 5.0, -4.0])[codes] + 0.1 * rng.standard_normal(150)
    model = KernelELMRegressor(random_state=0).fit(A[:100], y[:100])
    assert model.score(A[100:], y[100:]) > 0.97
    assert model.column_weights_[:6].min() >= model.column_weights_[6:].max()


def test_heavy_tails_leave_the_rest_to_be_learned():
    rng = np.random.default_rng(0)
    A = np.column_stack([rng.standard_cauchy((200, 2)), rng.standard_normal((200, 2))])
    y = np.sin(2.0 * A[:, 2]) + A[:, 3]
    assert score(A, y) > 0.8


def with_far_value(rows=X):
    """Friedman's first problem with one value that is a hundred times as far as any other."""
    far = rows.copy()
    far[4, 0] = 100.0
    return far


def test_one_far_value_costs_the_others_nothing():
    far = with_far_value()
    model = KernelELMRegressor(random_state=0).fit(far[::2], Y[::2])
    assert model.scaling_.greatest[0] <= 1.0
    assert model.score(X[1::2], Y[1::2]) > PLAIN - 0.03


def test_a_far_value_of_a_new_row_counts_as_the_farthest_ordinary_one():
    model = KernelELMRegressor(random_state=0).fit(with_far_value(), Y)
    row = X[:1].copy()
    row[0, 0] = model.scaling_.greatest[0]
    ordinary = model.predict(row)
    row[0, 0] = 1e6
    assert_allclose(model.predict(row), ordinary)


def test_long_tails_and_rare_values_are_not_far():
    rng = np.random.default_rng(0)
    A = np.column_stack([rng.lognormal(size=500), rng.random(500) < 0.005, rng.random(500)])
    assert KernelELMRegressor().fit(A, A[:, 0]).scaling_.least is None


def test_a_model_with_far_values_is_saved_and_written_as_onnx(tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    model = KernelELMRegressor(random_state=0).fit(with_far_value(), Y)
    ulmus.save(model, tmp_path / "model")
    assert_array_equal(ulmus.load(tmp_path / "model").predict(1e3 * X), model.predict(1e3 * X))
    session = onnxruntime.InferenceSession(ulmus.to_onnx(model).SerializeToString())
    name = session.get_inputs()[0].name
    found = session.run(None, {name: (1e3 * X).astype(np.float32)})[0]
    assert_allclose(found.ravel(), model.predict(1e3 * X), rtol=1e-4)


def test_given_weights_stay_beside_far_values():
    weights = np.linspace(0.5, 2.0, 10)
    model = KernelELMRegressor(column_weights=weights).fit(with_far_value(), Y)
    free = KernelELMRegressor(column_weights=None).fit(with_far_value(), Y)
    assert_allclose(model.scaling_.factor, free.scaling_.factor * weights)


@pytest.mark.parametrize("n", [2, 3, 5, 12, 29])
def test_few_rows_are_fitted(n):
    model = KernelELMRegressor().fit(X[:n], Y[:n])
    assert np.isfinite(model.predict(X)).all()
    labels = np.arange(n) % 2
    assert set(KernelELMClassifier().fit(X[:n], labels).predict(X)) <= {0, 1}


def test_a_class_of_one_row_is_fitted():
    A, y = IRIS[0][:101], IRIS[1][:101]
    model = KernelELMClassifier(random_state=0).fit(A, y)
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.score(A, y) > 0.95


# ------------------------------------------------------------------ what it is for
def test_steps_are_for_the_laplacian_and_waves_for_the_gaussian():
    rng = np.random.default_rng(0)
    A = rng.uniform(size=(250, 3))
    steps, waves = (A[:, 0] > 0.5) + 2.0 * (A[:, 1] > 0.3), np.sin(6.0 * A.sum(axis=1))
    for y, kinds in ((steps, {"LaplacianKernel", "Exponential"}), (waves, {"RBF"})):
        assert type(KernelELMRegressor(random_state=0).fit(A, y).kernel_).__name__ in kinds


def test_it_is_no_worse_than_the_gaussian_on_diabetes():
    A, y = load_diabetes(return_X_y=True)
    chosen, gaussian = (
        cross_val_score(KernelELMRegressor(kernel, random_state=0), A, y, cv=5).mean()
        for kernel in ("loo", "rbf")
    )
    assert chosen > gaussian - 0.02
