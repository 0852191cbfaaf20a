"""What the sparse estimator promises."""

import sys
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits, load_iris, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.model_selection import cross_val_score

import oracles
from ulmus import KernelELMClassifier, RandomFeatures, RBFFeatures, SparseELMClassifier
from ulmus.exceptions import InvalidInputError, InvalidParameterError, MissingExtraError
from ulmus.methods.margin import held_out

X, y = make_moons(150, noise=0.25, random_state=0)
THREE = (y + (X[:, 0] > 1.2)).astype(int)


def small(**parameters):
    return SparseELMClassifier(**{"n_hidden": 40, "random_state": 0, "tol": 1e-6} | parameters)


def by_kernel(**parameters):
    return small(n_hidden=None, **{"kernel": rbf_kernel} | parameters)


def assert_solves_the_dual(model, K, labels, c):
    """The attributes are an optimal dual solution, class by class."""
    T = oracles.one_vs_rest(labels, model.classes_)
    for j, t in enumerate(T.T):
        alpha = np.zeros(len(t))
        alpha[model.support_] = t[model.support_] * model.dual_coef_[j]
        assert alpha.min() >= 0
        assert np.count_nonzero(alpha) == model.n_support_[j]
        assert oracles.hinge_violation(alpha, K, t, c) <= 2 * model.tol
    assert_array_equal(model.support_, np.flatnonzero(np.isin(np.arange(len(T)), model.support_)))
    assert model.dual_coef_.any(axis=0).all()


@pytest.mark.parametrize(
    "labels", [y, THREE, np.array(["b", "a"])[y]], ids=["two", "three", "text"]
)
@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 3.0}], ids=str)
def test_hidden_rows(labels, class_weight):
    model = small(class_weight=class_weight).fit(X, labels)
    H = model.features_.transform(X)
    counts = np.bincount(np.unique(labels, return_inverse=True)[1])
    factor = np.ones(len(counts))
    if class_weight == "balanced":
        factor = len(labels) / (len(counts) * counts)
    elif class_weight:
        factor[0] = 3.0 if labels.dtype.kind == "i" else 1.0
    c = 10.0 * factor[np.unique(labels, return_inverse=True)[1]]
    assert_solves_the_dual(model, H @ H.T, labels, c)
    assert_allclose(model.beta_, H[model.support_].T @ model.dual_coef_.T, atol=1e-8)
    F = H @ model.beta_
    decision = model.decision_function(X)
    assert_allclose(decision, F[:, 0] if len(counts) == 2 else F, atol=1e-10)
    guess = (F[:, 0] > 0).astype(int) if len(counts) == 2 else F.argmax(1)
    assert_array_equal(model.predict(X), model.classes_[guess])
    assert model.beta_.shape == (40, 1 if len(counts) == 2 else 3)
    assert model.n_hidden_ == 40
    assert model.C_ == 10.0
    assert model.selection_ == "fixed"
    assert model.residual_ <= model.tol


@pytest.mark.parametrize("labels", [y, THREE], ids=["two", "three"])
def test_a_kernel_keeps_the_support_alone(labels):
    model = by_kernel().fit(X, labels)
    K = rbf_kernel(X)
    assert_solves_the_dual(model, K, labels, np.full(len(y), 10.0))
    assert_array_equal(model.support_vectors_, X[model.support_])
    assert len(model.support_) < len(y)
    F = K[:, model.support_] @ model.dual_coef_.T
    assert_allclose(model.decision_function(X), F[:, 0] if labels is y else F, atol=1e-10)
    assert not hasattr(model, "beta_")
    given = by_kernel(kernel="precomputed").fit(K, labels)
    assert_allclose(given.decision_function(K), model.decision_function(X), atol=1e-9)
    assert_array_equal(given.predict(K[:7]), model.predict(X[:7]))
    assert cross_val_score(by_kernel(kernel="precomputed"), K, labels, cv=3).mean() > 0.85
    with pytest.raises(InvalidInputError, match="use X.toarray()"):
        by_kernel(kernel="precomputed").fit(sp.csr_array(K), labels)


@pytest.mark.parametrize(
    "features", [RandomFeatures(40), RBFFeatures(40), Nystroem(n_components=40)], ids=repr
)
def test_any_map_is_the_kernel_of_its_rows(features):
    model = SparseELMClassifier(features, tol=1e-8, random_state=0).fit(X, THREE)
    H = model.features_.transform(X)
    kernel = by_kernel(kernel=linear_kernel, tol=1e-8).fit(H, THREE)
    assert_allclose(model.decision_function(X), kernel.decision_function(H), atol=1e-5)


def test_half_the_digits_need_half_their_rows():
    rows, labels = load_digits(return_X_y=True)
    model = SparseELMClassifier(RandomFeatures(500, activation="relu"), random_state=0)
    model.fit(rows[::2], labels[::2])
    assert model.score(rows[1::2], labels[1::2]) > 0.94
    assert len(model.support_) < len(labels[::2]) / 2
    assert (model.n_support_ < len(model.support_)).all()


def test_precision_follows_the_input_and_the_solution_does_not():
    wide, narrow = small().fit(X, y), small().fit(X.astype(np.float32), y)
    assert narrow.beta_.dtype == wide.beta_.dtype == np.float64
    assert narrow.decision_function(X.astype(np.float32)).dtype == np.float32
    assert_allclose(
        narrow.decision_function(X.astype(np.float32)), wide.decision_function(X), atol=2e-2
    )
    asked = small(dtype="float32").fit(X, y)
    assert_allclose(asked.beta_, narrow.beta_, atol=0.05 * np.abs(narrow.beta_).max())
    kernel = by_kernel(tol=1e-3).fit(X.astype(np.float32), y)
    assert_allclose(
        kernel.decision_function(X.astype(np.float32)),
        by_kernel(tol=1e-3).fit(X, y).decision_function(X),
        atol=5e-2,
    )


def test_sparse_rows():
    rows = np.where(np.abs(X) > 0.3, X, 0.0)
    a, b = small().fit(rows, THREE), small().fit(sp.csr_array(rows), THREE)
    assert_allclose(b.decision_function(sp.csr_array(rows)), a.decision_function(rows), atol=1e-5)
    a, b = by_kernel().fit(rows, THREE), by_kernel().fit(sp.csr_array(rows), THREE)
    assert_allclose(b.decision_function(sp.csr_array(rows)), a.decision_function(rows), atol=1e-5)


@pytest.mark.parametrize("make", [small, by_kernel])
def test_a_weight_of_two_is_the_row_twice(make):
    weight = np.where(np.arange(len(y)) % 3, 1.0, 2.0)
    twice = np.repeat(np.arange(len(y)), weight.astype(int))
    a = make(tol=1e-8).fit(X, y, sample_weight=weight)
    b = make(tol=1e-8).fit(X[twice], y[twice])
    assert_allclose(a.decision_function(X), b.decision_function(X), atol=1e-5)


@pytest.mark.parametrize("make", [small, by_kernel])
def test_rows_without_a_weight_are_not_there(make):
    weight = (np.arange(len(y)) % 4 > 0).astype(float)
    noisy = np.where(weight > 0, y, 1 - y)
    model = make().fit(X, noisy, sample_weight=weight)
    other = make().fit(X[weight > 0], y[weight > 0])
    assert_allclose(model.decision_function(X), other.decision_function(X), atol=1e-6)
    assert_array_equal(model.support_, np.flatnonzero(weight)[other.support_])
    given = by_kernel(kernel="precomputed").fit(rbf_kernel(X), noisy, sample_weight=weight)
    if make is by_kernel:
        assert_allclose(
            given.decision_function(rbf_kernel(X)), model.decision_function(X), atol=1e-6
        )


# ---------------------------------------------------------------- choosing C
@pytest.mark.parametrize("make", [small, by_kernel])
def test_C_is_chosen_on_rows_that_are_held_out(make):
    model = make(C="validation", tol=1e-3).fit(X, THREE)
    path = model.validation_path_
    assert model.selection_ == "validation"
    assert len(path["C"]) == len(path["error_rate"]) == len(path["n_support"]) == 9
    assert (np.diff(path["C"]) > 0).all()
    # The smallest of the best, and the model is the one with that C on all rows.
    best = path["error_rate"] == path["error_rate"].min()
    assert path["C"][best].min() == model.C_
    fixed = make(C=model.C_, tol=1e-3).fit(X, THREE)
    assert_allclose(model.decision_function(X), fixed.decision_function(X), atol=2e-2)
    assert not hasattr(fixed, "validation_path_")
    listed = make(C=[100.0, 0.1], tol=1e-3).fit(X, THREE)
    assert_array_equal(listed.validation_path_["C"], [0.1, 100.0])


def test_the_path_holds_the_errors_of_models_fitted_without_the_held_out_rows():
    model = small(C=[0.1, 1.0, 10.0]).fit(X, THREE)
    codes = THREE
    rng = np.random.RandomState(0)
    rng.randint(2**31 - 2)
    held = held_out(codes, 0.2, rng)
    assert abs(held.mean() - 0.2) < 0.02
    H = model.features_.transform(X)
    for C, rate in zip(
        model.validation_path_["C"], model.validation_path_["error_rate"], strict=True
    ):
        other = by_kernel(kernel=linear_kernel, C=C).fit(H[~held], codes[~held])
        assert rate == pytest.approx(np.mean(other.predict(H[held]) != codes[held]), abs=0.04)


# ---------------------------------------------------------------- continuing
@pytest.mark.parametrize("make", [small, by_kernel])
def test_a_warm_start_continues(make):
    cold = make(tol=1e-3, C=1.0).fit(X, THREE)
    steps = cold.n_iter_
    warm = make(tol=1e-3, C=1.0, warm_start=True).fit(X, THREE).fit(X, THREE)
    assert warm.n_iter_ < steps
    assert_allclose(warm.decision_function(X), cold.decision_function(X), atol=1e-2)
    # With another C it gets where a cold start gets.
    warm.set_params(C=3.0, tol=1e-6).fit(X, THREE)
    cold = make(C=3.0).fit(X, THREE)
    assert_allclose(warm.decision_function(X), cold.decision_function(X), atol=1e-4)
    with pytest.raises(InvalidInputError, match="which had 150 rows, and these are 100"):
        warm.fit(X[:100], THREE[:100])
    with pytest.raises(InvalidInputError, match=r"whose classes were \[0, 1, 2\]"):
        warm.fit(X, y)
    assert warm.predict(X).shape == (150,)


def test_too_few_steps_are_a_warning_that_says_how_far_it_is():
    with pytest.warns(
        ConvergenceWarning, match=r"2 steps left .*KKT residual\) of .*raise max_iter"
    ):
        model = small(max_iter=2).fit(X, y)
    assert model.n_iter_ == 2
    assert model.residual_ > model.tol
    with pytest.warns(ConvergenceWarning, match="KKT residual"):
        by_kernel(max_iter=1, kernel=lambda A, B: rbf_kernel(A, B, gamma=0.01)).fit(
            *make_moons(600, noise=0.3, random_state=0)
        )


def test_clone_and_calibrate():
    model = small(tol=1e-3)
    assert not hasattr(clone(model).fit(X, y), "predict_proba")
    proba = CalibratedClassifierCV(model, cv=3).fit(X, y).predict_proba(X)
    assert np.mean(proba.argmax(1) == y) > 0.75


def test_without_numba_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ulmus.backends.compiled", None)
    monkeypatch.delattr("ulmus.backends.compiled", raising=False)
    with pytest.raises(MissingExtraError, match=r"pip install 'ulmus\[sparse\]'"):
        small().fit(X, y)


# ---------------------------------------------------------------- odd input
@pytest.mark.parametrize("make", [small, by_kernel])
def test_rows_that_are_all_equal_or_repeated(make):
    same = np.ones((60, 4))
    model = make().fit(same, np.arange(60) % 3 == 0)
    assert not model.predict(same).any()  # the majority
    twice = make().fit(np.vstack([X, X]), np.r_[y, 1 - y])  # nothing to learn
    assert np.isfinite(twice.decision_function(X)).all()
    assert_allclose(twice.decision_function(X), 0.0, atol=1e-5)


def test_rows_of_zeros():
    rows = np.vstack([X, np.zeros((10, 2))])
    model = by_kernel(kernel=linear_kernel).fit(rows, np.r_[y, np.ones(10, int)])
    assert np.isfinite(model.decision_function(rows)).all()
    assert set(range(150, 160)) <= set(model.support_)


def test_two_rows():
    model = small().fit(X[:2], [0, 1])
    assert_array_equal(model.predict(X[:2]), [0, 1])
    assert_array_equal(by_kernel().fit(X[:2], [0, 1]).predict(X[:2]), [0, 1])


@pytest.mark.parametrize("C", [1e-6, 1e8])
def test_extreme_C(C):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for model in (small(C=C, tol=1e-3), by_kernel(C=C, tol=1e-3)):
            assert model.fit(*load_iris(return_X_y=True)).residual_ <= 1e-3


# ---------------------------------------------------------------- bad input
@pytest.mark.parametrize("C", [0, -1.0, np.nan, np.inf, [], [1.0, -1.0], "loo", None, [[1.0]]])
def test_C_that_is_no_positive_number(C):
    with pytest.raises(InvalidParameterError, match="positive number"):
        small(C=C).fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"tol": 0.0}, "tol=0.0 must be"),
        ({"tol": None}, "tol=None must be"),
        ({"max_iter": 0}, "max_iter=0 must be"),
        ({"max_iter": 2.5}, "max_iter=2.5 must be"),
        ({"validation_fraction": 1.0}, "validation_fraction=1.0 must be"),
        ({"n_hidden": "loo"}, "needs a squared loss"),
        ({"kernel": rbf_kernel}, "takes the place of the hidden layer"),
        ({"kernel": "fourier", "n_hidden": None}, "kernel='fourier' is unknown"),
        ({"class_weight": "fair"}, "a dict, 'balanced' or None"),
        ({"features": "sigmoid", "n_hidden": None}, "has no transform"),
    ],
)
def test_parameters_that_cannot_be_used(parameters, words):
    with pytest.raises(InvalidParameterError, match=words):
        small(**parameters).fit(X, y)


@pytest.mark.parametrize(
    ("K", "words"),
    [
        (rbf_kernel(X)[:, :-1], "needs the square matrix"),
        (rbf_kernel(X) + np.triu(np.ones((150, 150))), "not symmetric"),
        (rbf_kernel(X) - 0.5, "not positive semi-definite"),
        (-rbf_kernel(X), "negative between a row and itself"),
        (np.where(rbf_kernel(X) > 0.99, np.nan, 1.0), "NaN"),
    ],
    ids=["oblong", "skew", "indefinite", "negative", "nan"],
)
def test_matrices_that_are_no_kernel(K, words):
    with pytest.raises(ValueError, match=words):
        by_kernel(kernel="precomputed").fit(K, y)


def _skew(A, B):
    return rbf_kernel(A, B) * (3.0 + A[:, :1])


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        (lambda A, B: rbf_kernel(A, A), "it must be|not symmetric"),
        (lambda A, B: rbf_kernel(A, B).ravel(), "one number for each pair"),
        (lambda A, B: np.full((len(A), len(B)), np.nan), "not finite"),
        (lambda A, B: np.full((len(A), len(B)), np.inf), "not finite"),
        (_skew, "not symmetric"),
        (lambda A, B: -rbf_kernel(A, B), "negative between a row and itself"),
        (lambda A, B: np.tanh(A @ B.T - 1.0) + 1.0, "not positive semi-definite"),
    ],
    ids=["square", "flat", "nan", "infinite", "skew", "negative", "indefinite"],
)
def test_functions_that_are_no_kernel(kernel, words):
    with pytest.raises(InvalidInputError, match=words):
        by_kernel(kernel=kernel).fit(X, y)


def test_labels_and_weights_that_cannot_be_used():
    with pytest.raises(InvalidInputError, match="only one class, 1"):
        small().fit(X, np.ones(150, int))
    with pytest.raises(ValueError, match="(?i)sample weights .*zero"):
        small().fit(X, y, sample_weight=np.zeros(150))
    with pytest.raises(ValueError, match="[Nn]egative"):
        small().fit(X, y, sample_weight=-np.ones(150))
    with pytest.raises(ValueError, match="continuous"):
        small().fit(X, X[:, 0])
    with pytest.raises(InvalidInputError, match="give C a number"):
        small(C="validation").fit(X[:2], [0, 1])
    with pytest.raises(ValueError, match="X has 1 features"):
        by_kernel().fit(X, y).predict(X[:, :1])


@pytest.mark.parametrize("make", [small, by_kernel])
@pytest.mark.parametrize(
    "call",
    [
        lambda model: model.fit(np.full_like(X, np.nan), y),
        lambda model: model.fit(X[:, :1], y[:-1]),
        lambda model: model.set_params(C=-1.0).fit(X, y),
        lambda model: model.fit(X[:, :1], np.zeros(150)),
        lambda model: model.set_params(features=Nystroem(gamma=np.nan)).fit(X, THREE),
    ],
)
def test_a_failed_fit_leaves_the_model_as_it_was(make, call):
    model = make(tol=1e-3).fit(X, y)
    before, names = model.predict(X), set(vars(model))
    with pytest.raises((ValueError, InvalidInputError)):
        call(model)
    assert set(vars(model)) == names
    model.set_params(features=None, C=10.0)
    assert_array_equal(model.predict(X), before)
    assert model.n_features_in_ == 2


def test_named_kernels_are_those_of_kernel_elm():
    ridge = KernelELMClassifier("arcsine", C=1.0).fit(X, THREE)
    model = SparseELMClassifier(kernel="arcsine", tol=1e-8).fit(X, THREE)
    assert model.kernel_ == ridge.kernel_
    rows = ridge.landmarks_
    by_hand = by_kernel(kernel=ridge.kernel_, tol=1e-8).fit(rows, THREE)
    assert_allclose(model.decision_function(X), by_hand.decision_function(rows), atol=1e-6)
    sparse = SparseELMClassifier(kernel="arcsine", tol=1e-8).fit(sp.csr_array(X), THREE)
    assert_allclose(sparse.decision_function(X), model.decision_function(X), atol=1e-5)
    assert_allclose(
        sparse.decision_function(sp.csr_array(X)), model.decision_function(X), atol=1e-5
    )
