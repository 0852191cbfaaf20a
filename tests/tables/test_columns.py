"""What a column is taken for, and what becomes of its cells."""

import numpy as np
import pytest

from toy_tables import table_of
from ulmus.exceptions import TableError
from ulmus.tables import TableEncoder


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
        (["red", "blue", "red", None], "category"),
        (["007", "008", "007"], "category"),
        ([None, None, None], "is blank in every row"),
        ([7, 7, 7], "has the same value in every row"),
        (["x", "x", "x"], "has the same value in every row"),
        (list(range(20)), "is a number of the row, different in each"),
        (list(range(1, 21)), "is a number of the row, different in each"),
        (list(range(1970, 2000)), "number"),
        ([f"name {k}" for k in range(20)], "has different text in each row"),
        ([f"name {k // 2}" for k in range(200)], "has different text in nearly every row"),
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
    with pytest.raises(TableError, match="'d' holds dates, and row 2 below the header has 'soon'"):
        made.transform(table_of(d=["2/1/2020", "soon"]))


def test_a_few_words_among_numbers_count_as_blank():
    cells = [str(k * 1.5) for k in range(99)] + ["none"]
    made = TableEncoder().fit(table_of(c=cells))
    assert made.kinds == ("number",)
    assert "'none' among them count as blank" in made.notes[0]
    assert made.feature_names_out == ("c", "rank of c", "c is blank")
    assert made.transform(table_of(c=["1", "none"]))[:, 2].tolist() == [0, 1]


def test_frequent_categories_are_kept_and_the_others_lumped():
    cells = [f"rare {k}" for k in range(80)] + ["often", "also"] * 30
    made = TableEncoder().fit(table_of(c=cells))
    assert made.feature_names_out == ("c=also", "c=often", "c is other")
    assert "2 of 82 values are categories" in made.notes[0]
    X = made.transform(table_of(c=["often", "rare 3", "new", None]))
    assert X.tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 1], [0, 0, 0]]
    assert "2 rows are rare or new, taken as other: 'rare 3', 'new'" in " ".join(made.met)


# ---------------------------------------------------------------- numbers
def test_blanks_are_filled_by_the_median_and_indicated_where_they_are_not_few():
    few = [None, *range(1, 200)]
    made = TableEncoder().fit(table_of(c=[*few, 3], d=[None] * 10 + [1.0, 2.0, 5.0] * 63 + [1.0]))
    assert "d is blank" in made.feature_names_out
    assert "c is blank" not in made.feature_names_out
    assert "1 blank filled by the median, 99.5" in " ".join(made.notes)
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
    assert note.startswith("'x': 1 blank, 1 infinite value and 2 values beyond 1e+100 filled by")
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
