"""Units drawn from the rows are their formula, and the rows' order and repeats change nothing."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from ulmus import RowFeatures
from ulmus.exceptions import InvalidInputError, InvalidParameterError
from ulmus.features.row_units import MOST_ROWS, map_rows

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 4)) * [1.0, 10.0, 0.1, 3.0] + [0.0, 50.0, -1.0, 2.0]


def scaled(phi, A=X):
    return (A - phi.scaling_.center) * phi.scaling_.factor


@pytest.mark.parametrize("node", ["exponential", "gaussian"])
@pytest.mark.parametrize("scaling", ["auto", None])
@pytest.mark.parametrize("h", [1, 8, 9])
def test_units_are_their_formula_by_turns(h, scaling, node):
    phi = RowFeatures(h, node=node, scaling=scaling, random_state=0).fit(X)
    S = scaled(phi)
    expected = np.empty((60, h))
    expected[:, 0::2] = np.tanh(S @ phi.weights_.T + phi.biases_)
    D = ((S[:, None, :] - phi.centers_) ** 2).sum(axis=2)
    z = phi.rates_ * D
    expected[:, 1::2] = 4.0 * np.exp(-z if node == "gaussian" else -np.sqrt(z + 0.001))
    assert_allclose(phi.transform(X), expected, rtol=1e-9, atol=1e-10)
    assert_allclose(phi.transform(sp.csr_array(X)), expected, rtol=1e-8, atol=1e-9)
    assert_allclose(phi.transform(X.astype(np.float32)), expected, atol=1e-4)
    assert phi.get_feature_names_out().shape == (h,)


def test_half_of_the_units_are_around_rows_and_half_between_two():
    phi = RowFeatures(80, random_state=0).fit(X)
    S, real = scaled(phi), phi.weights_.any(axis=1)
    assert real.sum() >= 38  # of 40, a row may be drawn beside itself
    assert np.abs(S[:, None, :] - phi.centers_).max(axis=2).min(axis=0).max() < 1e-12
    pairs = S[:, None, :] - S
    along = np.einsum("ijd,ud->iju", pairs, phi.weights_[real])
    lengths = np.sqrt((pairs**2).sum(axis=2))[:, :, None]
    cosines = along / np.where(lengths > 0, lengths, 1.0)
    cosines /= np.sqrt((phi.weights_[real] ** 2).sum(axis=1))
    assert_allclose(cosines.max(axis=(0, 1)), 1.0, rtol=1e-12)
    # Their inputs have about the deviation that they are made for.
    assert 0.25 < np.median((S @ phi.weights_.T).std(axis=0)) < 0.36


def test_most_rows_are_around_different_rows():
    phi = RowFeatures(60, random_state=0).fit(X)
    assert len(np.unique(phi.centers_, axis=0)) >= 26


@pytest.mark.parametrize("weights", [None, [1.0, 0.1, 3.0, 0.5]])
def test_a_row_of_weight_two_is_two_rows_and_their_order_does_not_matter(weights):
    count = 1 + np.arange(60) % 3
    phi = RowFeatures(20, column_weights=weights, random_state=0)
    weighted = phi.learn(X, count.astype(float)).transform(X)
    repeated = np.repeat(X, count, axis=0)
    assert_allclose(phi.fit(repeated).transform(X), weighted, rtol=1e-7)
    assert_allclose(phi.fit(RNG.permutation(repeated)).transform(X), weighted, rtol=1e-7)


def test_column_weights_change_the_units_and_not_the_rows_they_are_from():
    plain = RowFeatures(20, random_state=0).fit(X)
    weights = np.array([2.0, 0.5, 1.0, 0.01])
    weighed = RowFeatures(20, column_weights=weights, random_state=0).fit(X)
    assert_allclose(weighed.scaling_.factor, plain.scaling_.factor * weights)
    assert_allclose(weighed.centers_, plain.centers_ * weights)
    assert weighed.selection_ == "column weights as given"
    again = plain.reweighed(weights, X, None)
    assert_allclose(again.transform(X), weighed.transform(X))
    blind = RowFeatures(20, column_weights=[1.0, 1.0, 1.0, 0.0], random_state=0).fit(X)
    assert_allclose(blind.transform(X), blind.transform(X + np.eye(4)[3]))


@pytest.mark.parametrize("weights", [[1.0], [1.0, 1.0, 1.0, -1.0], [0.0] * 4, [np.nan] * 4])
def test_column_weights_that_cannot_be_used_are_refused(weights):
    with pytest.raises(InvalidInputError, match="column_weights"):
        RowFeatures(5, column_weights=weights).fit(X)


@pytest.mark.parametrize("columns", [slice(0, 6), slice(3, 10), slice(2, 3), slice(5, 6)])
def test_some_units_of_a_layer_are_columns_of_it(columns):
    layer = RowFeatures(11, random_state=0).fit(X).layer(X)
    H = layer(X)
    some = layer.units(columns)
    assert some.width == H[:, columns].shape[1]
    assert_allclose(some(X), H[:, columns])
    assert_allclose(some.units(slice(1, 4))(X), H[:, columns][:, 1:4])
    assert layer(X, np.empty_like(H)).shape == H.shape


def test_units_are_drawn_from_as_many_rows_as_are_needed():
    assert map_rows(0, MOST_ROWS, 1000) is None
    assert len(map_rows(0, 10 * MOST_ROWS, 1000)) == MOST_ROWS
    assert len(map_rows(0, 10 * MOST_ROWS, 3000)) == 3000


@pytest.mark.parametrize(
    "rows",
    [
        np.zeros((5, 2)),
        np.ones((1, 3)),
        np.column_stack([X[:, 0], X[:, 0], np.full(60, 7.0)]),
        X[:, :1],
        np.eye(4)[np.arange(40) % 4],
        X * [1.0, 1e150, 1e-150, 1.0],
    ],
    ids=["equal", "one row", "duplicate and constant", "one column", "one-hot", "far apart"],
)
def test_rows_of_every_kind_give_finite_units(rows):
    H = RowFeatures(10, random_state=0).fit_transform(rows)
    assert np.isfinite(H).all()
    assert_array_equal(H.shape, (len(rows), 10))


def with_far_values():
    far = X.copy()
    far[4, 0], far[7, 1] = 1e4, -1e5
    return far


def test_one_far_value_does_not_set_the_scale_of_its_column():
    phi, plain = (RowFeatures(20, random_state=0).fit(rows) for rows in (with_far_values(), X))
    assert_allclose(phi.scaling_.factor, plain.scaling_.factor, rtol=0.2)
    assert plain.scaling_.least is None
    row = X[:1].copy()
    row[0, 0] = phi.scaling_.greatest[0]
    expected = phi.transform(row)
    row[0, 0] = 1e9
    assert_allclose(phi.transform(row), expected)
    row[0, 2] = 5.0 * X[:, 2].max()  # a column without far values goes on
    assert np.abs(phi.transform(row) - expected).max() > 1e-3


def test_far_values_are_forgotten_by_another_fit_and_kept_by_more_rows():
    phi = RowFeatures(20, random_state=0).fit(with_far_values())
    before = phi.scaling_
    phi.partial_fit(with_far_values())
    assert_array_equal(phi.scaling_.greatest, before.greatest)
    assert_allclose(phi.scaling_.factor, before.factor, rtol=1e-9)
    assert not phi.moves(with_far_values())
    assert phi.fit(X).scaling_.least is None


def test_units_between_rows_see_a_rectangle_of_the_image():
    pixels = np.random.default_rng(1).standard_normal((40, 30))
    phi = RowFeatures(31, image_shape=(5, 6), random_state=0).fit(pixels)
    real = phi.weights_.any(axis=1)
    assert real.sum() >= 14  # of 16, a row may be drawn beside itself
    for seen in (phi.weights_[real] != 0).reshape(-1, 5, 6):
        rows, columns = np.flatnonzero(seen.any(axis=1)), np.flatnonzero(seen.any(axis=0))
        assert seen[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1].all()
        assert 2 <= seen.sum() == (np.ptp(rows) + 1) * (np.ptp(columns) + 1)
    assert (phi.weights_ == 0).mean() > 0.3
    Z = scaled(phi, pixels) @ phi.weights_.T + phi.biases_
    assert_allclose(Z.std(axis=0)[real], 0.5, atol=0.3)  # the gain is that of units that see all
    assert_allclose(phi.centers_, RowFeatures(31, random_state=0).fit(pixels).centers_)


@pytest.mark.parametrize("shape", [5, (5,), (0, 4), (2.5, 2), "28"])
def test_shapes_that_are_none(shape):
    with pytest.raises(InvalidParameterError, match="image_shape"):
        RowFeatures(image_shape=shape).fit(X)


def test_a_kind_of_units_that_is_unknown_is_refused():
    with pytest.raises(InvalidParameterError, match="node='cosine' is unknown"):
        RowFeatures(node="cosine").fit(X)


def test_a_shape_of_other_images():
    with pytest.raises(InvalidInputError, match=r"6 pixels, and X has 4 columns"):
        RowFeatures(image_shape=(2, 3)).fit(X)


@pytest.mark.parametrize("h", [2, 100, 1000])
def test_units_reach_as_far_as_two_rows_are_apart(h):
    phi = RowFeatures(h, random_state=0).fit(X)
    S = scaled(phi)
    mean = np.sqrt(((S[:, None, :] - S) ** 2).sum(axis=2)).mean()
    assert_allclose(0.7 / np.sqrt(phi.rates_), mean, rtol=0.05)
