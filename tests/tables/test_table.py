"""A table gives its columns, some of its rows, and what is left without a column."""

import pytest

from toy_tables import table_of
from ulmus.exceptions import TableError


def test_a_table_gives_columns_rows_and_what_is_left():
    table = table_of(age=[31.0, 45.0, 62.0, 18.0], city=["Oslo", "Rome", "Oslo", "Bonn"])
    assert table.without("age").names == ("city",)
    assert table.rows([2, 0])["city"].tolist() == ["Oslo", "Oslo"]
    with pytest.raises(TableError, match="no column 'Age'; did you mean 'age'"):
        table["Age"]
    with pytest.raises(TableError, match="no column"):
        table.without("town")
