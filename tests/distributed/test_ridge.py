"""A fit over Dask blocks is the fit on all rows in one process."""

import pickle
import subprocess
import sys
import weakref

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.preprocessing import StandardScaler
from sklearn.utils.class_weight import compute_sample_weight

from conditioning import Conditioning, assert_within
from ulmus import (
    ELMClassifier,
    ELMLayout,
    ELMRegressor,
    GraphELMClassifier,
    KernelFeatures,
    ManifoldELMClassifier,
    RandomFeatures,
    Randomized,
    RBFFeatures,
    RowFeatures,
    SparseELMClassifier,
    reservoir,
)
from ulmus.exceptions import BatchError, InvalidInputError, InvalidParameterError, MissingExtraError

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")

rng = np.random.default_rng(0)
N = 600
X = rng.standard_normal((N, 4)) * [1.0, 3.0, 0.1, 100.0] + [0.0, 5.0, 1.0, -20.0]
LABELS = np.array(["low", "middle", "high"])[
    (X[:, 0] > 0.3).astype(int) + (X[:, 1] + X[:, 0] ** 2 > 6)
]
VALUES = np.sin(X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(N)
WEIGHT = rng.integers(0, 3, N).astype(float)
CUT = (150, 1, 249, 200)


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """Few rows are kept, so that a fit makes sums over the blocks."""
    monkeypatch.setattr(reservoir, "_LEAST", 10)


@pytest.fixture(autouse=True)
def one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def blocks(A, cut=CUT):
    return da.from_array(A, chunks=(cut, *A.shape[1:]))


def assert_same_fit(a, b):
    assert a.C_ == b.C_
    assert a.selection_ == b.selection_
    assert a.n_hidden_ == b.n_hidden_
    assert_allclose(b.beta_, a.beta_, atol=1e-8 * np.abs(a.beta_).max())
    assert_allclose(b.intercept_, a.intercept_, atol=1e-8)


# ---------------------------------------------------------------- laws
@settings(max_examples=15, deadline=None)
@given(
    cut=st.lists(st.integers(1, 300), min_size=1, max_size=6),
    weighted=st.booleans(),
    balanced=st.booleans(),
)
def test_however_the_rows_are_cut(cut, weighted, balanced):
    n = sum(cut)
    rows = np.arange(n) % N
    w = WEIGHT[rows] if weighted else None
    if len(np.unique(LABELS[rows][slice(None) if w is None else w > 0])) < 2:
        return
    model = ELMClassifier(
        n_hidden=20, C=1.0, class_weight="balanced" if balanced else None, random_state=0
    )
    with dask.config.set(scheduler="synchronous"):
        b = model.fit(
            blocks(X[rows], tuple(cut)),
            blocks(LABELS[rows], tuple(cut)),
            None if w is None else blocks(w, tuple(cut)),
        ).beta_
    a = model.fit(X[rows], LABELS[rows], w).beta_
    weight = compute_sample_weight("balanced" if balanced else None, LABELS[rows])
    weight = weight if w is None else weight * w
    H, T = model.features_.transform(X[rows]), np.ones((n, 3))
    assert_within(b, a, Conditioning.of(H, T, 1.0, weight).weights)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "arguments",
    [
        {"features": RandomFeatures(40)},
        {"n_hidden": 40, "C": [0.1, 1.0, 10.0]},
        {"n_hidden": 40, "C": 10.0},
        {"n_hidden": 40, "class_weight": "balanced", "C": [0.1, 1.0, 10.0]},
        {"n_hidden": "loo", "features": RandomFeatures(64), "C": [0.1, 1.0, 10.0]},
        {"n_hidden": 700, "C": 1.0},  # more units than rows
        {"features": RBFFeatures(40), "C": [0.1, 1.0, 10.0]},
        {"features": KernelFeatures(rank=30), "C": 1.0},
        {"features": FrozenEstimator(RandomFeatures(30, random_state=1).fit(X[:100])), "C": 1.0},
    ],
    ids=str,
)
def test_a_classifier_is_the_one_fitted_in_memory(arguments, weighted):
    w, dw = (WEIGHT, blocks(WEIGHT)) if weighted else (None, None)
    a = ELMClassifier(random_state=0, **arguments).fit(X, LABELS, w)
    b = ELMClassifier(random_state=0, **arguments).fit(blocks(X), blocks(LABELS), dw)
    assert_same_fit(a, b)
    assert_allclose(b.temperature_, a.temperature_, rtol=1e-5)
    assert_allclose(b.predict_proba(X), a.predict_proba(X), atol=1e-6)
    if a.selection_ != "fixed":
        for name, column in a.loo_path_.items():
            assert_allclose(b.loo_path_[name], column, rtol=1e-6)


def test_class_sums_that_do_not_fit_leave_the_weights_as_they_were_and_say_so():
    model = ELMClassifier(n_hidden=40, C=[0.1, 1.0], class_weight="balanced", random_state=0)
    assert model.fit(blocks(X), blocks(LABELS)).selection_ == "loo"
    exact = model.loo_path_["squared_error"]
    with config_context(working_memory=0.05):  # 77 kB for three classes
        model.fit(blocks(X), blocks(LABELS))
    assert model.selection_ == "loo-kept"
    assert not np.allclose(model.loo_path_["squared_error"], exact, rtol=1e-6)


def test_more_rows_than_are_left_out(monkeypatch):
    monkeypatch.setattr("ulmus.sources.source._LOO_ALL", 200)
    monkeypatch.setattr("ulmus.sources.source._LOO_SAMPLE", 100)
    monkeypatch.setattr("ulmus.sources.source._CALIBRATION", 50)
    # Of columns that are not weighed: weights of two sums are as near as the condition allows.
    model = ELMClassifier(RowFeatures(40), C=[0.1, 10.0], random_state=0)
    a, b = clone(model).fit(X, LABELS), model.fit(blocks(X), blocks(LABELS))
    assert a.selection_ == "loo-sample"
    assert_same_fit(a, b)
    assert_allclose(b.loo_path_["squared_error"], a.loo_path_["squared_error"], rtol=1e-8)
    assert_allclose(b.temperature_, a.temperature_, rtol=1e-5)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("y", [VALUES, np.column_stack([VALUES, X[:, 0] ** 2])], ids=["one", "two"])
def test_a_regressor_is_the_one_fitted_in_memory(y, fit_intercept):
    arguments = {"n_hidden": 40, "fit_intercept": fit_intercept, "random_state": 0}
    a = ELMRegressor(C=[1.0, 1e3], **arguments).fit(X, y)
    b = ELMRegressor(C=[1.0, 1e3], **arguments).fit(blocks(X), blocks(y))
    assert (a.C_, a.selection_, a.n_hidden_) == (b.C_, b.selection_, b.n_hidden_)
    H, T = a.features_.transform(X), y.reshape(len(y), -1)
    H, T = (H - H.mean(axis=0), T - T.mean(axis=0)) if fit_intercept else (H, T)
    apart = Conditioning.of(H, T, 1.0 / a.C_).weights
    assert_within(b.beta_, a.beta_, apart)
    assert_within(b.intercept_, a.intercept_, apart)
    assert_allclose(b.loo_score_, a.loo_score_)
    assert b.predict(blocks(X)).shape == y.shape
    assert_allclose(b.score(blocks(X), blocks(y)), a.score(X, y))


@pytest.mark.parametrize("chosen", [{"C": 1.0, "lam": 2.0}, {"C": 1.0}, {}], ids=str)
def test_a_graph_elm_and_its_choice_of_lam(chosen):
    model = GraphELMClassifier(n_hidden=40, random_state=0, **chosen)
    a, b = clone(model).fit(X, LABELS), clone(model).fit(blocks(X), blocks(LABELS))
    assert a.lam_ == b.lam_
    assert_same_fit(a, b)
    if chosen.keys() != {"C", "lam"}:
        assert_allclose(b.loo_path_["squared_error"], a.loo_path_["squared_error"], rtol=1e-6)


@pytest.mark.parametrize(
    "model",
    [SparseELMClassifier(), ManifoldELMClassifier(), ELMLayout(), GraphELMClassifier(n_hidden=5)],
    ids=lambda model: type(model).__name__,
)
def test_an_estimator_without_blocks_refuses_a_collection_and_fetches_nothing(model):
    def read(block):
        raise AssertionError("a block was read")

    rows = blocks(X).map_blocks(read, meta=X[:0])
    if type(model) is GraphELMClassifier:  # takes blocks in `fit`, and none in `partial_fit`
        with pytest.raises(InvalidInputError, match=r"does not take Dask.*X\.compute\(\)"):
            model.partial_fit(rows, blocks(LABELS))
    else:
        with pytest.raises(InvalidInputError, match=r"does not take Dask.*X\.compute\(\)"):
            model.fit(rows, blocks(LABELS))


@pytest.mark.parametrize(
    "features",
    [
        RandomFeatures(20, random_state=0),
        RandomFeatures(20, scaling=None, random_state=0),
        RBFFeatures(20, random_state=0),
        KernelFeatures(rank=20, random_state=0),
    ],
    ids=str,
)
def test_a_map_learns_and_transforms_over_blocks(features):
    H = features.fit(X).transform(X)
    lazy = features.fit(blocks(X)).transform(blocks(X))
    assert isinstance(lazy, da.Array)
    assert lazy.chunks[0] == CUT
    assert_allclose(lazy.compute(), H, atol=1e-10)
    assert_allclose(features.fit_transform(blocks(X)).compute(), H, atol=1e-10)


def test_sparse_blocks():
    S = np.where(X > 0, X, 0.0)
    lazy = blocks(S).map_blocks(sp.csr_array)
    a = ELMClassifier(n_hidden=20, C=1.0, random_state=0).fit(S, LABELS)
    b = ELMClassifier(n_hidden=20, C=1.0, random_state=0).fit(lazy, blocks(LABELS))
    assert_same_fit(a, b)
    assert_array_equal(b.predict(lazy).compute(), a.predict(S))


@pytest.mark.parametrize("arguments", [{"C": 1.0}, {"C": [0.1, 1.0]}])
def test_few_blocks_are_in_memory_at_a_time(arguments):
    made, most = [], []

    def block(block_id):
        rows = X[: N // 12] + block_id[0]
        made.append(weakref.ref(rows))
        most.append(sum(each() is not None for each in made))
        return rows

    cut = ((N // 12,) * 12, (4,))
    lazy = da.map_blocks(block, chunks=cut, dtype=float, meta=np.empty((0, 0)))
    y = lazy.map_blocks(lambda rows: rows[:, 0] + rows[:, 1], drop_axis=1, dtype=float)
    ELMRegressor(n_hidden=20, random_state=0, **arguments).fit(lazy, y)
    assert len(made) >= 24  # each was made for the statistics and for the sums
    assert max(most) <= 3


def test_more_rows_can_be_added_afterwards():
    a = ELMClassifier(n_hidden=40, C=1.0, random_state=0).fit(X, LABELS)
    b = ELMClassifier(n_hidden=40, C=1.0, random_state=0).fit(blocks(X), blocks(LABELS))
    assert_same_fit(a.partial_fit(X[:50], LABELS[:50]), b.partial_fit(X[:50], LABELS[:50]))


# ---------------------------------------------------------------- what comes back
@pytest.mark.parametrize(
    "method", ["predict", "decision_function", "predict_proba", "predict_log_proba"]
)
@pytest.mark.parametrize("labels", [LABELS, X[:, 0] > 0], ids=["three", "two"])
def test_results_are_collections(method, labels):
    model = ELMClassifier(n_hidden=20, C=1.0, random_state=0).fit(X, labels)
    lazy = getattr(model, method)(blocks(X))
    expected = getattr(model, method)(X)
    assert isinstance(lazy, da.Array)
    assert lazy.shape == expected.shape
    assert lazy.dtype == expected.dtype
    found = lazy.compute()
    if expected.dtype.kind == "f":
        assert_allclose(found, expected, atol=1e-12)
    else:
        assert_array_equal(found, expected)


def test_what_travels_with_a_prediction_is_light():
    model = ELMClassifier(n_hidden=500, C=1.0, random_state=0).fit(X, LABELS)
    sums = model._moments.gram.nbytes
    assert len(pickle.dumps(model.predict(blocks(X)))) < sums / 10
    assert len(pickle.dumps(model)) > sums


# ---------------------------------------------------------------- frames
@pytest.fixture
def parquet(tmp_path):
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"]).assign(label=LABELS, weight=WEIGHT)
    for number, start in enumerate(range(0, N, 120)):
        frame[start : start + 120].to_parquet(tmp_path / f"part-{number}.parquet")
    return frame, dd.read_parquet(tmp_path)


def test_frames_from_parquet_have_unknown_lengths(parquet):
    frame, lazy = parquet
    columns = ["a", "b", "c", "d"]
    a = ELMClassifier(n_hidden=30, C=1.0, random_state=0).fit(frame[columns], frame["label"])
    b = ELMClassifier(n_hidden=30, C=1.0, random_state=0).fit(lazy[columns], lazy["label"])
    assert_same_fit(a, b)
    assert_array_equal(b.feature_names_in_, columns)
    found = b.predict(lazy[columns])
    assert np.isnan(found.shape[0])
    assert_array_equal(found.compute(), a.predict(frame[columns]))
    assert b.score(lazy[columns], lazy["label"]) == a.score(frame[columns], frame["label"])
    weighted = b.fit(lazy[columns], lazy["label"], lazy["weight"])
    assert_allclose(
        weighted.beta_, a.fit(frame[columns], frame["label"], frame["weight"]).beta_, atol=1e-8
    )


@pytest.mark.filterwarnings("ignore:Dask currently has limited support for converting:UserWarning")
def test_arrays_from_frames_are_cut_alike(parquet):
    # Dask reads small files together where few columns are used, so y has fewer blocks than X.
    frame, lazy = parquet
    some, part = lazy[lazy.a > 0.5], frame[frame.a > 0.5]
    rows, labels = some[["a", "b", "c", "d"]].to_dask_array(), some["label"].to_dask_array()
    a = ELMClassifier(n_hidden=30, C=1.0, random_state=0)
    a.fit(part[["a", "b", "c", "d"]].to_numpy(), part["label"])
    for y in (labels, some["label"]):
        assert_same_fit(a, ELMClassifier(n_hidden=30, C=1.0, random_state=0).fit(rows, y))


def test_columns_may_be_called_anything():
    frame = pd.DataFrame(X[:, :3], columns=["chunks", "shape", "numblocks"])
    lazy = dd.from_pandas(frame.assign(label=LABELS), npartitions=3)
    a = ELMClassifier(n_hidden=30, C=1.0, random_state=0).fit(frame, LABELS)
    b = ELMClassifier(n_hidden=30, C=1.0, random_state=0).fit(lazy[list(frame)], lazy["label"])
    assert_same_fit(a, b)
    assert_array_equal(b.predict(lazy[list(frame)]).compute(), a.predict(frame))


def test_columns_must_be_those_of_the_fit(parquet):
    _, lazy = parquet
    model = ELMClassifier(n_hidden=30, C=1.0).fit(lazy[["a", "b"]], lazy["label"])
    with pytest.raises(ValueError, match="feature names"):
        model.predict(lazy[["b", "a"]])


# ---------------------------------------------------------------- what is wrong with a block
def from_parts(parts, width):
    """An array whose blocks are not what their metadata say."""
    lazy = [da.from_delayed(dask.delayed(p), (np.nan, width), dtype=float) for p in parts]
    return da.concatenate(lazy, allow_unknown_chunksizes=True)


def test_an_empty_block_changes_nothing():
    rows = from_parts([X[:0], X[:300], X[:0], X[300:]], 4)
    labels = da.concatenate(
        [
            da.from_delayed(dask.delayed(part), (np.nan,), dtype=LABELS.dtype)
            for part in (LABELS[:0], LABELS[:300], LABELS[:0], LABELS[300:])
        ],
        allow_unknown_chunksizes=True,
    )
    a = ELMClassifier(n_hidden=30, C=1.0, random_state=0).fit(X, LABELS)
    b = ELMClassifier(n_hidden=30, C=1.0, random_state=0).fit(rows, labels)
    assert_same_fit(a, b)
    assert_array_equal(b.predict(rows).compute(), a.predict(X))
    assert_allclose(b.predict_proba(rows).compute(), a.predict_proba(X), atol=1e-8)


def test_a_block_without_weight_changes_nothing():
    w = np.r_[np.zeros(150), np.ones(450)]
    a = ELMClassifier(n_hidden=30, random_state=0, C=1.0).fit(X[150:], LABELS[150:])
    b = ELMClassifier(n_hidden=30, random_state=0, C=1.0)
    assert_same_fit(a, b.fit(blocks(X), blocks(LABELS), blocks(w)))


def test_a_spoiled_block_is_named():
    spoiled = X.copy()
    spoiled[200, 2] = np.nan
    with pytest.raises(BatchError, match="Block 2 .*cannot be used.*NaN"):
        ELMClassifier(n_hidden=30).fit(blocks(spoiled), blocks(LABELS))
    with pytest.raises(BatchError, match="Block 2 .*cannot be used.*NaN"):
        RandomFeatures(30).fit(blocks(spoiled))
    model = ELMClassifier(n_hidden=30, C=1.0).fit(X, LABELS)
    with pytest.raises(BatchError, match="Block 2 .*cannot be used.*NaN"):
        model.predict(blocks(spoiled)).compute()
    values = VALUES.copy()
    values[200] = np.inf
    with pytest.raises(BatchError, match="Block 2 .*cannot be used.*infinity"):
        ELMRegressor(n_hidden=30).fit(blocks(X), blocks(values))
    with pytest.raises(BatchError, match="Block .*cannot be used.*[Nn]egative"):
        ELMClassifier(n_hidden=30).fit(blocks(X), blocks(LABELS), blocks(-np.ones(N)))


def test_a_block_of_another_width_is_named():
    rows = from_parts([X[:300], X[300:, :3]], 4)
    with pytest.raises(BatchError, match="Block 1 .*It has 3 columns, and block 0 has 4"):
        ELMClassifier(n_hidden=30).fit(rows, blocks(LABELS, (300, 300)))
    model = ELMClassifier(n_hidden=30, C=1.0).fit(X, LABELS)
    with pytest.raises(BatchError, match="Block 1 .*X has 3 features, but .* is expecting 4"):
        model.predict(rows).compute()
    with pytest.raises(ValueError, match="X has 3 features, but .* is expecting 4"):
        model.predict(blocks(X[:, :3]))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda m: m.fit(blocks(X), LABELS), "make that one too"),
        (lambda m: m.fit(blocks(X), None), "requires y"),
        (lambda m: m.fit(blocks(X), da.from_array(LABELS[:-1], chunks=100)), "600 rows.*599"),
        (lambda m: m.fit(blocks(X[:, 0]), blocks(LABELS)), "two dimensions"),
        (lambda m: m.fit(dask.delayed(X), blocks(LABELS)), "two dimensions"),
        (lambda m: m.fit(blocks(X[:0], (0,)), blocks(LABELS[:0], (0,))), "nothing to fit"),
        (lambda m: m.fit(blocks(X), blocks(np.full(N, "a"))), "only one class, 'a'"),
        (lambda m: m.fit(blocks(X), blocks(LABELS), blocks(np.zeros(N))), "nothing to fit"),
        (
            lambda m: m.set_params(solver=Randomized()).fit(blocks(X), blocks(LABELS)),
            "all rows at once",
        ),
        (
            lambda m: m.set_params(features=StandardScaler(), n_hidden=None).fit(
                blocks(X), blocks(LABELS)
            ),
            "FrozenEstimator",
        ),
    ],
)
def test_what_cannot_be_used(call, words):
    model = ELMClassifier(n_hidden=30, C=1.0, random_state=0).fit(X, LABELS)
    names, before = set(vars(model)), model.predict(X)
    with pytest.raises((InvalidInputError, InvalidParameterError), match=words):
        call(model)
    assert set(vars(model)) == names
    model.set_params(features=None, n_hidden=30, solver="auto")
    assert_array_equal(model.predict(X), before)


def test_a_kernel_matrix_has_no_blocks():
    with pytest.raises(InvalidInputError, match="gather it"):
        KernelFeatures("precomputed").fit(blocks(X @ X.T))


def test_a_missing_dask_is_named(monkeypatch):
    lazy = blocks(X)
    monkeypatch.setitem(sys.modules, "dask.array", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'ulmus\[dask\]'"):
        RandomFeatures(5).fit(lazy)


def test_numpy_rows_bring_no_dask():
    code = (
        "import sys, numpy as np; from ulmus import ELMClassifier; X = np.eye(4); "
        "ELMClassifier().fit(X, [0, 1, 0, 1]).predict(X); print('dask' in sys.modules)"
    )
    seen = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert seen.stdout.strip() == "False", seen.stderr


def test_a_stream_that_goes_on_from_blocks_refuses_to_balance_as_any_stream_does():
    model = ELMClassifier(n_hidden=20, C=1.0, class_weight="balanced", random_state=0)
    model.fit(blocks(X), blocks(LABELS))
    with pytest.raises(InvalidParameterError, match="needs all the labels at once"):
        model.partial_fit(X, LABELS)
