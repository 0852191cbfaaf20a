"""What ELMClassifier promises."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits, make_blobs, make_classification
from sklearn.frozen import FrozenEstimator
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import oracles
from ulmus import ELMClassifier, KernelELMClassifier, RandomFeatures, RBFFeatures
from ulmus.calibration import probabilities
from ulmus.exceptions import InvalidInputError

X, y = make_classification(300, 8, n_informative=5, n_classes=3, random_state=0)
PAIR = (y > 0).astype(int)


def test_the_weights_are_the_formula():
    model = ELMClassifier(n_hidden=40, C=2.0, random_state=0).fit(X, y)
    H = model.features_.transform(X)
    expected = oracles.ridge(H, oracles.one_vs_rest(y, np.arange(3)), 2.0)
    assert_allclose(model.beta_, expected, rtol=1e-7)
    assert_allclose(model.decision_function(X), H @ expected, rtol=1e-7)
    assert model.solver_ == "primal"
    assert model.selection_ == "fixed"
    assert not hasattr(model, "loo_path_")


def test_two_classes_need_one_column():
    model = ELMClassifier(n_hidden=40, C=2.0, random_state=0).fit(X, PAIR)
    assert model.beta_.shape == (40, 1)
    assert model.decision_function(X).shape == (300,)
    assert_array_equal(model.predict(X), (model.decision_function(X) > 0).astype(int))


@pytest.mark.parametrize("h", [40, 400])
def test_C_is_the_one_that_leaves_out_best(h):
    model = ELMClassifier(n_hidden=h, random_state=0).fit(X, y)
    path = model.loo_path_
    assert set(path) == {"C", "squared_error", "error_rate"}
    best = np.flatnonzero(path["C"] == model.C_)[0]
    close = path["error_rate"] <= path["error_rate"].min() + 1.001 / len(y)
    assert close[best]
    assert path["squared_error"][best] == path["squared_error"][close].min()
    assert model.selection_ == "loo"
    again = ELMClassifier(n_hidden=h, C=model.C_, random_state=0).fit(X, y)
    assert_allclose(again.decision_function(X), model.decision_function(X), atol=1e-6)
    assert model.loo_score_ == pytest.approx(1 - path["error_rate"][best])


def test_C_from_a_list():
    model = ELMClassifier(n_hidden=40, C=[0.5, 5.0], random_state=0).fit(X, y)
    assert model.C_ in (0.5, 5.0)
    assert_array_equal(model.loo_path_["C"], [0.5, 5.0])


def test_many_rows_are_left_out_as_a_sample():
    rng = np.random.default_rng(0)
    many = rng.standard_normal((20_001, 2)).astype(np.float32)
    model = ELMClassifier(n_hidden=10, random_state=0).fit(many, many[:, 0] > 0)
    assert model.selection_ == "loo-sample"
    assert ELMClassifier(n_hidden=10).fit(many[1:], many[1:, 0] > 0).selection_ == "loo"


def test_the_number_of_units_can_be_chosen():
    model = ELMClassifier(RandomFeatures(128, random_state=0), n_hidden="loo").fit(X, y)
    assert model.n_hidden_ in (128, 64, 32, 16)
    assert model.beta_.shape[0] == model.features_.transform(X).shape[1] == model.n_hidden_
    scores = [
        ELMClassifier(RandomFeatures(h, random_state=0)).fit(X, y).loo_score_
        for h in (128, 64, 32, 16)
    ]
    assert model.loo_score_ == pytest.approx(max(scores), abs=1.001 / len(y))


@pytest.mark.parametrize("h", [64, 1024])
def test_the_number_of_units_can_be_chosen_for_one_C(h):
    model = ELMClassifier(RandomFeatures(h, random_state=0), n_hidden="loo", C=1.0).fit(X, y)
    assert model.C_ == 1.0
    assert model.selection_ == "loo"
    assert model.n_hidden_ in [h >> k for k in range(8)]


def test_the_likeliest_class_is_the_predicted_one():
    for target in (y, PAIR):
        model = ELMClassifier(n_hidden=60, random_state=0).fit(X[::2], target[::2])
        P = model.predict_proba(X)
        assert_array_equal(model.classes_[P.argmax(axis=1)], model.predict(X))
        assert_allclose(P.sum(axis=1), 1.0)
        assert_allclose(np.log(P), model.predict_log_proba(X))


def test_the_likeliest_class_is_the_predicted_one_at_a_tie():
    F = np.array([[0.3, np.nextafter(0.3, 1), -1.0]])
    assert probabilities(F, 0.01).argmax() == 1
    assert probabilities(np.array([[1e-300]]), 0.5).argmax() == 1
    assert probabilities(np.array([[0.0]]), 0.5).argmax() == 0


def test_probabilities_are_calibrated():
    many, labels = make_blobs(4000, centers=[[0, 0], [1, 1], [0, 2]], random_state=0)
    model = ELMClassifier(n_hidden=100, random_state=0).fit(many[:2000], labels[:2000])
    P = model.predict_proba(many[2000:])
    confidence, right = P.max(axis=1), P.argmax(axis=1) == labels[2000:]
    assert abs(confidence.mean() - right.mean()) < 0.05
    # A temperature that is off by a factor of three either way is worse.
    F = model.decision_function(many[2000:])
    at = [log_loss(labels[2000:], probabilities(F, k * model.temperature_)) for k in (1 / 3, 1, 3)]
    assert at[1] == min(at)


@pytest.mark.parametrize(
    "model", [ELMClassifier(n_hidden=100, random_state=0), KernelELMClassifier("rbf")]
)
def test_classes_that_are_not_equally_easy_have_scales_of_their_own(model):
    # The third is told from the others with ease, and these from each other hardly.
    sizes, centers = [900, 300, 800], [[0, 0], [1, 0], [8, 8]]
    many, labels = make_blobs(sizes, centers=centers, random_state=0)
    half = np.random.RandomState(0).permutation(2000)
    fitted, new = half[:1000], half[1000:]
    model.fit(many[fitted], labels[fitted])
    P, F = model.predict_proba(many[new]), model.decision_function(many[new])
    assert model.class_scaling_.shape == (2, 3)
    assert_array_equal(P.argmax(axis=1), model.predict(many[new]))
    alone = log_loss(labels[new], probabilities(F, model.temperature_))
    assert log_loss(labels[new], P) < alone - 0.005


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["red", "green", "blue"]),
        np.array([10, -7, 3]),
        np.array([True, False, True])[:2],
        np.array(["a", 1, 2.5], dtype=object),
        np.array([2, 1, 0], dtype=object),
    ],
    ids=str,
)
def test_labels_of_any_kind(labels):
    target = labels[y % len(labels)]
    model = ELMClassifier(n_hidden=60, random_state=0).fit(X, target)
    assert set(model.classes_.tolist()) == set(labels.tolist())
    plain = ELMClassifier(n_hidden=60, random_state=0).fit(X, y % len(labels))
    right = np.mean(model.predict(X) == target)
    assert right == pytest.approx(plain.score(X, y % len(labels)), abs=0.02)
    assert set(model.predict(X).tolist()) <= set(labels.tolist())


def test_weighted_elm_gives_every_class_the_same_say():
    rare = np.flatnonzero(PAIR == 0)[:15]
    rows = np.r_[rare, np.flatnonzero(PAIR == 1)]
    plain = ELMClassifier(n_hidden=20, C=1.0, random_state=0).fit(X[rows], PAIR[rows])
    fair = ELMClassifier(n_hidden=20, C=1.0, class_weight="balanced", random_state=0)
    fair.fit(X[rows], PAIR[rows])
    H = fair.features_.transform(X[rows])
    weight = np.where(PAIR[rows] == 0, len(rows) / 2 / 15, len(rows) / 2 / (len(rows) - 15))
    expected = oracles.ridge(H, 2.0 * PAIR[rows][:, None] - 1, 1.0, weight)
    assert_allclose(fair.beta_, expected, rtol=1e-7)
    assert (fair.predict(X) == 0).sum() > (plain.predict(X) == 0).sum()
    named = ELMClassifier(
        n_hidden=20, C=1.0, class_weight={0: weight[0], 1: weight[-1]}, random_state=0
    ).fit(X[rows], PAIR[rows])
    assert_allclose(named.beta_, fair.beta_)


# ---------------------------------------------------------------- streams
SETTLED = FrozenEstimator(RandomFeatures(25, random_state=0).fit(X))
CUTS = [40, 41, 200]


def batches():
    return zip(np.split(X, CUTS), np.split(y, CUTS), strict=True)


def test_a_frozen_map_of_other_columns_is_refused():
    other = FrozenEstimator(RandomFeatures(25, random_state=0).fit(X[:, 1:]))
    with pytest.raises(InvalidInputError, match="and features=RandomFeatures was fitted to"):
        ELMClassifier(other).fit(X, y)


@pytest.mark.parametrize("C", [1.0, "loo"])
def test_partial_fit_is_one_fit_on_all_batches(C):
    parts = ELMClassifier(SETTLED, C=C)
    for rows, labels in batches():
        parts.partial_fit(rows, labels, classes=[0, 1, 2])
    stream, rewound = ELMClassifier(SETTLED, C=C).fit(batches()), ELMClassifier(SETTLED, C=C)
    rewound.fit(batches)
    whole = ELMClassifier(SETTLED, C=parts.C_).fit(X, y)
    for model in (parts, stream, rewound):
        assert_allclose(model.beta_, whole.beta_, rtol=1e-6, atol=1e-8)
        assert model.selection_ == ("fixed" if C == 1.0 else "loo")


def test_batches_that_can_be_read_twice_are_one_fit():
    model = ELMClassifier(n_hidden=25, C=1.0, random_state=0).fit(batches)
    whole = ELMClassifier(n_hidden=25, C=1.0, random_state=0).fit(X, y)
    assert_allclose(model.beta_, whole.beta_, rtol=1e-6, atol=1e-8)


def test_balanced_batches_that_can_be_read_twice_are_one_fit():
    settings = {"n_hidden": 25, "C": 1.0, "class_weight": "balanced", "random_state": 0}
    model = ELMClassifier(**settings).fit(batches)
    assert_allclose(model.beta_, ELMClassifier(**settings).fit(X, y).beta_, rtol=1e-6)


def test_partial_fit_goes_on_from_fit():
    for rows in (200, 20):  # the primal keeps sums, the dual keeps rows
        model = ELMClassifier(SETTLED, C=1.0).fit(X[:rows], y[:rows])
        model.partial_fit(X[rows:], y[rows:])
        assert_allclose(model.beta_, ELMClassifier(SETTLED, C=1.0).fit(X, y).beta_, rtol=1e-6)


def test_forgetting_a_batch_takes_it_out():
    model = ELMClassifier(SETTLED, C=1.0).fit(X, y)
    model.partial_fit(X[200:], y[200:], forget=True)
    without = ELMClassifier(SETTLED, C=1.0).fit(X[:200], y[:200])
    assert_allclose(model.beta_, without.beta_, rtol=1e-5, atol=1e-7)
    assert np.isfinite(model.predict_proba(X)).all()


def test_decay_is_a_weight_on_the_past():
    model = ELMClassifier(SETTLED, C=1.0).partial_fit(X[:150], y[:150])
    model.partial_fit(X[150:], y[150:], decay=0.25)
    weight = np.where(np.arange(300) < 150, 0.25, 1.0)
    whole = ELMClassifier(SETTLED, C=1.0).fit(X, y, sample_weight=weight)
    assert_allclose(model.beta_, whole.beta_, rtol=1e-6, atol=1e-8)


def test_a_class_may_turn_up_late():
    order = np.argsort(y == 1, kind="stable")  # class 1 comes last, and sorts in between
    model = ELMClassifier(SETTLED, C=1.0)
    for rows in np.split(order, [100, 200]):
        model.partial_fit(X[rows], y[rows])
    whole = ELMClassifier(SETTLED, C=1.0).fit(X, y)
    assert_array_equal(model.classes_, [0, 1, 2])
    assert_allclose(model.beta_, whole.beta_, rtol=1e-6, atol=1e-8)


def test_batches_may_carry_weights():
    weight = np.random.default_rng(0).uniform(0, 2, 300)
    stream = zip(np.split(X, CUTS), np.split(y, CUTS), np.split(weight, CUTS), strict=True)
    model = ELMClassifier(SETTLED, C=1.0).fit(stream)
    whole = ELMClassifier(SETTLED, C=1.0).fit(X, y, sample_weight=weight)
    assert_allclose(model.beta_, whole.beta_, rtol=1e-6, atol=1e-8)


# ---------------------------------------------------------------- company
@pytest.mark.parametrize(
    "features",
    [
        StandardScaler(),
        Nystroem(n_components=30, random_state=0),
        make_pipeline(StandardScaler(), RBFFeatures(20, random_state=0)),
        FunctionTransformer(),
    ],
    ids=lambda f: type(f).__name__,
)
def test_any_transformer_is_a_feature_map(features):
    before = X.copy()
    weight = np.linspace(0.1, 2, 300)
    model = ELMClassifier(features, C=1.0).fit(X, y, sample_weight=weight)
    H = model.features_.transform(X)
    expected = oracles.ridge(H, oracles.one_vs_rest(y, np.arange(3)), 1.0, weight)
    assert_allclose(model.beta_, expected, rtol=1e-6, atol=1e-9)
    assert_array_equal(X, before)  # a transformer may hand back its input; it is not ours to scale


def test_frames_pipelines_and_searches():
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(8)])
    model = ELMClassifier(n_hidden=30, random_state=0).fit(frame, pd.Series(y))
    assert_array_equal(model.feature_names_in_, frame.columns)
    assert_array_equal(
        model.predict(frame), ELMClassifier(n_hidden=30, random_state=0).fit(X, y).predict(X)
    )
    search = GridSearchCV(
        make_pipeline(StandardScaler(), ELMClassifier(RandomFeatures(random_state=0))),
        {"elmclassifier__features__n_hidden": [5, 50]},
        cv=3,
    ).fit(X, y)
    assert search.best_params_ == {"elmclassifier__features__n_hidden": 50}


def test_random_state_reaches_a_map_without_a_seed():
    a, b = (ELMClassifier(RBFFeatures(20), random_state=3).fit(X, y).beta_ for _ in range(2))
    assert_array_equal(a, b)


def test_float32_stays_float32():
    model = ELMClassifier(n_hidden=30, random_state=0).fit(X.astype(np.float32), y)
    assert model.decision_function(X.astype(np.float32)).dtype == np.float32
    wide = ELMClassifier(n_hidden=30, random_state=0, C=model.C_).fit(X, y)
    assert_allclose(
        model.decision_function(X.astype(np.float32)), wide.decision_function(X), atol=1e-2
    )


@pytest.mark.parametrize("seed", range(3))
def test_digits_by_default(seed):
    rows = train_test_split(
        *load_digits(return_X_y=True),
        test_size=0.25,
        random_state=seed,
        stratify=load_digits().target,
    )
    assert ELMClassifier(random_state=seed).fit(rows[0], rows[2]).score(rows[1], rows[3]) >= 0.975
