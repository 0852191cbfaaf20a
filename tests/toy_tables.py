"""Small tables of lists."""

import numpy as np

from ulmus.tables import Table

__all__ = ["table_of"]


def table_of(**columns):
    """A table of these columns: numbers, or text where a cell is text; None is blank."""
    made = {}
    for name, cells in columns.items():
        text = any(isinstance(cell, str) for cell in cells)
        values = cells if text else [np.nan if cell is None else cell for cell in cells]
        made[name] = np.array(values, dtype=object if text else float)
    return Table(tuple(made), made)
