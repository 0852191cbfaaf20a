"""The variant that the documentation builds up is one: scikit-learn's checks say so."""

import sys
import types
from pathlib import Path

import dask.array as da
import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils.estimator_checks import parametrize_with_checks

from exporting.runtime import assert_agrees
from ulmus import ELMRegressor, RandomFeatures, load, reservoir, save
from ulmus.exceptions import RowsGoneError, UnsupportedModelError
from ulmus.persistence import classes, register

EXAMPLE = Path(__file__).parents[2] / "examples" / "inside" / "plot_add_variant.py"
# All but the picture, as a module: pickles of the checks must find the class again.
module = sys.modules["plot_add_variant"] = types.ModuleType("plot_add_variant")
exec(EXAMPLE.read_text(encoding="utf-8").split("# %%")[0], module.__dict__)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks([module.RobustELMRegressor(RandomFeatures(30))])
def test_scikit_learn_check(estimator, check):
    check(estimator)


def test_rows_that_are_far_off_move_it_less():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(200, 1))
    y = np.where(rng.random(200) < 0.1, X[:, 0] + 5.0, X[:, 0])
    off = [
        np.abs(cls(n_hidden=50, C=1.0, random_state=0).fit(X, y).predict(X) - X[:, 0]).mean()
        for cls in (ELMRegressor, module.RobustELMRegressor)
    ]
    assert off[1] < 0.2 * off[0], off


@pytest.fixture
def outliers():
    """Rows of a line of which one in ten is far off; the truth beside them."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(1500, 1))
    return X, np.where(rng.random(1500) < 0.1, X[:, 0] + 5.0, X[:, 0]), X[:, 0]


def off(model, X, truth):
    return np.abs(model.predict(X) - truth).mean()


def test_every_way_in_gives_the_same_answer_while_rows_are_kept(outliers):
    X, y, truth = outliers
    model = module.RobustELMRegressor(n_hidden=50, random_state=0)
    whole = off(clone(model).fit(X, y), X, truth)
    parts = np.array_split(np.arange(1500), 7)
    stream = clone(model)
    for rows in parts:
        stream.partial_fit(X[rows], y[rows])
    assert_allclose(off(stream, X, truth), whole, rtol=1e-6)
    # Between two choices of layer and C the rows are all those that are kept.
    first = clone(model).partial_fit(X[:1495], y[:1495])
    same = module.RobustELMRegressor(FrozenEstimator(first.features_), C=first.C_).fit(X, y)
    first.partial_fit(X[1495:], y[1495:])
    assert_allclose(off(first, X, truth), off(same, X, truth), rtol=1e-6)
    batches = clone(model).fit((X[rows], y[rows]) for rows in parts)
    assert_allclose(off(batches, X, truth), whole, rtol=1e-6)
    few = clone(model).fit(X[:900], y[:900])
    blocks = clone(model).fit(da.from_array(X[:900], (300, 1)), da.from_array(y[:900], 300))
    assert_allclose(blocks.predict(X), few.predict(X), rtol=1e-6)


def test_rows_that_are_gone_are_an_error_and_the_model_stays(outliers, monkeypatch):
    X, y, _ = outliers
    monkeypatch.setattr(reservoir, "_LEAST", 400)
    monkeypatch.setattr(reservoir, "_BYTES", 0)
    model = module.RobustELMRegressor(n_hidden=50, random_state=0)
    with pytest.raises(RowsGoneError, match="Robust needs all rows"):
        clone(model).fit(da.from_array(X, (300, 1)), da.from_array(y, 300))
    with pytest.raises(RowsGoneError, match="Robust needs all rows"):
        clone(model).fit(lambda: ((X[i : i + 100], y[i : i + 100]) for i in range(0, 1500, 100)))
    with pytest.raises(RowsGoneError, match="Robust needs all rows"):
        clone(model).fit((X[i : i + 100], y[i : i + 100]) for i in range(0, 1500, 100))
    model.partial_fit(X[:300], y[:300])
    before = model.predict(X)
    with pytest.raises(RowsGoneError, match="Robust needs all rows"):
        model.partial_fit(X[300:], y[300:])
    np.testing.assert_array_equal(model.predict(X), before)


def test_it_is_saved_once_it_is_registered_and_written_as_a_graph(outliers, tmp_path, monkeypatch):
    X, y, _ = outliers
    monkeypatch.setattr(classes, "_KNOWN", dict(classes._KNOWN))
    model = module.RobustELMRegressor(n_hidden=50, random_state=0).fit(X, y)
    with pytest.raises(UnsupportedModelError, match="register"):
        save(model, tmp_path / "model.ulmus")
    register(module.RobustELMRegressor)
    save(model, tmp_path / "model.ulmus")
    np.testing.assert_array_equal(load(tmp_path / "model.ulmus").predict(X), model.predict(X))
    assert_agrees(model, X)
