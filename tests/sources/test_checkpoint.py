"""A fit that was cut short goes on where it was, or says why it cannot."""

import os
import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import make_classification

from ulmus import ELMClassifier, ELMRegressor, GraphELMClassifier, RandomFeatures, reservoir
from ulmus.exceptions import (
    BatchError,
    CheckpointError,
    CheckpointWarning,
    InvalidInputError,
    InvalidParameterError,
)
from ulmus.sources import checkpoint as module
from ulmus.sources.source import RowsSoFar

X, y = make_classification(300, 6, n_informative=4, n_classes=3, random_state=0)
CUTS = [40, 41, 120, 121, 250]
PARTS = [(X[a:b], y[a:b]) for a, b in zip([0, *CUTS], [*CUTS, 300], strict=True)]


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """Few rows are kept before sums begin: as many as the first batch, but for one."""
    monkeypatch.setattr(reservoir, "_LEAST", 39)
    monkeypatch.setattr(reservoir, "_BYTES", 0)


class Killed(BaseException):
    """What no fit expects."""


def until(stop, error=Killed):
    """The batches, of which only the first ``stop`` can be read."""
    for number, part in enumerate(PARTS):
        if number == stop:
            raise error("the disk is gone")
        yield part


@pytest.fixture
def at_once(monkeypatch):
    """Every batch is written as soon as it is added."""
    monkeypatch.setattr(module, "_PERIOD", 0.0)
    monkeypatch.setattr(module, "_SHARE", np.inf)


class Twice:
    """Batches that are read to their end first and fail the second time."""

    def __init__(self, stop):
        self.stop, self.times = stop, 0

    def __iter__(self):
        self.times += 1
        yield from until(self.stop if self.times == 2 else None)


MODELS = [
    ELMClassifier(n_hidden=12, C=1.0, random_state=0),
    ELMClassifier(n_hidden=12, random_state=0),
    ELMClassifier(RandomFeatures(12, random_state=1), C=1.0, dtype="float32"),
    ELMRegressor(n_hidden=12, C=1.0, random_state=0),
    GraphELMClassifier(n_hidden=12, C=1.0, lam=1.0, random_state=0),
]


@pytest.mark.parametrize("stop", range(1, 6))
@pytest.mark.parametrize("again", [False, True], ids=["once", "twice"])
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_a_killed_fit_goes_on_to_the_same_model(model, again, stop, tmp_path):
    path = tmp_path / "sums.npz"
    source = (lambda stop: Twice(stop)) if again else until
    with pytest.raises(Killed):
        model.fit(source(stop), checkpoint=path)
    assert path.exists()
    resumed = model.fit(source(None), checkpoint=path)
    coef, intercept, C = resumed.beta_, resumed.intercept_, resumed.C_
    assert not path.exists()
    whole = model.fit(source(None))
    assert_array_equal(coef, whole.beta_)
    assert_array_equal(intercept, whole.intercept_)
    assert whole.C_ == C
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="links need a right of their own there")
def test_a_link_to_a_checkpoint_stays_and_the_file_goes_when_the_fit_ends(tmp_path):
    path, link = tmp_path / "sums.npz", tmp_path / "link"
    link.symlink_to(path)
    model = ELMClassifier(n_hidden=12, C=1.0, random_state=0)
    with pytest.raises(Killed):
        model.fit(until(2), checkpoint=link)
    assert (link.is_symlink(), path.is_file()) == (True, True)
    model.fit(until(None), checkpoint=link)
    assert list(tmp_path.iterdir()) == [link]


def test_what_was_added_is_not_added_again(tmp_path, monkeypatch):
    path, model = tmp_path / "sums.npz", ELMClassifier(n_hidden=12, C=1.0, random_state=0)
    with pytest.raises(Killed):
        model.fit(until(4), checkpoint=path)
    added, add = [], RowsSoFar.with_sums

    def counted(rows, problem):
        added.append(len(problem.H))
        return add(rows, problem)

    monkeypatch.setattr(RowsSoFar, "with_sums", counted)
    model.fit(until(None), checkpoint=path)
    assert added == [129, 50]


def test_a_fit_that_was_killed_in_the_solve_goes_on_from_the_sums(tmp_path, monkeypatch):
    path, model = tmp_path / "sums.npz", ELMClassifier(n_hidden=12, C=1.0, random_state=0)

    def killed(*_):
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(ELMClassifier, "_learn", killed)
        with pytest.raises(Killed):
            model.fit(until(None), checkpoint=path)
    coef = model.fit(until(None), checkpoint=path).beta_
    assert_array_equal(coef, model.fit(until(None)).beta_)


def test_a_process_that_is_killed_leaves_a_file_to_go_on_from(tmp_path):
    path = tmp_path / "sums.npz"
    code = f"""
import os, signal, sys
from test_checkpoint import ELMClassifier, PARTS, module, reservoir
reservoir._LEAST, reservoir._BYTES = 39, 0
module._PERIOD, module._SHARE = 0.0, float("inf")
def parts():
    for number, part in enumerate(PARTS):
        if number == 4:
            os.kill(os.getpid(), signal.SIGKILL)
        yield part
ELMClassifier(n_hidden=12, C=1.0, random_state=0).fit(parts(), checkpoint={str(path)!r})
"""
    here = str(__import__("pathlib").Path(__file__).parent)
    killed = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.append({here!r})\n{code}"]
    )
    assert killed.returncode < 0
    model = ELMClassifier(n_hidden=12, C=1.0, random_state=0)
    coef = model.fit(until(None), checkpoint=path).beta_
    assert_array_equal(coef, model.fit(until(None)).beta_)


def test_a_kill_while_the_file_is_written_leaves_the_one_before(tmp_path, monkeypatch, at_once):
    path, model = tmp_path / "sums.npz", ELMClassifier(n_hidden=12, C=1.0, random_state=0)
    writes, savez = [], np.savez

    def half(file, **arrays):
        writes.append(1)
        savez(file, **arrays)
        if len(writes) == 3:
            file.truncate(100)
            raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(module.np, "savez", half)
        with pytest.raises(Killed):
            model.fit(until(None), checkpoint=path)
    assert int(np.load(path)["rows"]) == 120
    coef = model.fit(until(None), checkpoint=path).beta_
    assert_array_equal(coef, model.fit(until(None)).beta_)


def test_classes_may_turn_up_after_the_cut(tmp_path):
    order = np.argsort(y, kind="stable")
    parts = [(X[rows], np.array(["b", "a", "c"])[y[rows]]) for rows in np.split(order, 6)]

    def stream(stop):
        for number, part in enumerate(parts):
            if number == stop:
                raise Killed
            yield part

    model = ELMClassifier(n_hidden=12, C=1.0, random_state=0)
    whole = model.fit(stream(None)).beta_
    for stop in range(1, 6):
        with pytest.raises(Killed):
            model.fit(stream(stop), checkpoint=tmp_path / "sums.npz")
        assert_array_equal(model.fit(stream(None), checkpoint=tmp_path / "sums.npz").beta_, whole)
        assert model.classes_.tolist() == ["a", "b", "c"]


# ---------------------------------------------------------------- files that are no use
@pytest.fixture
def cut(tmp_path):
    path = tmp_path / "sums.npz"
    with pytest.raises(Killed):
        ELMClassifier(n_hidden=12, C=1.0, random_state=0).fit(until(3), checkpoint=path)
    return path


@pytest.mark.parametrize(
    ("model", "why"),
    [
        (ELMClassifier(n_hidden=12, C=1.0, random_state=1), "other hidden units"),
        (ELMClassifier(n_hidden=13, C=1.0, random_state=0), "other hidden units"),
        (ELMClassifier(RandomFeatures(12, activation="tanh"), random_state=0), "other hidden"),
        (ELMClassifier(n_hidden=12, class_weight={0: 2.0}, random_state=0), "class_weight=None"),
        (GraphELMClassifier(n_hidden=12, random_state=0), "sums of ELMClassifier"),
        (ELMRegressor(n_hidden=12, random_state=0), "sums of ELMClassifier"),
    ],
)
def test_the_sums_of_another_model_are_refused(model, why, cut):
    before = cut.read_bytes()
    with pytest.raises(CheckpointError, match=why):
        model.fit(until(None), checkpoint=cut)
    assert cut.read_bytes() == before
    assert not hasattr(model, "beta_")


def test_another_C_may_go_on_from_the_same_sums(cut):
    model = ELMClassifier(n_hidden=12, C=7.0, random_state=0)
    coef = model.fit(until(None), checkpoint=cut).beta_
    assert_array_equal(coef, model.fit(until(None)).beta_)


@pytest.mark.parametrize("keep", [0, 1, 10, 100, 1000, -1])
def test_a_file_that_was_cut_off_is_refused(keep, cut):
    cut.write_bytes(cut.read_bytes()[:keep])
    with pytest.raises(CheckpointError, match="is damaged"):
        ELMClassifier(n_hidden=12, random_state=0).fit(until(None), checkpoint=cut)


def test_a_byte_that_changed_is_noticed(cut):
    whole, with_sums = cut.read_bytes(), np.load(cut)["gram"].tobytes(order="A")
    place = whole.index(with_sums[:64]) + 20
    cut.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
    with pytest.raises(CheckpointError, match="is damaged"):
        ELMClassifier(n_hidden=12, random_state=0).fit(until(None), checkpoint=cut)


def test_a_file_of_another_version_or_kind_is_refused(cut):
    model = ELMClassifier(n_hidden=12, random_state=0)
    arrays = dict(np.load(cut))
    np.savez(cut, **arrays | {"version": 99})
    with pytest.raises(CheckpointError, match="another version"):
        model.fit(until(None), checkpoint=cut)
    np.savez(cut, X=X)
    with pytest.raises(CheckpointError, match="no checkpoint"):
        model.fit(until(None), checkpoint=cut)
    np.save(cut.with_suffix(".npy"), X)
    with pytest.raises(CheckpointError, match="no checkpoint"):
        model.fit(until(None), checkpoint=cut.with_suffix(".npy"))


@pytest.mark.parametrize("name", ["hidden", "target", "cross", "gram", "energy"])
def test_sums_that_no_rows_have_are_refused(name, cut):
    model, arrays = ELMClassifier(n_hidden=12, C=1.0, random_state=0), dict(np.load(cut))
    squares = name in ("gram", "energy")
    np.savez(cut, **arrays | {name: -arrays[name] if squares else 1e9 * arrays[name]})
    before = cut.read_bytes()
    with pytest.raises(CheckpointError, match="is damaged"):
        model.fit(until(None), checkpoint=cut)
    assert cut.read_bytes() == before


def test_other_batches_are_refused(cut):
    model = ELMClassifier(n_hidden=12, C=1.0, random_state=0)
    for parts in (PARTS[:2], [PARTS[0], (X[40:200], y[40:200])]):
        with pytest.raises(CheckpointError, match="120 rows, and these batches are not cut there"):
            model.fit(iter(parts), checkpoint=cut)
    with pytest.raises(CheckpointError, match="or of other data"):
        model.fit(iter([(X[1:], y[1:])]), checkpoint=cut)


def test_paths_that_cannot_be_written(tmp_path, monkeypatch, at_once):
    model = ELMClassifier(n_hidden=12, C=1.0, random_state=0)
    for path in (tmp_path, tmp_path / "nowhere" / "sums.npz"):
        with pytest.raises(InvalidParameterError, match="cannot be written"):
            model.fit(until(None), checkpoint=path)
    with pytest.raises(InvalidParameterError, match="is for batches"):
        model.fit(X, y, checkpoint=tmp_path / "sums.npz")

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module.np, "savez", full)
    with pytest.warns(CheckpointWarning, match="No space left"):
        model.fit(until(None), checkpoint=tmp_path / "sums.npz")
    assert list(tmp_path.iterdir()) == []


# ---------------------------------------------------------------- batches that fail
def test_a_source_that_fails_leaves_a_model_of_what_it_gave(tmp_path):
    model = ELMClassifier(n_hidden=12, C=1.0, random_state=0)
    with pytest.raises(BatchError, match="Batch 4 cannot be read.*disk.*120 rows before") as seen:
        model.fit(until(3, OSError))
    assert isinstance(seen.value.__cause__, OSError)
    kept = model.beta_
    assert_array_equal(kept, ELMClassifier(**model.get_params()).fit(iter(PARTS[:3])).beta_)
    path = tmp_path / "sums.npz"
    with pytest.raises(BatchError, match="120 rows before it and .*sums.npz keeps the sums"):
        model.fit(until(3, OSError), checkpoint=path)
    resumed = model.fit(until(None), checkpoint=path).beta_
    assert_array_equal(resumed, model.fit(until(None)).beta_)


def test_a_source_that_fails_before_there_is_a_model_leaves_none():
    model = ELMClassifier(n_hidden=12)
    with pytest.raises(BatchError, match="Batch 1 cannot be read"):
        model.fit(until(0, OSError))
    one_class = ((X[y == k], y[y == k]) if k == 0 else 1 / 0 for k in range(2))
    with pytest.raises(BatchError, match="Batch 2 cannot be read"):
        model.fit(one_class)
    with pytest.raises(BatchError, match="Batch 3 cannot be read"):
        model.fit(lambda: until(2, OSError))
    assert not hasattr(model, "beta_")


def test_a_batch_that_cannot_be_used_is_named_and_the_sums_before_it_are_kept(tmp_path):
    spoiled = [*PARTS[:3], (np.full((5, 6), np.nan), y[:5]), *PARTS[3:]]
    path, model = tmp_path / "sums.npz", ELMClassifier(n_hidden=12, C=1.0, random_state=0)
    with pytest.raises(BatchError, match="Batch 4 cannot be used.*NaN(.|\n)*keeps the sums"):
        model.fit(iter(spoiled), checkpoint=path)
    assert not hasattr(model, "beta_")
    resumed = model.fit(iter(PARTS), checkpoint=path).beta_
    assert_array_equal(resumed, model.fit(iter(PARTS)).beta_)


def test_a_batch_that_makes_the_sums_overflow_is_not_kept(tmp_path):
    """Squares of its targets and its weights are finite, and their products are not."""
    path, model = tmp_path / "sums.npz", ELMRegressor(n_hidden=12, C=1.0, random_state=0)
    far = (X[:5], np.full(5, 1e120), np.full(5, 1e120))
    with pytest.raises(BatchError, match="Batch 4 cannot be used.*not finite(.|\n)*keeps the sums"):
        model.fit(iter([*PARTS[:3], far, *PARTS[3:]]), checkpoint=path)
    resumed = model.fit(iter(PARTS), checkpoint=path).beta_
    assert_array_equal(resumed, model.fit(iter(PARTS)).beta_)


def test_batches_without_rows_are_passed_over():
    empty = (X[:0], y[:0])
    model = ELMClassifier(n_hidden=12, C=1.0, random_state=0)
    for parts in ([empty, *PARTS, empty], [PARTS[0], empty, *PARTS[1:]]):
        coef = model.fit(iter(parts)).beta_
        assert_array_equal(coef, model.fit(iter(PARTS)).beta_)
    with pytest.raises(InvalidInputError, match="no batch to fit"):
        model.fit(iter([empty, empty]))
