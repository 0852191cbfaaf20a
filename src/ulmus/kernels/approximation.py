"""How a matrix between rows is approximated: values that an estimator is given."""

from dataclasses import dataclass, replace
from typing import ClassVar

from ulmus.arguments import check_known, check_rank
from ulmus.exceptions import InvalidParameterError

# The tolerance where neither a rank nor a tolerance is given, as a fraction of the trace.
DEFAULT_TOL = 1e-7
NAMES = ("rpcholesky", "nystrom", "randomized", "eig")


@dataclass(frozen=True)
class LowRank:
    """A low-rank factor of a kernel matrix, made of some of its columns.

    Parameters
    ----------
    rank : int, float or None, default=None
        The most columns of the factor. A float is a fraction of the rows. None is 2000, or no limit
        where ``tol`` is given.
    tol : float or None, default=None
        Stop as soon as the fraction of the matrix's trace that is missing is this small. None is no
        such limit, or 1e-7 where ``rank`` is None too.
    method : {"rpcholesky", "nystrom", "eig"}, default="rpcholesky"
        Randomly pivoted Cholesky; columns drawn uniformly (Nyström); or the leading eigenvectors of
        the whole matrix.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ulmus import KernelELMClassifier, LowRank
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelELMClassifier(method=LowRank(tol=0.01), random_state=0).fit(X, y)
    >>> model.approximation_error_ <= 0.01
    True
    """

    rank: int | float | None = None
    tol: float | None = None
    method: str = "rpcholesky"

    oversampling: ClassVar[int] = 10
    power_steps: ClassVar[int] = 0


@dataclass(frozen=True)
class Randomized:
    """The randomized ELM: a random sketch of HHᵀ, or of a kernel matrix, in its place.

    Parameters
    ----------
    rank : int, float or None, default=None
        Columns of the sketch. A float is a fraction of the rows; None is the number of hidden
        units, or 2000 for a kernel.
    oversampling : int, default=10
        Further columns, which make the first ones more exact.
    power_steps : int, default=0
        Further passes over the matrix, which do so too.
    tol : float or None, default=None
        Stop as soon as the fraction of the matrix's trace that is missing is this small.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ulmus import ELMClassifier, Randomized
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ELMClassifier(n_hidden=200, solver=Randomized(30), random_state=0).fit(X, y)
    >>> model.solver_
    'randomized'
    """

    rank: int | float | None = None
    oversampling: int = 10
    power_steps: int = 0
    tol: float | None = None

    method: ClassVar[str] = "randomized"


def approximation_of(
    method: object, rank: int | float | None, tol: float | None = None
) -> LowRank | Randomized:
    """The approximation that a name stands for, or an object and what is given beside it."""
    if isinstance(method, LowRank | Randomized):
        found = method
    else:
        check_known("method", method, NAMES)
        found = Randomized() if method == "randomized" else LowRank(method=str(method))
    for name, value in (("rank", rank), ("tol", tol)):
        if value is not None and getattr(found, name) is not None:
            raise InvalidParameterError(
                f"{name}={value!r} is given beside method={method!r}, which has one; leave one out."
            )
    rank, tol = (found.rank if rank is None else rank), (found.tol if tol is None else tol)
    found = replace(found, rank=rank, tol=tol)
    check_known("method", found.method, NAMES)
    check_rank(found.rank, found.tol, found.oversampling, found.power_steps)
    return found
