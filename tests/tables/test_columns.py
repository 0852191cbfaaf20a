"""What a column is taken for, and what becomes of its cells."""

import numpy as np
import pytest

from toy_tables import table_of
from ulmus.exceptions import TableError
from ulmus.tables import Table, TableEncoder, read_table
from ulmus.tables.cells import DATE_LAYOUTS, has_comma, reader, unit_of
from ulmus.tables.columns import Category
from ulmus.tables.header import NUMBER
from ulmus.tables.kinds import column_of


def kind_of(cells, name="c"):
    other = [0.5 * (k % 2) for k in range(len(cells))]
    made = TableEncoder().fit(table_of(**{name: cells, "other": other}))
    return made.columns[name]["kind"] if name in made.columns else made.dropped[name]


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        ([1, 2, 1, 2], "number"),
        ([1.5, None, 3, 4], "number"),
        (["yes", "No", None, "YES"], "boolean"),
        (["True", "False", "True", "True"], "boolean"),
        (["2020-01-31", "2021-02-28 10:30", None, "2019-12-01T00:00:00Z"], "date"),
        (["2020/01/31", "2021/02/28", "2021/02/27", None], "date"),
        (["31.1.2020", "28.02.2021", "1.3.2021", None], "date"),
        (["12/31/2020", "1/2/2021"], "date"),
        (["31/12/2020", "1/2/2021"], "date"),
        (["31/12/2020", "12/31/2020"], "category"),
        (["12 cm", "7.5 cm", None, "1,200 cm"], "number"),
        (["1 year", "2 years", "30 years"], "number"),
        (["1,5 kg", "2,25 kg", "-", "3,0 kg"], "number"),
        (["20 °C", "21°C"], "number"),
        (["12 cm", "7 mm", "12 cm"], "category"),
        (["12 cm", "7", "12 cm"], "category"),
        (["12A", "7A", "12A"], "category"),
        (["10:30 am", "11:30 am", "10:30 am"], "category"),
        (["1 Jan 2020", "2 Jan 2020", "unknown"], "date"),
        (["1.5", "none", "2", "none"], "number"),
        (["1.5", "none", "none"], "category"),
        (["red", "blue", "red", None], "category"),
        (["007", "008", "007"], "category"),
        ([None, None, None], "is missing in every row"),
        ([7, 7, 7], "has the same value in every row"),
        (["x", "x", "x"], "has the same value in every row"),
        (list(range(20)), "is a number of the row, different in each"),
        (list(range(1, 21)), "is a number of the row, different in each"),
        (list(range(1970, 2000)), "number"),
        ([f"name {k}" for k in range(20)], "has different text in each row"),
        ([f"7{k // 2}" + "-A/5" for k in range(200)], "has different text in nearly every row"),
        ([f"Mr. {k:b} Smith" for k in range(60)], "text"),
        ([f"rare{chr(97 + k % 26) * (1 + k // 26)}" for k in range(60)] * 3, "text"),
        ([f"{'abc'[k % 3] * 9}{k}" for k in range(60)], "has different text in each row"),
        (["$1,234.50", "$ 5", "-$7", None], "number"),
        (["12 %", "7%", "0.5 %"], "number"),
        (["1.234,5", "7", "12,25"], "number"),
        (["1 234", "EUR 5", "7 €", "(3.5)", "1'000.5"], "number"),
        (["2020-01-31", "31.12.2019", "Jan 5, 2021", "13/2/2020", "1/3/2020 14:30"], "date"),
        (["5 apples", "6"], "category"),
        (["1-2", "3-4"], "category"),
    ],
)
def test_a_column_is_what_its_cells_are(cells, kind):
    assert kind_of(cells) == kind


@pytest.mark.parametrize("name", ["id", "ID", "customer_id", "PassengerId", "user uuid"])
def test_a_whole_number_by_the_name_of_id_is_left_out(name):
    different = [k * k + 7 for k in range(30)]
    assert "number of the row" in kind_of(different, name)
    assert kind_of(different, "paid") == "number"


def test_days_are_counted_in_the_first_layout_that_fits():
    dates = ["2/1/2020", "3/1/2020", "4/1/2020"]
    made = TableEncoder().fit(table_of(d=dates))
    assert made.columns["d"]["layout"] == "%m/%d/%Y"
    assert "month/day/year" in made.notes[0]
    made = TableEncoder().fit(table_of(d=[*dates, "13/1/2020"]))
    x = made.transform(table_of(d=dates))[:, 0]
    assert x[1] - x[0] == pytest.approx(x[2] - x[1])
    assert "'d'" not in " ".join(made.met)
    with pytest.raises(TableError, match="'d' holds dates, and row 2 below the header has 'soon'"):
        made.transform(table_of(d=["2/1/2020", "soon"]))


def test_a_few_words_among_numbers_count_as_blank():
    cells = [str(k * 1.5) for k in range(99)] + ["none"]
    made = TableEncoder().fit(table_of(c=cells))
    assert made.kinds == ("number",)
    assert "'none' among them counts as missing" in made.notes[0]
    assert made.feature_names_out == ("c", "rank of c", "c is missing")
    assert made.transform(table_of(c=["1", "none"]))[:, 2].tolist() == [0, 1]


def test_words_for_what_is_not_known_may_be_many_and_other_words_are_told():
    numbers = [str(k * 1.5) for k in range(90)]
    made = TableEncoder().fit(table_of(c=[*numbers, *["-"] * 30, None]))
    assert made.kinds == ("number",)
    assert made.notes[:2] == (
        "'c' holds numbers, and '-' among them counts as missing.",
        "'c': 31 missing values filled by the median, 66.75; a column of its own says where.",
    )
    # One of another spelling is known too.
    assert made.transform(table_of(c=["N.A."]))[0, -1] == 1
    made = TableEncoder().fit(table_of(c=[*numbers, *["soon"] * 10], d=numbers + numbers[:10]))
    assert made.kinds == ("category", "number")
    assert "holds numbers and words ('soon', in 10 rows), so it is not read" in made.notes[0]


def test_a_unit_is_kept_and_another_is_an_error():
    table = table_of(c=["150 cm", "162,5 cm", "1.710 cm"], d=[1.0, 2.0, 3.0])
    made = TableEncoder().fit(table)
    assert made.notes[0] == "'c' holds numbers in text: '1.710 cm' is 1710."
    X = made.transform(table_of(c=["150 cm", "150"], d=[1, 1]))
    assert (X[0] == X[1]).all()
    with pytest.raises(TableError, match="'c' holds numbers in cm, and row 2 .* has '5 in'"):
        made.transform(table_of(c=["150 cm", "5 in"], d=[1, 1]))


def test_what_many_columns_met_is_one_sentence():
    names = [f"c{j}" for j in range(5)]
    made = TableEncoder().fit(table_of(**{name: ["a", "b"] for name in names}))
    made.transform(table_of(**{name: ["a", "z"] for name in names}))
    assert made.met == (
        "5 columns have categories that are new, taken as none: 'c0', 'c1', 'c2', 'c3', 'c4'.",
    )


@pytest.mark.parametrize(
    "cell",
    [
        *("9" * 10**5 + "_", "-" + " " * 10**5 + "x", "12" + " " * 10**5 + "pm"),
        *(part * 10**5 for part in ("1 ", "1.", "$ ", "- $ - ", "1,234")),
    ],
    ids=lambda cell: cell[:6],
)
def test_a_long_cell_takes_no_time_in_the_square_of_its_length(cell):
    # It would not end.
    every = "|".join(DATE_LAYOUTS)
    readers = [reader(True), reader(False, unit="cm"), reader(False, "date", every)]
    assert [read(cell) for read in readers] == [None, None, None]
    assert unit_of([cell]) == ""
    assert not has_comma([cell], False)
    assert NUMBER.fullmatch(cell) is None


def test_dates_that_fit_both_ways_are_told():
    made = TableEncoder().fit(table_of(d=["2/1/2020", "3/1/2020", "4/12/2020"]))
    assert made.notes[0] == (
        "'d': all dates fit month/day/year, which was taken, and day/month/year; if that is right, "
        "write them as year-month-day."
    )
    made = TableEncoder().fit(table_of(d=["2/1/2020", "3/1/2020", "4/13/2020"]))
    assert "which was taken" not in " ".join(made.notes)


def test_a_blank_date_is_filled_by_a_date():
    made = TableEncoder().fit(table_of(d=["2020-01-01", "2020-01-03", "2020-01-05"]))
    made.transform(table_of(d=["2020-01-01", None]))
    assert made.met == ("'d': 1 missing value filled by 2020-01-03.",)


def test_frequent_categories_are_kept_and_the_others_lumped():
    cells = [f"no. {k:03}" for k in range(80)] + ["often", "also"] * 30
    made = TableEncoder().fit(table_of(c=cells))
    assert made.feature_names_out == ("c=also", "c=often", "c is other")
    assert "2 of 82 values are categories" in made.notes[0]
    X = made.transform(table_of(c=["often", "no. 003", "new", None]))
    assert X.tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 1], [0, 0, 0]]
    assert "2 rows are rare or new, taken as other: 'no. 003', 'new'" in " ".join(made.met)


# ---------------------------------------------------------------- numbers
def test_blanks_are_filled_by_the_median_and_indicated_where_they_are_not_few():
    few = [None, *range(1, 200)]
    made = TableEncoder().fit(table_of(c=[*few, 3], d=[None] * 10 + [1.0, 2.0, 5.0] * 63 + [1.0]))
    assert "d is missing" in made.feature_names_out
    assert "c is missing" not in made.feature_names_out
    assert "1 missing value filled by the median, 99.5" in " ".join(made.notes)
    X = made.transform(table_of(c=[None, 99.5], d=[None, 2.0]))
    assert (X[0, :2] == X[1, :2]).all()


def test_far_values_are_bent_and_others_are_not():
    rng = np.random.default_rng(0)
    incomes = np.concatenate([np.zeros(900), rng.lognormal(8, 1, 99), [1e7]])
    plain = rng.uniform(size=1000)
    X = TableEncoder().fit_transform(table_of(income=incomes, plain=plain))
    assert np.abs(X[:, 0]).max() < 3
    assert np.std(X[900:, 0]) > 0.3
    assert np.corrcoef(X[:, 2], plain)[0, 1] == pytest.approx(1)


def test_ranks_follow_the_data_and_end_where_they_do():
    x = np.random.default_rng(0).lognormal(size=1000)
    made = TableEncoder().fit(table_of(x=x))
    ranks = made.transform(table_of(x=[x.min(), np.median(x), x.max(), 1e9]))[:, 1]
    np.testing.assert_allclose(ranks, [-1, 0, 1, 1], atol=1e-6)


def test_numbers_beyond_all_measure_are_blank():
    x = [1.0, 2.0, 1e308, -1e308, np.inf, 3.0, 1e-308]
    made = TableEncoder().fit(table_of(x=x))
    assert made.transform(table_of(x=x))[:, -1].tolist() == [0, 0, 1, 1, 1, 0, 0]
    assert np.isfinite(made.transform(table_of(x=[1e99, -1e99]))).all()


def test_what_is_no_blank_is_not_called_one():
    x = [1.0, 2.0, 1e120, -1e308, np.inf, 3.0, None]
    made = TableEncoder().fit(table_of(x=x))
    (note,) = made.notes
    assert note.startswith(
        "'x': 1 missing value, 1 infinite value and 2 values beyond 1e+100 filled by"
    )
    few = TableEncoder().fit(table_of(x=[1.0, 2.0, 3.0]))
    few.transform(table_of(x=[1.0, np.inf, -np.inf]))
    assert few.met == ("'x': 2 infinite values filled by 2.",)


def test_a_column_without_a_finite_number_is_left_out_for_what_it_is():
    made = TableEncoder().fit(table_of(x=[np.inf, -np.inf, 1e200], y=[1.0, 2.0, 3.0]))
    assert made.dropped == {"x": "has no number below 1e+100 in any row"}


def test_large_numbers_keep_their_differences():
    x = 1.6e9 + np.arange(50.0) ** 2
    X = TableEncoder().fit_transform(table_of(x=x, y=np.arange(50) % 2))
    assert len(np.unique(X[:, 0])) == 50


# ---------------------------------------------------------------- numbers in text
@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["$1,234.50", "($3)", "-$0.5"], [1234.5, -3, -0.5]),
        (["12 %", "-7%"], [12, -7]),
        (["1.234,5", "1.000", "0,25"], [1234.5, 1000, 0.25]),
        (["1,234", "5,678", "9"], [1234, 5678, 9]),
        (["1,5", "2,25"], [1.5, 2.25]),
        (["1,234", "5,5"], [1.234, 5.5]),
        (["1,234.5", "2,500"], [1234.5, 2500]),
        (["1\u00a0234,5 €", "7,1 €"], [1234.5, 7.1]),
        (["CHF 1'234.5", "CHF 2"], [1234.5, 2]),
    ],
)
def test_amounts_are_read_as_numbers(cells, expected):
    column = column_of("c", np.array(cells, dtype=object), False, False, [])
    assert column.numbers("c", np.array(cells, dtype=object), False).tolist() == expected


def test_a_later_file_is_read_with_the_comma_of_the_first():
    made = TableEncoder().fit(table_of(c=["1.234,5", "0,25", "3,5"]))
    assert "'0,25' is 0.25" in " ".join(made.notes)
    x = made.column("c").numbers("c", np.array(["1,234"], dtype=object), False)
    assert x.tolist() == [1.234]


def test_amounts_are_told_with_an_example():
    made = TableEncoder().fit(table_of(price=["$1,234.50", "$5", "$7"]))
    assert made.notes[0] == "'price' holds numbers in text: '$1,234.50' is 1234.5."


# ---------------------------------------------------------------- dates
def test_mixed_layouts_are_the_same_days():
    mixed = ["2020-02-13", "13.02.2020", "Feb 13, 2020", "13/2/2020", "13 February 2020"]
    mixed.append("2020-02-14")
    column = column_of("d", np.array(mixed, dtype=object), False, False, [])
    assert set(column.numbers("d", np.array(mixed, dtype=object), False)) == {18305.0, 18306.0}
    timed = ["2020-02-13T18:00:00", "2/13/2020 6:00 PM", "13.02.2020 18:00"]
    timed = np.array([*timed, "2020-02-14"], dtype=object)
    column = column_of("d", timed, False, False, [])
    assert set(column.numbers("d", timed, False)) == {18305.75, 18306.0}


def test_the_calendar_of_dates_is_numbers_too():
    days = np.datetime64("2020-01-01") + np.arange(0, 800, 3)
    made = TableEncoder().fit(table_of(d=[str(day) for day in days]))
    assert made.columns["d"]["parts"] == ("week", "year")
    X = made.transform(table_of(d=["2021-03-01", "2021-03-07", "2021-12-31"]))
    names = list(made.feature_names_out)
    monday, sunday = names.index("d: Monday"), names.index("d: Sunday")
    assert X[:, [monday, sunday]].tolist() == [[1, 0], [0, 1], [0, 0]]
    assert X[:, monday : sunday + 1].sum(axis=1).tolist() == [1, 1, 1]
    wave = X[:, names.index("d: cosine of the year")]
    assert wave[2] == pytest.approx(1, abs=0.01)
    week = TableEncoder().fit(table_of(d=["2020-01-01", "2020-01-02", "2020-01-05"]))
    assert week.feature_names_out == ("d",)


# ---------------------------------------------------------------- what a user says
def test_a_kind_that_is_given_is_taken():
    codes = table_of(zip=[str(k % 7) for k in range(60)], x=list(range(60, 0, -1)))
    assert TableEncoder().fit(codes).kinds[0] == "number"
    made = TableEncoder(given={"zip": "category"}).fit(codes)
    assert made.kinds[0] == "category"
    assert made.transform(codes).shape[1] == len(made.feature_names_out)
    assert TableEncoder(given={"zip": "text"}).fit(codes).kinds[0] == "text"
    with pytest.raises(
        TableError,
        match="kinds={'zip': 'date'}: not all cells of the column are dates, for instance '0'",
    ):
        TableEncoder(given={"zip": "date"}).fit(codes)
    with pytest.raises(TableError, match="no column 'zap'"):
        TableEncoder(given={"zap": "text"}).fit(codes)


def test_decisions_name_every_column():
    made = TableEncoder().fit(table_of(a=[1.5, 2, 3], b=["x", "x", "x"]))
    assert made.decisions == [
        ("a", "number, 1 feature"),
        ("b", "left out: has the same value in every row"),
    ]


def test_a_category_a_rare_one_and_a_blank_have_a_column_each():
    column = Category(("a", "b"), blank=True, other=True)
    found = column.encoded("c", np.array(["b", None, "new", "a"], dtype=object), False, [])
    assert found.tolist() == [[0, 1, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0], [1, 0, 0, 0]]


def test_a_zero_before_the_comma_makes_it_a_decimal_comma():
    cells = ["-0,123", "1,234", "0,5", "12,250"]
    assert kind_of(cells * 6) == "number"
    made = TableEncoder().fit(table_of(c=cells * 6, other=[0.0, 1.0] * 12))
    assert made.columns["c"]["comma"]
    assert kind_of(["1,234", "12,250"] * 12) == "number", "which has thousands"
    assert not TableEncoder().fit(table_of(c=["1,234", "2,250"] * 12)).columns["c"]["comma"]


def test_numbers_with_a_decimal_comma_in_text_are_told(tmp_path):
    (tmp_path / "t.dat").write_text('a,b\n"1.530,5",1\n"27,25",2\n')
    encoder = TableEncoder().fit(read_table(tmp_path / "t.dat"))
    assert "'a' holds numbers in text: '1.530,5' is 1530.5." in encoder.notes


def test_a_typeset_minus_is_a_minus():
    values = np.array([f"\u2212{k}.5" for k in range(30)] + ["4"], dtype=object)
    table = Table(("a",), {"a": values})
    encoder = TableEncoder().fit(table)
    assert encoder.kinds == ("number",)
    assert encoder.column("a").numbers("a", values, False)[:2].tolist() == [-0.5, -1.5]


def test_numbers_too_long_for_a_float_are_no_numbers():
    ids = np.array([str(10**18 + 7 * k) for k in range(30)], dtype=object)
    x = np.arange(30.0) % 7
    encoder = TableEncoder().fit(Table(("key", "x"), {"key": ids, "x": x}))
    assert encoder.names == ("x",)
    few = np.array([*map(str, range(29)), str(10**18 + 7)], dtype=object)
    assert TableEncoder().fit(Table(("key",), {"key": few})).kinds == ("number",)


def test_numbers_can_be_read_as_text():
    table = Table(("a",), {"a": np.arange(40.0) * 1.5})
    X = TableEncoder(given={"a": "text"}).fit_transform(table)
    assert np.isfinite(X).all()
    assert len(np.unique(X, axis=0)) == 40


def test_years_may_have_two_digits():
    days = [f"2020-01-{k:02}" for k in range(1, 29)]
    known = table_of(d=days, x=range(28))
    for layout in ("{m}/{d}/20", "{d}/{m}/20", "{d}.{m}.20", "{d}-Jan-20", "{m}/{d}/20 10:30"):
        cells = [layout.format(m="01", d=f"{k:02}") for k in range(1, 29)]
        found = TableEncoder().fit(table_of(d=cells, x=range(28))).column("d")
        x = found.numbers("d", np.array(cells, dtype=object), False)
        want = TableEncoder().fit(known).column("d").numbers("d", known["d"], False)
        np.testing.assert_array_equal(np.floor(x), want)
    mixed = [f"01/{k:02}/20" if k % 2 else f"01/{k:02}/2020" for k in range(1, 29)]
    assert TableEncoder().fit(table_of(d=mixed)).column("d").layout == "%m/%d/%Y|%m/%d/%y"
