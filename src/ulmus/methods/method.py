"""What a method is: a frozen value that finds the output weights from any source of rows."""

from typing import ClassVar, Protocol, Self

from ulmus.problem import Solution
from ulmus.sources.source import Source


class Method(Protocol):
    """Penalty, choice of its parameters and leave-one-out together.

    ``parameters`` names what it is given or chooses, as a `Solution` has it.
    """

    parameters: ClassVar[tuple[str, ...]]

    @property
    def chooses(self) -> bool:
        """Whether some of the parameters are to be chosen by leaving rows out."""

    @property
    def needs_rows(self) -> bool:
        """Whether it can do nothing with sums alone."""

    def fit(self, source: Source) -> Solution:
        """The output weights, and the outputs of rows left out."""

    def at(self, **values: float) -> Self:
        """The same with parameters that were chosen before."""

    def compared(self) -> Self:
        """The same with a left-out error even where there is nothing to choose."""
