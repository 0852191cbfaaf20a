"""Files into matrices: CSV, TSV, Parquet, npz, svmlight and folders of images.

`read_table` reads a file; `TableEncoder` turns its columns into numbers, and those of later files
in the same way.
"""

from ulmus.tables.encoder import TableEncoder
from ulmus.tables.reading import read_table
from ulmus.tables.table import Table

__all__ = ["Table", "TableEncoder", "read_table"]
