"""CSV and its like: what is written is what is read, and what cannot be read says why."""

import bz2
import csv
import gzip
import io
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ulmus.exceptions import InvalidParameterError, MissingExtraError, TableError
from ulmus.tables import delimited, read_table

WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), min_size=1, max_size=8)
# Cells that stay as they are: no space around, no number, no blank.
CELLS = WORDS.map(lambda word: f"[{word}]")
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
ROWS = st.integers(1, 12)


@st.composite
def tables(draw):
    n = draw(ROWS)
    kinds = draw(st.lists(st.sampled_from([CELLS, NUMBERS]), min_size=1, max_size=5))
    columns = [draw(st.lists(st.none() | kind, min_size=n, max_size=n)) for kind in kinds]
    names = draw(st.lists(CELLS, min_size=len(kinds), max_size=len(kinds), unique=True))
    return names, columns


def write(path, data, encoding="utf-8"):
    path.write_bytes(data.encode(encoding) if isinstance(data, str) else data)
    return path


def same(found, cells):
    if found.dtype == object:
        return found.tolist() == cells
    return np.array_equal(found, np.array([np.nan if c is None else c for c in cells]), True)


@settings(deadline=None, max_examples=40)
@given(
    table=tables(),
    delimiter=st.sampled_from([",", ";", "\t", "|"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32"]),
)
def test_what_is_written_is_read(tmp_path_factory, table, delimiter, quoting, end, encoding):
    names, columns = table
    # Python's writer leaves \n without quotes where lines end in \r.
    quoting = csv.QUOTE_ALL if end == "\r" else quoting
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=delimiter, quoting=quoting, lineterminator=end)
    writer.writerow(names)
    writer.writerows(zip(*columns, strict=True))
    path = write(tmp_path_factory.mktemp("law") / "table.csv", stream.getvalue(), encoding)
    read = read_table(path, delimiter=delimiter, header=True)
    assert list(read.names) == names
    assert len(read) == len(columns[0])
    for name, cells in zip(names, columns, strict=True):
        assert same(read[name], cells)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(tmp_path, delimiter):
    path = write(tmp_path / "t.txt", f'a{delimiter}b\n1{delimiter}"x;,|"\n2{delimiter}y\n')
    assert read_table(path)["b"].tolist() == ["x;,|", "y"]


def test_numbers_have_a_decimal_comma_where_fields_end_in_a_semicolon(tmp_path):
    path = write(tmp_path / "t.csv", "a;b\n1,5;1.234,5\n-2;2\n")
    table = read_table(path)
    assert table["a"].tolist() == [1.5, -2]
    assert table["b"].tolist() == [1234.5, 2]


def test_a_point_is_a_decimal_point_in_a_column_without_commas(tmp_path):
    table = read_table(write(tmp_path / "t.csv", "a;b\n0.998;1.234\n1.001;999,5\n"))
    assert table["a"].tolist() == [0.998, 1.001]
    assert table["b"].tolist() == [1234, 999.5]


def test_one_row_needs_no_end(tmp_path):
    assert read_table(write(tmp_path / "t.csv", "1.5,2"))["column_1"].tolist() == [1.5]


def test_thousands_may_be_set_apart(tmp_path):
    assert read_table(write(tmp_path / "t.csv", 'a\n"1,234.5"\n7\n'))["a"].tolist() == [1234.5, 7]


def test_codes_with_a_zero_in_front_stay_text(tmp_path):
    assert read_table(write(tmp_path / "t.csv", "a\n007\n12\n"))["a"].tolist() == ["007", "12"]


def test_blanks_have_many_spellings(tmp_path):
    table = read_table(write(tmp_path / "t.csv", 'a,b\n1, ?\nNA,x\n"",N/A\nnull,NaN\n'))
    assert np.array_equal(table["a"], [1, np.nan, np.nan, np.nan], equal_nan=True)
    assert table["b"].tolist() == [None, "x", None, None]


def test_none_is_a_word(tmp_path):
    path = write(tmp_path / "t.csv", "a\nNone\nmild\n")
    assert read_table(path, header=True)["a"].tolist() == ["None", "mild"]


def test_a_column_of_blanks_is_numbers_without_any(tmp_path):
    assert np.isnan(read_table(write(tmp_path / "t.csv", "a,b\n,1\n?,2\n"))["a"]).all()


def test_quotes_hold_delimiters_quotes_and_ends_of_lines(tmp_path):
    table = read_table(write(tmp_path / "t.csv", 'a,b\n"x, ""y""\nz",1\nplain,2\n'))
    assert table["a"].tolist() == ['x, "y"\nz', "plain"]


def test_rows_of_a_single_column_may_be_blank(tmp_path):
    table = read_table(write(tmp_path / "t.csv", "\n\na\n1\n\n3\n"))
    assert np.array_equal(table["a"], [1, np.nan, 3], equal_nan=True)


@pytest.mark.parametrize(("suffix", "pack"), [(".gz", gzip.compress), (".bz2", bz2.compress)])
def test_text_may_be_compressed(tmp_path, suffix, pack):
    path = write(tmp_path / f"t.csv{suffix}", pack(b"a,b\n1,x\n2,y\n"))
    assert read_table(path)["b"].tolist() == ["x", "y"]
    damaged = write(tmp_path / f"u.csv{suffix}", pack(b"a,b\n" + b"1,x\n" * 99)[:-9])
    with pytest.raises(TableError, match="cannot be read to its end"):
        read_table(damaged)


# ---------------------------------------------------------------- encodings
def test_latin_letters_are_read_with_a_note(tmp_path):
    table = read_table(write(tmp_path / "t.csv", "città,b\né,1\n", "latin-1"))
    assert table.names == ("città", "b")
    assert table["città"].tolist() == ["é"]
    assert "Windows-1252" in table.notes[0]


def test_an_encoding_can_be_given(tmp_path):
    path = write(tmp_path / "t.csv", "a,b\nя,1\n", "cp1251")
    assert read_table(path, encoding="cp1251")["a"].tolist() == ["я"]
    with pytest.raises(TableError, match="is not text in utf-8"):
        read_table(path, encoding="utf-8-sig")
    for unknown in ("martian", "hex"):
        with pytest.raises(TableError, match=f"encoding='{unknown}' is unknown"):
            read_table(path, encoding=unknown)


def test_an_encoding_that_cannot_be_found_is_asked_for(tmp_path):
    path = write(tmp_path / "t.csv", b"a,b\n\x81\x8d,1\n")
    with pytest.raises(TableError, match="give its encoding="):
        read_table(path)


def test_utf_16_without_a_mark_is_asked_for(tmp_path):
    path = write(tmp_path / "t.csv", "a,b\nx,1\n", "utf-16-le")
    with pytest.raises(TableError, match="NUL characters.*utf-16-le"):
        read_table(path)
    assert read_table(path, encoding="utf-16-le")["a"].tolist() == ["x"]


# ---------------------------------------------------------------- headers
def test_a_first_row_of_numbers_is_data(tmp_path):
    table = read_table(write(tmp_path / "t.csv", "1.5,2\n3,4\n"))
    assert table.names == ("column_1", "column_2")
    assert table["column_1"].tolist() == [1.5, 3]
    assert "give header=True" in table.notes[0]


def test_a_header_can_be_said_to_be_there_or_not(tmp_path):
    path = write(tmp_path / "t.csv", "5,7\n3,4\n")
    assert read_table(path, header=True).names == ("5", "7")
    assert read_table(path, header=False)["column_1"].tolist() == [5, 3]


DATA_FIRST = [
    "5.1,3.5,Iris-setosa\n4.9,3,Iris-setosa\n6.3,3.3,Iris-virginica\n",
    "p,x,s\ne,x,y\np,b,s\n",
    "39 State-gov 77516\n50 Self-emp 83311\n38 State-gov 215646\n",
    "?;-1;no\n4;2;yes\n5;3;no\n",
]


@pytest.mark.parametrize("text", DATA_FIRST)
def test_no_row_of_a_file_without_a_header_is_lost(tmp_path, text):
    table = read_table(write(tmp_path / "t.data", text))
    assert len(table) == len(text.splitlines())
    assert table.names[0] == "column_1"
    assert "taken as data" in " ".join(table.notes)


def test_no_first_row_of_thirty_classes_is_lost_in_silence(tmp_path):
    words = [f"{a}{b}" for a in "bcdfgh" for b in "aeiou"]
    for seed in range(20):
        picked = np.random.default_rng(seed).choice(words, (90, 3))
        path = write(tmp_path / f"{seed}.csv", "\n".join(map(",".join, picked)) + "\n")
        try:
            rows = len(read_table(path))
        except TableError as error:
            rows = 90 * ("header=False if it is data" in str(error))
        assert rows == 90


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n1,x\n2,y\n",
        "country,2019,2020,area\nNorway,1,2,3\nItaly,3,4,5\n",
        "a,b\n" + "x,y\nz,y\n" * 10,
        "country,text\nNorway,Long winters.\nItaly,Warm summers.\n",
        "a,b\n" + "".join(f"{'v' * k},Oslo\n{'w' * k},Rome\n" for k in range(2, 14)),
        "a,b\n1,2\na,b\n3,4\n",
    ],
)
def test_a_row_of_names_is_found(tmp_path, text):
    assert read_table(write(tmp_path / "t.csv", text)).names[0] in ("a", "country")


@pytest.mark.parametrize(
    "text",
    [
        "39,x\n40,y\n",
        "country,2019\nNorway,1\n",
        "a,b,c\na,x,y\nz,u,v\n",
        "Ann,Oslo\nBob,Rome\nCid,Nice\n",
    ],
)
def test_where_a_header_is_not_certain_it_is_asked_for(tmp_path, text):
    path = write(tmp_path / "t.csv", text)
    with pytest.raises(TableError, match="header=True if it does, header=False if it is data"):
        read_table(path)
    rows = len(text.splitlines())
    assert len(read_table(path, header=False)) == len(read_table(path, header=True)) + 1 == rows


def test_a_model_knows_what_the_header_is(tmp_path):
    path = write(tmp_path / "t.csv", "39,x\n40,y\n")
    assert len(read_table(path, known=("column_1",))) == 2
    assert read_table(path, known=("x", "z")).names == ("39", "x")


@pytest.mark.parametrize("first", ["0,1,2", "1,2,3"])
def test_columns_that_are_counted_have_names(tmp_path, first):
    table = read_table(write(tmp_path / "t.csv", f"{first}\n7,8,9\n"))
    assert table.names == tuple(first.split(","))
    assert not table.notes


def test_columns_without_a_name_are_called_by_their_place(tmp_path):
    table = read_table(write(tmp_path / "t.csv", ",b,\n1,2,3\n"))
    assert table.names == ("column_1", "b", "column_3")
    assert "'column_1', 'column_3'" in table.notes[0]


def test_a_name_that_comes_twice_is_numbered(tmp_path):
    table = read_table(write(tmp_path / "t.csv", "a,b, a,a_2,a\n1,2,3,4,5\n"))
    assert table.names == ("a", "b", "a_3", "a_2", "a_4")
    assert "More than one column is called 'a'" in table.notes[0]


def test_a_header_without_a_name_for_the_rows_names_or_the_last_delimiter(tmp_path):
    table = read_table(write(tmp_path / "r.csv", "a,b\nr1,2,x\nr2,4,y\n"))
    assert table.names == ("column_1", "a", "b")
    table = read_table(write(tmp_path / "e.csv", "a,b\n1,x,\n2,y,\n"))
    assert table.names == ("a", "b", "column_3")
    assert table["a"].tolist() == [1, 2]


def test_comment_lines_are_skipped(tmp_path):
    text = "# measured by hand\n# in 2020\n\na,b\n1,2\n# a break\n3,4\n"
    table = read_table(write(tmp_path / "t.csv", text))
    assert table["a"].tolist() == [1, 3]
    assert table.numbers is None
    assert table.notes == ("2 comment lines above the header skipped.", "1 comment line skipped.")
    table = read_table(write(tmp_path / "u.csv", "# one\n#a,b\n1,2\n3,4\n"))
    assert table.names == ("a", "b")


def test_fields_between_spaces(tmp_path):
    table = read_table(write(tmp_path / "t.txt", "  x   y name\n 1.5  2 'a\n -3 \t4 b\n"))
    assert table.names == ("x", "y", "name")
    assert table["x"].tolist() == [1.5, -3]
    quoted = write(tmp_path / "u.txt", 'x name\n1 "New York"\n2 Rome\n')
    assert read_table(quoted, delimiter="space")["name"].tolist() == ["New York", "Rome"]
    assert len(read_table(write(tmp_path / "v.csv", "city\nNew York\nRome\n")).names) == 1


def test_ids_that_no_float_holds_stay_as_they_are(tmp_path):
    ids = ["1234567890123456789", "1234567890123456788"]
    table = read_table(write(tmp_path / "t.csv", f"id,x\n{ids[0]},1\n{ids[1]},2\n"))
    assert table["id"].tolist() == ids
    assert read_table(write(tmp_path / "u.csv", "x\n10000000000000000\n1\n"))["x"][0] == 1e16


def test_a_header_may_be_long(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "_CHUNK", 1000)
    monkeypatch.setattr(delimited, "_HEAD", 100)
    names = [f"a_column_with_a_long_name_{j}" for j in range(200)]
    path = write(tmp_path / "t.csv", ",".join(names) + "\n" + ",".join(["1"] * 200) + "\n")
    assert read_table(path).names == tuple(names)


# ---------------------------------------------------------------- files that are no table
@pytest.mark.parametrize("data", ["", "\n \r\n", "\ufeff", "\ufeff\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_an_empty_file_is_refused(tmp_path, data, encoding):
    with pytest.raises(TableError, match="is empty"):
        read_table(write(tmp_path / "t.csv", data, encoding))


@pytest.mark.parametrize("data", ["a,b\n", "a,b", "a", "\na\n"])
def test_a_header_alone_is_refused(tmp_path, data):
    with pytest.raises(TableError, match="no rows below it"):
        read_table(write(tmp_path / "t.csv", data))


def test_ragged_rows_are_named(tmp_path):
    path = write(tmp_path / "t.csv", "a,b\n1,2\n3\n4,5,6\n")
    with pytest.raises(
        TableError, match="row 2 below the header has 1 field, and there are 2 columns: '3' .1 more"
    ):
        read_table(path, delimiter=",")
    with pytest.raises(
        TableError, match="row 2 below the header has 3 fields.*skip_bad_lines=True"
    ):
        read_table(write(tmp_path / "u.csv", "a,b\n1,2\n4,5,6\n"), delimiter=",")


def test_bad_lines_are_skipped_and_counted_and_the_rows_keep_their_numbers(tmp_path):
    text = "# top\na,b\nbad\n1,2\n# a comment\n3\n4,5,6\n7,8\n"
    table = read_table(write(tmp_path / "t.csv", text), skip_bad_lines=True)
    assert table["a"].tolist() == [1, 7]
    assert table.row_numbers.tolist() == [2, 5]
    assert table.rows(np.array([1])).row_numbers.tolist() == [5]
    assert "3 bad lines skipped, as skip_bad_lines=True says." in table.notes


def test_an_open_quote_is_told(tmp_path):
    with pytest.raises(TableError, match="never closed"):
        read_table(write(tmp_path / "t.csv", 'a,b\n1,"x\n2,y\n3,z\n'))
    with pytest.raises(TableError, match="never closed"):
        read_table(write(tmp_path / "u.csv", 'a,b,c\n1,"x,4\n2,y,5\n3,z,6\n'))
    with pytest.raises(TableError, match="never closed, in the first row"):
        read_table(write(tmp_path / "v.csv", '"a,b,c\n' + "2,y,5\n" * 999))


def test_a_line_without_an_end_is_refused_before_it_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "_LONGEST_LINE", 10_000)
    monkeypatch.setattr(delimited, "_CHUNK", 1000)
    with pytest.raises(TableError, match="a line of more than 10,000 bytes"):
        read_table(write(tmp_path / "t.csv", "a,b\n1," + "2" * 20_000))
    # A compressed one is unpacked no further than that.
    path = write(tmp_path / "t.csv.gz", gzip.compress(b"1" * 50_000_000))
    with pytest.raises(TableError, match="a line of more than"):
        read_table(path)


def test_a_row_longer_than_the_longest_line_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "_LONGEST_LINE", 1000)
    path = write(tmp_path / "t.csv", 'a,b\n1,"' + "line\n" * 2000 + '"\n2,3\n')
    with pytest.raises(TableError, match="cannot be taken apart into rows"):
        read_table(path)


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"a,b\n1,\x002\n", "NUL characters"),
        (bytes(range(256)) * 4, "NUL characters|is not text in utf-8 or cp1252"),
        (b"PK\x03\x04rest of a workbook", "workbook"),
        (b"PAR1 and so on", "let its name end in .parquet"),
        (b"\x89PNG\r\n\x1a\n", "an image"),
        (gzip.compress(b"a,b\n1,2\n", mtime=0), "let its name end in .gz"),
    ],
)
def test_a_binary_file_is_refused(tmp_path, data, complaint):
    with pytest.raises(TableError, match=complaint):
        read_table(write(tmp_path / "t.csv", data))


@pytest.mark.parametrize("delimiter", ["", "::", '"', "\n", "é"])
def test_a_delimiter_is_one_character(tmp_path, delimiter):
    with pytest.raises(InvalidParameterError, match="must be one character"):
        read_table(write(tmp_path / "t.csv", "a,b\n1,2\n"), delimiter=delimiter)


def test_a_tab_can_be_named(tmp_path):
    path = write(tmp_path / "t.csv", "a\tb\n1\t2\n")
    assert read_table(path, delimiter="tab").names == ("a", "b")


@settings(deadline=None, max_examples=100)
@given(st.binary(max_size=200) | st.text('ab01.,;|\t "\r\n?é-', max_size=60).map(str.encode))
def test_any_bytes_are_a_table_or_a_table_error(tmp_path_factory, data):
    path = write(tmp_path_factory.mktemp("bytes") / "t.csv", data)
    try:
        table = read_table(path)
    except TableError:
        return
    assert len(table) >= 1


def test_without_pyarrow_the_command_to_install_it_is_told(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'ulmus\[cli\]'"):
        read_table(write(tmp_path / "t.csv", "a,b\n1,2\n"))


ROWS_BELOW = "".join(f"{k}.5,{'red' if k % 3 else 'blue'},{-k}\n" for k in range(9))


@pytest.mark.parametrize(
    "title", ["Report of 2020\n", "Report of 2020\n\n", "sep=,\n", "One\nTwo\n"]
)
def test_titles_above_the_header_are_skipped_and_told(tmp_path, title):
    table = read_table(write(tmp_path / "a.csv", f"{title}a,b,c\n{ROWS_BELOW}"))
    assert table.names == ("a", "b", "c")
    assert len(table) == 9
    assert any("above the header skipped" in note for note in table.notes)


def test_a_title_among_empty_fields_is_skipped_where_a_name_below_is_known(tmp_path):
    path = write(tmp_path / "a.csv", f"Report,,\na,b,c\n{ROWS_BELOW}")
    assert read_table(path, known=["b"]).names == ("a", "b", "c")
    with pytest.raises(TableError, match="header=False"):
        read_table(path)


def test_a_short_first_row_of_data_is_no_title(tmp_path):
    path = write(tmp_path / "a.csv", f"7.5\n{ROWS_BELOW}")
    with pytest.raises(TableError, match="skip_bad_lines=True"):
        read_table(path)


def test_an_open_quote_costs_no_more_than_its_line(tmp_path):
    path = write(
        tmp_path / "a.csv", f'a,b,c\n{ROWS_BELOW}7.5,"red,1\n{ROWS_BELOW}7,"x,y,z\n2,b,3\n'
    )
    with pytest.raises(TableError, match="never closed"):
        read_table(path)
    table = read_table(path, skip_bad_lines=True)
    assert table["b"][9] == "red"
    assert table.row_numbers.tolist() == [*range(1, 20), 21]
    assert any("open quote" in note for note in table.notes)


def test_one_name_above_two_columns_is_no_title(tmp_path):
    below = "".join(f"row{k},{k}.5\n" for k in range(9))
    table = read_table(write(tmp_path / "a.csv", f"size\n{below}"))
    assert table.names == ("column_1", "size")
    assert len(table) == 9
