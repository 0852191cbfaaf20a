"""Truths about rows that come in batches: what is kept of them, and what a model makes of them."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis.strategies import booleans, integers, lists, sampled_from
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from conditioning import EPS, Conditioning, assert_within
from ulmus import (
    ELMClassifier,
    ELMRegressor,
    GraphELMClassifier,
    KernelFeatures,
    RandomFeatures,
    RBFFeatures,
    reservoir,
)
from ulmus.exceptions import IllConditionedWarning

# SciPy's bounded search ends within 1e-5 of log a, from either side.
SEARCHED = 2e-5
laws = settings(max_examples=10)
seeds = integers(0, 10**6)
MODELS = {
    "classifier": ELMClassifier(n_hidden=30, random_state=3),
    "regressor": ELMRegressor(n_hidden=30, random_state=3),
    "GELM": GraphELMClassifier(n_hidden=30, random_state=3),
    "one C": ELMClassifier(n_hidden=30, C=2.0, random_state=3),
    "width chosen": ELMClassifier(RandomFeatures(64), n_hidden="loo", random_state=3),
    "centres from the rows": ELMClassifier(RBFFeatures(20), random_state=3),
    "a kernel": ELMRegressor(KernelFeatures(tol=1e-3), random_state=3),
    "a transformer": ELMClassifier(
        make_pipeline(StandardScaler(), RandomFeatures(20, random_state=0)), random_state=3
    ),
    "float32": ELMClassifier(n_hidden=30, dtype="float32", random_state=3),
}


def world(seed, n, model):
    """Rows whose columns drift, so that the first ones tell little of the scale of all."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4)) * np.linspace(1, 5, n)[:, None] + np.linspace(0, 3, n)[:, None]
    z = X[:, 0] - X[:, 1] + 0.3 * rng.standard_normal(n)
    y = z if isinstance(model, ELMRegressor) else np.digitize(z, [-1.0, 1.0])
    return X, y


def batches(n, cuts):
    ends = sorted({min(cut, n) for cut in cuts} - {0, n})
    return [slice(a, b) for a, b in zip([0, *ends], [*ends, n], strict=True)]


def outputs(model, X):
    return (model.decision_function if hasattr(model, "classes_") else model.predict)(X)


def rounding(model, X, expected):
    """How far rounding may move the outputs, for the condition of a fit to rows like these."""
    H = model.features_.transform(X)
    short = H.dtype == np.float32 or model.dtype == "float32"
    H = np.asarray(H, dtype=float)
    T = np.full((len(H), 1), np.abs(expected).max())
    scatter = getattr(model, "lam_", 0.0) * H.T @ H  # GELM's is no more than this
    apart = Conditioning.of(H, T, 1.0 / model.C_, penalty=scatter).new_rows(H)
    apart = apart * float(np.finfo(np.float32).eps) / EPS if short else apart
    return apart.reshape(-1, *[1] * (expected.ndim - 1))


def assert_same_outputs(a, b, X, times=1.0):
    """``times`` is how much larger the sums were that rows were taken out of."""
    expected = outputs(b, X)
    assert_within(outputs(a, X), expected, times * rounding(b, X, expected))


def assert_same_model(a, b, X):
    assert a.C_ == b.C_
    assert a.n_hidden_ == b.n_hidden_
    assert a.selection_ == b.selection_
    assert_same_outputs(a, b, X)
    if hasattr(a, "classes_"):
        assert_array_equal(a.classes_, b.classes_)
        assert_same_temperature(a, b, X)


def assert_same_temperature(a, b, X):
    """Outputs off by a part of their size move log a by as much; its search stops early."""
    F = outputs(b, X)
    part = float((rounding(b, X, F) / np.abs(F).max()).max())
    assert_within(np.log(a.temperature_), np.log(b.temperature_), SEARCHED + part)


@pytest.mark.parametrize("name", MODELS)
@laws
@given(seed=seeds, n=integers(4, 90), cuts=lists(integers(1, 89), max_size=6))
def test_updates_are_one_fit_however_the_rows_are_cut(name, seed, n, cuts):
    model = MODELS[name]
    X, y = world(seed, n, model)
    if len(np.unique(y)) < 2:
        return
    whole, parts = clone(model).fit(X, y), clone(model)
    for rows in batches(n, cuts):
        parts.partial_fit(X[rows], y[rows])
    assert_same_model(parts, whole, X)
    rows = batches(n, cuts)
    stream = clone(model).fit((X[part], y[part]) for part in rows)
    twice = clone(model).fit(lambda: ((X[part], y[part]) for part in rows))
    assert_same_model(stream, whole, X)
    assert_same_model(twice, whole, X)


@laws
@given(
    seed=seeds,
    cut=integers(2, 70),
    name=sampled_from(["classifier", "regressor", "GELM", "one C"]),
    weighted=booleans(),
    sparse=booleans(),
)
def test_what_is_forgotten_was_never_there(seed, cut, name, weighted, sparse):
    X, y = world(seed, 80, MODELS[name])
    order = np.random.default_rng(seed).permutation(80)
    stay, go = order[:cut], order[cut:]
    if len(np.unique(y[stay])) < 2:
        return
    weight = np.random.default_rng(seed).uniform(0.5, 2.0, 80) if weighted else np.ones(80)
    rows = sp.csr_array(X) if sparse else X
    model = clone(MODELS[name])
    for part in (stay, go):
        model.partial_fit(rows[part], y[part], sample_weight=weight[part])
    model.partial_fit(rows[go], y[go], sample_weight=weight[go], forget=True)
    without = clone(MODELS[name]).fit(rows[stay], y[stay], sample_weight=weight[stay])
    assert_same_model(model, without, X)


@laws
@given(seed=seeds, name=sampled_from(["classifier", "regressor", "GELM"]))
def test_fading_is_a_weight_on_the_past(seed, name):
    X, y = world(seed, 60, MODELS[name])
    model = clone(MODELS[name]).partial_fit(X[:20], y[:20])
    model.partial_fit(X[20:40], y[20:40], decay=0.5).partial_fit(X[40:], y[40:], decay=0.25)
    weight = np.repeat([0.125, 0.25, 1.0], 20)
    whole = clone(MODELS[name])
    if len(np.unique(y)) > 1:
        assert_same_model(model, whole.fit(X, y, sample_weight=weight), X)


def test_a_seed_that_is_drawn_stays():
    X, y = world(0, 60, None)
    for model in (
        ELMClassifier(n_hidden=15),
        ELMClassifier(RandomFeatures(15)),
        ELMClassifier(RBFFeatures(15)),
        ELMClassifier(Nystroem(n_components=5)),
        ELMClassifier(n_hidden=15, random_state=np.random.RandomState(0)),
        ELMClassifier(RandomFeatures(15), random_state=np.random.RandomState(0)),
    ):
        model.fit(X[:30], y[:30])
        drawn = isinstance(model.features_, RandomFeatures)
        units = model.features_.weights_ if drawn else None
        model.partial_fit(X[30:], y[30:])
        seeded = clone(model).set_params(random_state=model._kept.seed).fit(X, y)
        assert_same_model(model, seeded, X)
        if units is not None:
            assert_array_equal(model.features_.weights_, units)


# ---------------------------------------------------------------- more rows than are kept
FEW = 25


@pytest.fixture
def few(monkeypatch):
    """Few rows are kept, so that sums begin soon."""
    monkeypatch.setattr(reservoir, "_LEAST", FEW)
    monkeypatch.setattr(reservoir, "_BYTES", 0)


SUMMED = {
    "classifier": ELMClassifier(n_hidden=12, random_state=3),
    "regressor": ELMRegressor(n_hidden=12, random_state=3),
    "GELM": GraphELMClassifier(n_hidden=12, C=[0.1, 10.0], lam=[0.1, 10.0], random_state=3),
    "one C": ELMClassifier(n_hidden=12, C=2.0, random_state=3),
    "float32": ELMRegressor(n_hidden=12, C=1.0, dtype="float32", random_state=3),
}


@pytest.fixture
def refitted(monkeypatch):
    """All rows are kept, and fitted again as they grow, but not at every update."""
    monkeypatch.setattr(reservoir, "_LEAST", FEW)
    monkeypatch.setattr(reservoir, "_NEW", 30)


@pytest.fixture(params=["few", "refitted"])
def kept(request):
    """Whether rows turn to a sample or stay, once there are sums."""
    request.getfixturevalue(request.param)
    return request.param


unsettled = settings(laws, suppress_health_check=[HealthCheck.function_scoped_fixture])


def streamed(model, X, y, weight=None):
    """Updates, the first of which are kept and the others summed; the last has three rows."""
    weight = np.ones(len(y)) if weight is None else weight
    for rows in batches(len(y), (10, 31, 32, 70, len(y) - 3)):
        model.partial_fit(X[rows], y[rows], sample_weight=weight[rows])
    return model


def settled(model):
    """An estimator like the model, with its map and its C."""
    found = {"C": model.C_} | ({"lam": model.lam_} if hasattr(model, "lam_") else {})
    return clone(model).set_params(
        features=FrozenEstimator(model.features_), n_hidden=None, **found
    )


@pytest.mark.parametrize("name", SUMMED)
@unsettled
@given(seed=seeds, n=integers(75, 120), weighted=booleans(), sparse=booleans())
def test_sums_are_one_fit_with_the_map_and_the_C_in_use(name, seed, n, weighted, sparse, kept):
    model = clone(SUMMED[name])
    X, y = world(seed, n, model)
    X = sp.csr_array(X) if sparse else X
    weight = np.random.default_rng(seed).uniform(0.2, 3.0, n) if weighted else None
    streamed(model, X, y, weight)
    assert len(model._kept) == (FEW if kept == "few" else n)
    chosen = "loo-sample" if kept == "few" else "loo"
    assert model.selection_ == ("fixed" if isinstance(model.C, float) else chosen)
    whole = settled(model).fit(X, y, sample_weight=weight)
    assert_same_outputs(model, whole, X)
    forgotten = slice(n - 30, n)
    part = None if weight is None else weight[forgotten]
    model.partial_fit(X[forgotten], y[forgotten], sample_weight=part, forget=True)
    rest = None if weight is None else weight[: n - 30]
    whole = settled(model).fit(X[: n - 30], y[: n - 30], sample_weight=rest)
    if len(whole.classes_ if hasattr(whole, "classes_") else ()) in (0, 3):
        assert_same_outputs(model, whole, X, times=n / (n - 30))
    gone, stay = (A.toarray() if sparse else A for A in (X[forgotten], model._kept.X))
    names = {row.tobytes() for row in gone}
    assert not any(row.tobytes() in names for row in stay)


@pytest.mark.parametrize("name", ["classifier", "regressor", "GELM"])
@settings(unsettled, max_examples=4)
@given(seed=seeds, n=integers(75, 120), decay=sampled_from([1.0, 0.7]))
def test_the_error_is_that_of_refits_without_each_kept_row(name, seed, n, decay, few):
    model = clone(SUMMED[name])
    X, y = world(seed, n, model)
    weight = np.ones(n)
    for rows in batches(n, (10, 31, 32, 70)):
        weight[: rows.start] *= decay
        model.partial_fit(X[rows], y[rows], decay=decay)
    kept = model._kept
    whole = settled(model)
    place = {row.tobytes(): i for i, row in enumerate(X)}
    rows = [place[row.tobytes()] for row in kept.X]
    assert_allclose(kept.weight, weight[rows])
    left = []
    for i in rows:
        others = np.arange(n) != i
        if len(np.unique(y[others])) < len(np.unique(y)) and name != "regressor":
            return  # a class that leaves with its only row
        whole.fit(X[others], y[others], sample_weight=weight[others])
        left.append(whole.predict(X[[i]])[0])
    odds = kept.odds()
    share = weight[rows] * (1.0 if odds is None else odds)
    best = (
        model.loo_path_["squared_error"] if name == "regressor" else model.loo_path_["error_rate"]
    )
    at = np.flatnonzero(model.loo_path_["C"] == model.C_)
    if name == "GELM":
        at = at[model.loo_path_["lam"][at] == model.lam_]
    if name != "regressor":
        assert_within(best[at[0]], np.average(y[rows] != left, weights=share), n * EPS)
        return
    residual = np.abs(y[rows] - left)
    apart = rounding(model, X[rows], residual)
    wrong, squares = np.average(
        [residual**2, (2 * residual + apart) * apart], axis=1, weights=share
    )
    assert_within(best[at[0]], wrong, squares)


@unsettled
@given(seed=seeds, cuts=lists(integers(26, 119), max_size=4), rewind=booleans())
def test_a_stream_of_many_rows_is_a_fit_but_for_the_choice_of_C(seed, cuts, rewind, few):
    model = clone(SUMMED["classifier"])
    X, y = world(seed, 120, model)
    rows = batches(120, [26, *cuts])
    stream = ((X[part], y[part]) for part in rows)
    model.fit((lambda: ((X[part], y[part]) for part in rows)) if rewind else stream)
    assert model.selection_ == "loo-sample"
    assert_same_outputs(model, settled(model).fit(X, y), X)
    if rewind:  # the scale is that of all rows
        model = clone(model).set_params(features=RandomFeatures(model.n_hidden), n_hidden=None)
        model.fit(lambda: ((X[part], y[part]) for part in rows))
        assert_same_outputs(model, clone(model).set_params(C=model.C_).fit(X, y), X)


@pytest.mark.parametrize("name", ["classifier", "regressor", "GELM"])
@settings(unsettled, max_examples=4)
@given(seed=seeds, step=integers(2, 9))
def test_rows_that_are_kept_are_fitted_again_as_they_grow(name, seed, step, refitted):
    model = clone(SUMMED[name])
    X, y = world(seed, 100, model)
    model.partial_fit(X[:40], y[:40])
    for start in range(40, 100, step):
        before = model._kept.settled
        rows = slice(start, min(start + step, 100))
        model.partial_fit(X[rows], y[rows])
        assert rows.stop - model._kept.settled < 30
        if model._kept.settled > before:
            whole = clone(SUMMED[name])
            if name != "regressor":
                whole.partial_fit(X[: rows.stop], y[: rows.stop], classes=model.classes_)
            else:
                whole.fit(X[: rows.stop], y[: rows.stop])
            assert_same_model(model, whole, X)


@pytest.mark.parametrize("name", ["classifier", "regressor", "GELM", "float32"])
def test_batches_of_ten_rows_or_more_are_one_fit_while_all_rows_are_kept(name):
    model = clone(SUMMED[name])
    X, y = world(0, 1290, model)
    model.partial_fit(X[:1000], y[:1000])
    for start in [*range(1000, 1280, 40), 1280]:
        stop = 1290 if start == 1280 else start + 40
        model.partial_fit(X[start:stop], y[start:stop])
        if start in (1120, 1280):
            assert_same_model(model, clone(SUMMED[name]).fit(X[:stop], y[:stop]), X)


def test_a_row_that_moves_the_scale_is_fitted_with_all_others(refitted):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000, 3))
    y = X[:, 0]
    model = ELMRegressor(n_hidden=12, random_state=0).partial_fit(X[:990], y[:990])
    scale = model.features_.scaling_
    model.partial_fit(X[990:995], y[990:995])
    assert model.features_.scaling_ is scale
    X[995, 1] = 100.0
    model.partial_fit(X[995:], y[995:])
    assert_same_model(model, ELMRegressor(n_hidden=12, random_state=0).fit(X, y), X)


@pytest.mark.parametrize("model", [ELMRegressor, GraphELMClassifier])
def test_a_c_that_was_chosen_is_no_reason_to_warn(model, kept):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 1)).astype(np.float32)
    y = np.sin(3 * X[:, 0]) if model is ELMRegressor else (X[:, 0] > 0).astype(int)
    # Units in float32: the default layer of an ELM is fitted in float64.
    model = model(RandomFeatures(40), random_state=0).partial_fit(X[:200], y[:200])
    for i in range(200, 260):
        model.partial_fit(X[i : i + 1], y[i : i + 1])
    model.set_params(C=1e12, **({"lam": 1.0} if hasattr(model, "lam") else {}))
    model.partial_fit(X[260:265], y[260:265])
    with pytest.warns(IllConditionedWarning):
        model.predict(X[:1])


def test_a_row_of_much_weight_is_fitted_with_all_others(refitted):
    X, y = world(1, 1000, None)
    X[999] = X[:998].mean(axis=0)  # which moves no scale
    model = ELMClassifier(n_hidden=12, random_state=0).partial_fit(X[:998], y[:998])
    weight = np.array([1.0, 60.0])
    model.partial_fit(X[998:], y[998:], sample_weight=weight)
    whole = ELMClassifier(n_hidden=12, random_state=0)
    assert_same_model(model, whole.fit(X, y, sample_weight=np.r_[np.ones(998), weight]), X)
