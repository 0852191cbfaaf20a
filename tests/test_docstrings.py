"""A docstring takes from its bases what it leaves out."""

import inspect
from typing import Self

from ulmus.docstrings import documented


class Base:
    """What others share.

    Parameters
    ----------
    first : int, default=1
        The first.
    second : int, default=2
        The second,
        of two.
    unused : int
        Of no subclass.

    Attributes
    ----------
    left_ : int
        What a fit leaves.
    changed_ : int
        As the base has it.
    """

    __module__ = "ulmus.test"


@documented
class Other(Base):
    """A class.

    Parameters
    ----------
    third : int
        The third.

    Attributes
    ----------
    changed_ : float
        As this class has it.

    Examples
    --------
    >>> 1
    1
    """

    __module__ = "ulmus.test"
    left_: int

    def __init__(self, third, first=1, second=2):
        pass


def test_parameters_and_attributes_come_from_the_bases():
    assert inspect.getdoc(Other) == inspect.cleandoc(
        """A class.

        Parameters
        ----------
        third : int
            The third.
        first : int, default=1
            The first.
        second : int, default=2
            The second,
            of two.

        Attributes
        ----------
        changed_ : float
            As this class has it.
        left_ : int
            What a fit leaves.

        Examples
        --------
        >>> 1
        1
        """
    )


def test_without_docstrings_there_is_nothing_to_do():
    class Bare(Base):
        pass

    assert documented(Bare).__doc__ is None


@documented
class Short(Base):
    """A class that says nothing of its own.

    Examples
    --------
    >>> 1
    1
    """

    __module__ = "ulmus.test"
    changed_: int

    def __init__(self, second=2):
        pass


def test_a_section_that_is_missing_is_made_and_has_what_the_class_has():
    assert inspect.getdoc(Short) == inspect.cleandoc(
        """A class that says nothing of its own.

        Parameters
        ----------
        second : int, default=2
            The second,
            of two.

        Attributes
        ----------
        changed_ : int
            As the base has it.

        Examples
        --------
        >>> 1
        1
        """
    )


@documented
class Fitted:
    """A class with methods.

    Examples
    --------
    >>> 1
    1
    """

    __module__ = "ulmus.test"

    def fit(self, X, y=None) -> Self:
        """Fit.

        Parameters
        ----------
        X : list
            As this method has it.
        """

    def learn(self, X, more):
        """Not one for users."""


def test_methods_take_what_means_the_same_in_all_of_them():
    assert inspect.getdoc(Fitted.fit) == inspect.cleandoc(
        """Fit.

        Parameters
        ----------
        X : list
            As this method has it.
        y : None
            Not used; here for pipelines.

        Returns
        -------
        self : object
            The fitted estimator.
        """
    )
    assert inspect.getdoc(Fitted.learn) == "Not one for users."
    assert "n_features_in_ : int\n" in inspect.getdoc(Fitted)


@documented
class Picture:
    """Something to draw."""

    __module__ = "ulmus.test"

    @classmethod
    def from_two(cls, first, second, *, ax=None, **kwargs) -> Self:
        """Draw two.

        Parameters
        ----------
        first, second : int
            Both.
        """


def test_class_methods_that_draw_say_where_and_what_they_give():
    assert inspect.getdoc(Picture.from_two) == inspect.cleandoc(
        """Draw two.

        Parameters
        ----------
        first, second : int
            Both.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a figure.
        **kwargs : dict
            For the function of matplotlib that the class documents.

        Returns
        -------
        display : Display
            The display, which is drawn.
        """
    )
