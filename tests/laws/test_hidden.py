"""However the rows are cut, stored or typed, H is the same."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis.strategies import booleans, integers, sampled_from
from numpy.testing import assert_allclose
from sklearn import config_context

from conditioning import EPS, STEPS, assert_within
from laws.problems import make_problem
from ulmus import ELMClassifier, RandomFeatures, RBFFeatures
from ulmus.hidden import Hidden, block_rows

MAPS = [
    RandomFeatures(9, random_state=0),
    RandomFeatures(9, activation="erf", weights="normal", bias=False, random_state=0),
    RandomFeatures(9, activation="relu", weights="orthogonal", scaling=None, random_state=0),
    RandomFeatures(9, activation="gaussian", gain=2.0, random_state=0),
    RBFFeatures(9, random_state=0),
    RBFFeatures(9, node="random_gaussian", centers="uniform", random_state=0),
    RBFFeatures(9, node="exponential", centers="normal", scaling=None, random_state=0),
    RBFFeatures(9, node="robust", random_state=0),
]


def blank_half(seed, n, d):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.5)


@settings(max_examples=60, deadline=None)
@given(seed=integers(0, 10**6), n=integers(2, 30), d=integers(1, 6), k=integers(0, len(MAPS) - 1))
def test_sparse_rows_give_what_dense_rows_give(seed, n, d, k):
    X = blank_half(seed, n, d)
    dense, sparse = MAPS[k].fit_transform(X), MAPS[k].fit_transform(sp.csr_array(X))
    # An output is off by what its argument is: a product or a square distance of scaled rows, which
    # sparse ones are not centred for.
    scaled = X * MAPS[k].scaling_.factor
    apart = STEPS * EPS * (1.0 + np.sum(scaled**2, axis=1).max())
    # A distance, or the mean one as a width, is the root of a rounded square: half the digits.
    root = getattr(MAPS[k], "node", "") in ("exponential", "gaussian")
    assert_within(sparse, dense, np.sqrt(apart) if root else apart)


@settings(max_examples=40, deadline=None)
@given(seed=integers(0, 10**6), weighted=booleans(), rows=integers(1, 50))
def test_blocks_give_what_memory_gives(seed, weighted, rows):
    p = make_problem(seed, 50, 8, classes=3, weighted=weighted)
    whole = p.moments()
    with config_context(working_memory=rows * 8 * (8 + 3) / 2**20):
        assert p.H.size == rows
        assert_allclose(np.concatenate([H + p.H.offset for _, H in p.H.blocks()]), p.H.all())
        cut = p.moments()
    apart = STEPS * EPS * whole.weight  # no entry of H or of the targets is beyond one
    for name in ("gram", "cross", "energy", "hidden", "target", "weight", "rows"):
        assert_within(getattr(cut, name), getattr(whole, name), apart)


@pytest.mark.parametrize("features", MAPS, ids=repr)
def test_the_same_seed_gives_the_same_units_in_every_precision(features):
    X = blank_half(1, 20, 4)
    wide = features.fit_transform(X)
    narrow = features.fit_transform(X.astype(np.float32))
    assert wide.dtype == np.float64
    assert narrow.dtype == np.float32
    assert_allclose(narrow, wide, atol=2e-3)


@pytest.mark.parametrize("features", MAPS, ids=repr)
def test_a_narrow_draw_is_the_start_of_a_wide_one(features):
    X = blank_half(1, 20, 4)
    wide = type(features)(
        **features.get_params() | {"n_hidden": 30, "width": 1.0}
        if "width" in features.get_params()
        else features.get_params() | {"n_hidden": 30}
    )
    narrow = type(features)(**wide.get_params() | {"n_hidden": 7})
    H = wide.fit_transform(X)
    assert_allclose(narrow.fit_transform(X), H[:, :7])
    assert_allclose(wide.truncate(7).transform(X), H[:, :7])
    assert wide.transform(X).shape == (20, 30)


@settings(max_examples=30, deadline=None)
@given(seed=integers(0, 10**6), cuts=sampled_from([[5], [1, 2], [10, 20, 30]]))
def test_scale_learned_in_parts_is_scale_learned_at_once(seed, cuts):
    X = blank_half(seed, 40, 3) * [1e-200, 1.0, 1e200] + [0, 5.0, 0]
    whole, parts = RandomFeatures(5, random_state=0).fit(X), RandomFeatures(5, random_state=0)
    for part in np.split(X, cuts):
        parts.partial_fit(part)
    assert_allclose(parts.scaling_.center, whole.scaling_.center, rtol=1e-9)
    assert_allclose(parts.scaling_.factor, whole.scaling_.factor, rtol=1e-9)


def test_a_block_never_exceeds_the_budget():
    for h in (10, 1000, 20_000):
        assert block_rows(h, 4) * h * 4 <= max(32 * 2**20, 2 * h**2)
    with config_context(working_memory=1):
        assert block_rows(1000, 4) * 1000 * 4 <= 2**20


def test_a_memory_map_is_read_by_blocks(tmp_path):
    X = np.random.default_rng(0).standard_normal((200, 5)).astype(np.float32)
    y = (X[:, 0] > 0).astype(int)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    a = ELMClassifier(n_hidden=20, C=1.0, random_state=0).fit(X, y)
    b = ELMClassifier(n_hidden=20, C=1.0, random_state=0).fit(mapped, y)
    assert_allclose(a.beta_, b.beta_)


def test_sparse_rows_are_never_densified(monkeypatch):
    X = sp.random_array(
        (300, 50), density=0.05, format="csr", random_state=np.random.default_rng(0)
    )
    y = np.arange(300) % 3
    for name in ("toarray", "todense"):
        original = getattr(sp.csr_array, name)

        def refuse(self, *args, _original=original, **kwargs):
            assert self.shape[0] <= 100, "the whole matrix was made dense"
            return _original(self, *args, **kwargs)

        monkeypatch.setattr(sp.csr_array, name, refuse)
    for features in (RandomFeatures(40), RBFFeatures(40)):
        model = ELMClassifier(features, random_state=0).fit(X, y)
        assert model.predict(X).shape == (300,)


def test_hidden_takes_some_of_the_rows():
    X = blank_half(0, 20, 4)
    layer = RandomFeatures(6, random_state=0).fit(X).layer(X)
    assert_allclose(Hidden(layer, X).take(np.array([3, 1])).all(), Hidden(layer, X).all()[[3, 1]])


def test_gaussian_units_fall_off_from_a_ridge():
    X = np.random.default_rng(0).normal(size=(40, 3))
    units = RandomFeatures(500, activation="gaussian", gain=9.0, scaling=None, random_state=0)
    H = units.fit_transform(X)
    Z = X @ units.weights_.T + units.biases_
    kept = -0.5 * np.log(np.finfo(float).tiny) > Z**2
    assert not kept.all()
    assert_allclose(H, np.where(kept, np.exp(-(Z**2)), 0.0), rtol=1e-9)
