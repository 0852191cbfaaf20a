"""An argument that cannot be used is named, with its value and what it may be."""

import numpy as np
import pytest

from ulmus import ELMNMF, ELMClassifier, KernelFeatures, KNNGraph, RandomFeatures
from ulmus.arguments import check_number, check_precision, check_whole, numbers_of
from ulmus.exceptions import InvalidParameterError

X = np.random.default_rng(0).standard_normal((30, 3))
y = np.arange(30) % 2


@pytest.mark.parametrize("dtype", [None, float, "float32", np.float64, np.dtype("<f4")], ids=str)
def test_two_precisions_are_known_by_every_name(dtype):
    check_precision("dtype", dtype)
    assert np.isfinite(ELMClassifier(n_hidden=5, dtype=dtype).fit(X, y).decision_function(X)).all()


@pytest.mark.parametrize(
    "dtype", [np.float16, np.longdouble, int, complex, "words", 3, []], ids=str
)
def test_no_other_type_is_a_precision(dtype):
    with pytest.raises(InvalidParameterError, match="dtype=.* must be float32, float64, or None"):
        ELMClassifier(dtype=dtype).fit(X, y)


@pytest.mark.parametrize("width", [float("nan"), 0, -1, float("inf"), True, "wide", [1.0]], ids=str)
def test_the_width_of_a_graph_is_a_positive_number_or_a_word(width):
    with pytest.raises(InvalidParameterError, match="width=.* must be 'mean', 'local' or a pos"):
        KNNGraph(width=width).affinity(X)


@pytest.mark.parametrize("value", [0, 11, True, 2.0, "2", None])
def test_whole_numbers_have_limits(value):
    with pytest.raises(InvalidParameterError, match="n=.* must be a whole number from 1 to 10"):
        check_whole("n", value, least=1, most=10)
    check_whole("n", np.int8(3), least=1)


def test_numbers_that_would_overflow_are_told_their_limits():
    with pytest.raises(InvalidParameterError, match="a positive number, from 1e-100 to 1e"):
        check_number("width", 1e300)
    with pytest.raises(InvalidParameterError, match="width=-1 must be a positive number.$"):
        check_number("width", -1)


def test_a_whole_number_larger_than_any_float_is_refused_in_words():
    for model in (
        RandomFeatures(gain=10**400),
        ELMClassifier(C=10**400),
        KernelFeatures(tol=10**400),
    ):
        with pytest.raises(InvalidParameterError, match="=10000.* must be "):
            model.fit(X, y)


@pytest.mark.parametrize(
    ("value", "numbers"),
    [
        (2, [2.0]),
        (np.float32(0.5), [0.5]),
        ([1, 2], [1.0, 2.0]),
        (np.array(3.0), [3.0]),
        ([], None),
        ([1.0, np.nan], None),
        ([[1.0], [1.0, 2.0]], None),
        ("1", None),
        ([True], None),
        (0, None),
        (object(), None),
    ],
)
def test_one_number_or_a_list_of_them(value, numbers):
    found = numbers_of(value)
    assert (None if found is None else found.tolist()) == numbers


def test_arguments_of_one_name_are_checked_alike():
    for model in (ELMClassifier(random_state=-1), ELMNMF(2, random_state=-1)):
        with pytest.raises(InvalidParameterError, match="random_state=-1 must be None, a whole"):
            model.fit(X, y)
    with pytest.raises(InvalidParameterError, match="bias='no' must be True or False"):
        RandomFeatures(bias="no").fit(X)
    with pytest.raises(InvalidParameterError, match="n_init=0 must be a whole number from 1 to"):
        ELMNMF(2, n_init=0).fit(X)
