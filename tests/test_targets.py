"""What targets promise."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import oracles
from ulmus import targets as module
from ulmus.exceptions import InvalidInputError, InvalidParameterError
from ulmus.targets import (
    ClassTargets,
    ValueTargets,
    check_labels,
    check_size,
    chosen,
    class_factors,
    coded,
    codes_of,
    copies,
    distinct,
    joined_labels,
    known_labels,
    lost,
    numeric,
    wrong,
)

CODES = np.array([2, 0, 1, 1, 0])


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_coded_classes_are_one_against_the_rest(n_classes):
    codes = CODES % n_classes
    T = coded(ClassTargets(codes, n_classes), slice(0, 5), float)
    assert_array_equal(T, oracles.one_vs_rest(codes, np.arange(n_classes)))
    assert len(ClassTargets(codes, n_classes)) == 5


def test_some_rows_are_coded_as_they_are_among_all():
    targets, rows = ClassTargets(CODES, 3), np.array([4, 0])
    assert_array_equal(targets.block(rows, float), [[1, 0, 0], [0, 0, 1]])
    assert targets.block(rows, np.float32).dtype == np.float32
    assert_array_equal(coded(targets, rows, float), coded(targets, slice(0, 5), float)[rows])


def test_values_are_their_own_code():
    Y = np.arange(6.0).reshape(3, 2)
    targets = ValueTargets(Y)
    assert len(targets) == 3
    assert_array_equal(coded(targets, slice(1, 3), float), Y[1:])
    assert targets.block(slice(0, 3), np.float32).dtype == np.float32
    assert targets.array is Y


def test_the_class_chosen_is_the_largest_value_or_the_sign():
    assert_array_equal(chosen(np.array([[0.1, 0.5, -1.0], [2.0, 0.5, 1.0]])), [1, 0])
    assert_array_equal(chosen(np.array([[-0.1], [0.0], [0.1]])), [0, 0, 1])
    F = np.array([[[0.1, 0.5], [2.0, 0.5]]])
    assert_array_equal(chosen(F), [[1, 0]])
    T = np.array([[-1.0], [1.0], [1.0]])
    assert_array_equal(wrong(T, np.array([[-0.5], [-0.5], [3.0]])), [False, True, False])


@pytest.mark.parametrize(
    "y", [np.array([3, 1, 3]), np.array(["b", "a", "b"]), np.array(["b", 1, "a"], object)]
)
def test_every_label_has_its_place_among_the_classes(y):
    classes = distinct(y)
    assert_array_equal(classes[codes_of(y, classes)], y)
    assert_array_equal(codes_of(y, classes[:1]) >= 0, y == classes[0])


def test_labels_that_are_no_class_have_no_place():
    classes = np.array([1, 3, 5])
    assert_array_equal(codes_of(np.array([0, 1, 2, 5, 6]), classes), [-1, 0, -1, 2, -1])


def test_many_labels_are_looked_up_in_parts(monkeypatch):
    monkeypatch.setattr(module, "_STEP", 4)
    y = np.arange(11) % 3
    assert_array_equal(codes_of(y, np.arange(3)), y)


def test_labels_of_one_kind_join_and_others_are_refused():
    assert_array_equal(joined_labels(np.array([1, 0]), np.array([2])), [1, 0, 2])
    assert_array_equal(joined_labels(np.array([0, 1]), np.array([1.0, 2.0])), [0, 1, 1, 2])
    assert_array_equal(joined_labels(np.array(["a"]), np.array(["b"])), ["a", "b"])
    mixed = np.array(["a", 0], object)
    assert joined_labels(mixed, np.array([3])).tolist() == ["a", 0, 3]
    with pytest.raises(InvalidInputError, match="text, such as '0', and .* numbers, such as 1"):
        joined_labels(np.array([1, 0]), np.array(["0"]))
    with pytest.raises(InvalidInputError, match="numbers, such as 7, and .* text, such as 'a'"):
        joined_labels(np.array(["a"]), np.array(["b", 7, 8], object))
    with pytest.raises(InvalidInputError, match="of the type tuple"):
        joined_labels(np.array([1]), np.array([(1, 2), None], object)[:1])


def test_labels_that_cannot_be_told_apart_are_refused():
    check_labels(np.array(["a", 2, (1, 2)], object))
    with pytest.raises(InvalidInputError, match=r"of the type list, \[1\]"):
        check_labels(np.array(["a", [1]], object))


def test_targets_that_are_no_numbers_are_refused_in_words():
    for fine in ([1, 2], [True, False], np.array([1, 2.5], object)):
        assert_array_equal(numeric(np.asarray(fine)), np.asarray(fine, float))
    single = np.ones(2, np.float32)
    assert numeric(single) is single
    for words in (["a"], np.array(["1", 2], object), np.array([b"1"], object)):
        with pytest.raises(InvalidInputError, match="y must be numbers, and is text"):
            numeric(np.asarray(words))
    for none in (np.array([1.0, {}], object), np.array([10**400], object)):
        with pytest.raises(InvalidInputError, match="some entries are none"):
            numeric(none)
    with pytest.raises(InvalidInputError, match="Complex data not supported: t is complex128"):
        numeric(np.array([1j]), "t")
    with pytest.raises(InvalidInputError, match="is of the type datetime64"):
        numeric(np.array(["2020"], "datetime64[D]"))


def test_minus_one_and_nothing_are_no_labels():
    assert_array_equal(known_labels(np.array([0, -1, 2])), [True, False, True])
    assert_array_equal(known_labels(np.array([0.0, np.nan, -1.0])), [True, False, False])
    assert_array_equal(known_labels(np.array(["a", None, -1], object)), [True, False, False])
    assert_array_equal(known_labels(np.array(["a", "-1"])), [True, True])


def test_balanced_classes_have_the_same_total():
    totals = np.array([1.0, 4.0, 0.0, 5.0])
    factors = class_factors("balanced", np.arange(4), totals)
    assert_allclose((factors * totals)[totals > 0], totals.sum() / 3)
    assert factors[2] == 0


def test_a_dict_of_weights_has_one_for_each_class_it_names():
    assert class_factors(None, np.arange(2), None) is None
    assert_array_equal(class_factors({1: 3.0}, np.arange(3), None), [1.0, 3.0, 1.0])
    for bad in ({0: 0.0}, {0: -1.0}, {0: np.inf}, {0: np.nan}):
        with pytest.raises(InvalidParameterError, match="positive"):
            class_factors(bad, np.arange(2), None)
    with pytest.raises(InvalidParameterError, match="'balanced' or None"):
        class_factors("even", np.arange(2), None)
    with pytest.raises(InvalidParameterError, match="all the labels at once"):
        class_factors("balanced", np.arange(2), None)


def test_numbers_whose_squares_are_no_float_are_refused():
    for fine in ([0.0], [np.nan], [1e150], [1e-150], [1e-300, 1.0], []):
        check_size("y", np.array(fine))
    with pytest.raises(InvalidInputError, match="y goes up to 2e.150.* divide"):
        check_size("y", np.array([1.0, -2e150]))
    with pytest.raises(InvalidInputError, match="y goes up to 1e-151.* multiply"):
        check_size("y", np.array([0.0, 1e-151, np.nan]))


@pytest.mark.parametrize(
    ("weight", "expected"),
    [
        ([1.0, 3.0, 2.0], [1.0, 3.0, 2.0]),
        ([1.0, 1.0], [1.0, 1.0]),
        ([10.0, 10.0], [1.0, 1.0]),
        ([2.0, 4.0], [1.0, 1.0]),
        ([0.5, 1.0], [1.0, 1.0]),
        ([1.0, 2.0, 2.5], [1.0, 1.0, 1.0]),
        ([], []),
    ],
)
def test_whole_numbers_from_one_on_are_copies_and_other_weights_are_one_row_each(weight, expected):
    weight = np.array(weight)
    assert_array_equal(copies(weight), expected)
    assert_allclose(lost(weight) * expected, weight)
    assert lost(None) is None
