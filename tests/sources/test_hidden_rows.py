"""Hidden rows in blocks say what those in memory say."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ulmus import KNNGraph, RandomFeatures
from ulmus.distributed import BlockRows
from ulmus.estimators.row_graphs import laplacians
from ulmus.exceptions import InvalidInputError
from ulmus.features.base import column_statistics
from ulmus.features.hidden_layer import comparable_rows, layer_of, scaled_rows
from ulmus.features.scaling import ColumnStatistics
from ulmus.hidden import Hidden
from ulmus.methods.ridge import DEFAULT_GRID, Ridge
from ulmus.problem import Problem
from ulmus.sources.hidden_rows import HiddenBlocks
from ulmus.sources.source import AtHand
from ulmus.targets import ClassTargets

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

rng = np.random.default_rng(0)
X = rng.standard_normal((130, 3)) * [4.0, 1.0, 1.0]
CUT = (50, 1, 40, 39)
# Sigmoid units leave a constant out of their rows.
FEATURES = RandomFeatures(20, activation="sigmoid", random_state=0).fit(X)
HERE = Hidden(layer_of(FEATURES, X), X)


@pytest.fixture(autouse=True)
def one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def lazy(rows=X, cut=CUT):
    found = BlockRows(FEATURES, da.from_array(rows, chunks=(cut, rows.shape[1])))
    found.survey(column_statistics)
    return found


def doubled(block, factor):
    return factor * block[:, :2]


@pytest.mark.parametrize("units", [None, slice(0, 7)])
def test_blocks_say_what_rows_in_memory_say(units):
    here, there = HERE, HiddenBlocks(lazy(), FEATURES, None)
    if units is not None:
        here, there = here.units(units), there.units(units)
    assert len(there) == len(here)
    assert (there.width, there.offset, there.dtype) == (here.width, here.offset, here.dtype)
    some = np.array([3, 50, 51, 100])
    assert_allclose(there.take(some).all(), here.all()[some])
    assert_allclose(there.mapped(doubled, 2.0), here.mapped(doubled, 2.0))
    assert there.kept() is there


@pytest.mark.parametrize("C", [1.0, DEFAULT_GRID], ids=["given", "chosen"])
def test_a_ridge_on_blocks_is_the_one_in_memory(C):
    targets = ClassTargets((X[:, 0] > 0).astype(int) + (X[:, 1] > 1), 3)
    a = Ridge(C).fit(AtHand(Problem(HERE, targets)))
    b = Ridge(C).fit(HiddenBlocks(lazy(), FEATURES, None).with_targets(targets))
    assert a.C == b.C
    assert_allclose(b.coef, a.coef, atol=1e-7 * np.abs(a.coef).max())
    assert_array_equal(b.loo_rows, a.loo_rows)
    assert_allclose(b.loo, a.loo, atol=1e-8)


@pytest.mark.parametrize("rows", [X, np.abs(X) * [1.0, 4.0, 4.0]], ids=["scaled", "alike"])
def test_graphs_that_are_tried_are_those_in_memory(rows):
    columns = ColumnStatistics.of(rows)
    compare = partial(comparable_rows, FEATURES, columns=columns)
    found = laplacians(None, "pool", lazy(rows), compare)
    expected = laplacians(None, "pool", rows, partial(comparable_rows, FEATURES))
    assert len(found) == len(expected) == 2
    for a, b in zip(found, expected, strict=True):
        assert_allclose(a.matrix.toarray(), b.matrix.toarray(), atol=1e-9)


def test_copies_in_several_blocks_are_joined():
    rows = np.repeat(X[:10], 13, axis=0)
    compare = partial(scaled_rows, FEATURES)
    (found,) = laplacians(KNNGraph(3), "published", lazy(rows), compare)
    reach = np.linalg.matrix_power(found.matrix.toarray() != 0, 10)
    for first in range(0, 130, 13):
        assert reach[first : first + 13, first : first + 13].all()


def test_one_row_has_no_graph():
    with pytest.raises(InvalidInputError, match="X has one row"):
        laplacians(KNNGraph(3), "published", lazy(X[:1], (1,)), None)
