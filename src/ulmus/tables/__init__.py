"""Tables to predictions: a file is read, its columns become a matrix, and a model is fitted to it.

`read_table` reads CSV, TSV, Parquet, npz, svmlight and folders of images. `fit_table` fits what
suits a table; the `TableModel` that it returns predicts later tables with the same columns.
`TableEncoder` is the part of it that turns columns into numbers.
"""

from ulmus.tables.encoder import TableEncoder
from ulmus.tables.fitting import fit_table
from ulmus.tables.table import Table, read_table
from ulmus.tables.table_model import TableModel

__all__ = ["Table", "TableEncoder", "TableModel", "fit_table", "read_table"]
