"""Tables to predictions: columns of a file in, one model out, all of it in one object.

`fit_table` chooses and fits; the `TableModel` that it returns takes later tables with the same
columns.
"""

from ulmus.tabular.fitting import fit_table
from ulmus.tabular.model import TableModel

__all__ = ["TableModel", "fit_table"]
