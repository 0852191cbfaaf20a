"""Neighbours stay together in the plane, and new rows go among them."""

import logging
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits, load_iris
from sklearn.manifold import trustworthiness
from sklearn.neighbors import KNeighborsClassifier

import ulmus
from ulmus import ELMEmbedding, ELMLayout
from ulmus.exceptions import ExportError, InvalidInputError, MissingExtraError

X, y = load_digits(return_X_y=True)
GIVEN, NEW = slice(0, 600), slice(600, 900)
IRIS = load_iris().data


@pytest.fixture(scope="module")
def layout():
    return ELMLayout(random_state=0).fit(X[GIVEN])


def test_it_keeps_more_neighbours_than_two_columns_of_the_embedding(layout):
    flat = ELMEmbedding(2, n_hidden=200, random_state=0).fit_transform(X[GIVEN])
    kept = [trustworthiness(X[GIVEN], P, n_neighbors=10) for P in (layout.embedding_, flat)]
    assert kept[0] > 0.95 > kept[1] + 0.05


def test_new_rows_go_among_rows_of_their_class(layout):
    nearest = KNeighborsClassifier(10).fit(layout.embedding_, y[GIVEN])
    assert nearest.score(layout.transform(X[NEW]), y[NEW]) > 0.9


def test_a_row_of_the_layout_goes_to_its_own_place(layout):
    assert_allclose(layout.transform(X[GIVEN]), layout.embedding_, atol=1e-6)


def test_changing_the_places_that_are_given_changes_no_model():
    model = ELMLayout(random_state=0)
    places = model.fit_transform(IRIS)
    before = model.transform(IRIS)
    places += 100.0
    assert_array_equal(model.transform(IRIS), before)


def test_a_new_row_lies_between_the_rows_that_are_nearest_in_the_embedding(layout):
    rows = X[NEW][:5]
    A = layout.pca_.transform((rows - layout.scaling_.center) * layout.scaling_.factor)
    for f, place in zip(layout.elm_.transform(A), layout.transform(rows), strict=True):
        d = np.linalg.norm(f * layout.spread_ - layout.landmarks_, axis=1)
        five = np.argsort(d)[:5]
        expected = np.average(layout.places_[five], axis=0, weights=d[five] ** -2.0)
        assert_allclose(place, expected, rtol=1e-6)


def test_the_seed_decides_and_nothing_is_logged(layout, caplog, capfd):
    with caplog.at_level(logging.WARNING):
        again = ELMLayout(random_state=0).fit_transform(X[GIVEN])
    assert_array_equal(again, layout.embedding_)
    assert not np.allclose(ELMLayout(random_state=1).fit_transform(X[GIVEN]), again)
    assert caplog.records == []
    assert capfd.readouterr() == ("", "")


def test_rows_past_max_rows_are_placed_as_new_ones_are():
    model = ELMLayout(max_rows=100, random_state=0).fit(IRIS)
    assert model.places_.shape == (100, 2)
    assert_allclose(model.transform(IRIS), model.embedding_, atol=1e-5)
    whole = ELMLayout(max_rows=None, random_state=0).fit(IRIS)
    assert len(whole.places_) == 150


def test_units_of_columns_do_not_matter():
    scaled = ELMLayout(random_state=0).fit_transform(IRIS * [1.0, 1e3, 1e-3, 10.0])
    other = ELMLayout(random_state=0).fit_transform(IRIS * [1e3, 1.0, 1.0, 1e-2])
    assert_allclose(scaled, other, atol=1e-3)


@pytest.mark.parametrize("columns", [30, 64])
def test_sparse_rows_are_laid_out_like_dense_ones(columns):
    rows = X[:200, -columns:]
    for fitted_to in (rows, sp.csr_array(rows)):
        model = ELMLayout(random_state=0).fit(fitted_to)
        assert trustworthiness(rows, model.embedding_, n_neighbors=7) > 0.9
        assert_allclose(model.transform(sp.csr_array(rows)), model.transform(rows), atol=1e-6)


@pytest.mark.parametrize("n", [2, 3, 5, 7, 12, 29, 30, 31, 40])
def test_few_rows(n):
    places = ELMLayout(random_state=0).fit_transform(IRIS[::3][:n])
    assert places.shape == (n, 2)
    assert np.isfinite(places).all()


@pytest.mark.parametrize("n_neighbors", [1, 2, 500])
def test_few_and_many_neighbours(n_neighbors):
    assert np.isfinite(ELMLayout(n_neighbors=n_neighbors, random_state=0).fit_transform(IRIS)).all()


def test_copies_lie_in_finite_places():
    assert np.isfinite(ELMLayout(random_state=0).fit_transform(np.repeat(IRIS[:9], 8, 0))).all()


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pacmap", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'ulmus\[maps\]'"):
        ELMLayout().fit(IRIS)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (ELMLayout(n_neighbors=0), "n_neighbors=0"),
        (ELMLayout(max_rows=1), "max_rows=1"),
        (ELMLayout(max_rows=2.5), "max_rows=2.5"),
    ],
)
def test_bad_parameters(model, words):
    with pytest.raises(InvalidInputError, match=words):
        model.fit(IRIS)


def test_bad_rows(layout):
    with pytest.raises(InvalidInputError, match="all the same"):
        ELMLayout().fit(np.ones((40, 3)))
    with pytest.raises(ValueError, match="64 features"):
        layout.transform(IRIS)


def test_it_is_saved_and_has_no_graph(layout, tmp_path):
    ulmus.save(layout, tmp_path / "layout.ulmus")
    again = ulmus.load(tmp_path / "layout.ulmus")
    assert_allclose(again.transform(X[NEW]), layout.transform(X[NEW]), rtol=1e-9)
    with pytest.raises(ExportError, match="ELMLayout"):
        ulmus.to_onnx(layout)
