"""Tables into matrices and targets: the same for later tables, and what is changed is told."""

import dataclasses
import json

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from toy_tables import table_of
from ulmus import ELMClassifier
from ulmus.exceptions import InvalidInputError, InvalidParameterError, TableError
from ulmus.tables import Table, TableEncoder, encoder, read_table
from ulmus.tables.kinds import read_target

WORDS = st.sampled_from(["red", "green", "blue", "a very long word", "3x", "é"])
DATES = st.dates().map(lambda day: day.isoformat())


@st.composite
def tables(draw):
    n = draw(st.integers(2, 40))
    kinds = [WORDS, DATES, st.floats(), st.integers(-3, 3), st.sampled_from(["yes", "no"])]
    columns = draw(
        st.lists(
            st.sampled_from(kinds).flatmap(
                lambda kind: st.lists(st.none() | kind, min_size=n, max_size=n)
            ),
            min_size=1,
            max_size=6,
        )
    )
    return table_of(**{f"c{j}": cells for j, cells in enumerate(columns)})


def fitted(table):
    """An encoder, or None where no column is of use."""
    try:
        return TableEncoder().fit(table)
    except TableError:
        return None


@settings(deadline=None, max_examples=100)
@given(tables(), st.randoms())
def test_a_matrix_depends_on_neither_the_call_nor_the_order_of_columns(table, random):
    made = fitted(table)
    if made is None:
        return
    X = made.transform(table)
    assert X.dtype == np.float32
    assert np.isfinite(X).all()
    assert X.shape == (len(table), len(made.feature_names_out))
    np.testing.assert_array_equal(TableEncoder().fit_transform(table), X)
    order = random.sample(table.names, len(table.names))
    shuffled = Table(tuple(order), {name: table[name] for name in order})
    np.testing.assert_array_equal(made.transform(shuffled), X)
    assert not made.met
    # And row by row, as a file of one row is read.
    for row in range(min(len(table), 3)):
        np.testing.assert_array_equal(made.transform(table.rows([row])), X[[row]])


@settings(deadline=None, max_examples=60)
@given(st.lists(st.none() | WORDS, min_size=2, max_size=40), st.lists(WORDS, min_size=1))
def test_a_row_is_in_one_category_or_in_none(first, later):
    made = fitted(table_of(c=first, x=range(len(first))))
    if made is None or "c" not in made.columns:
        return
    columns = [j for j, name in enumerate(made.feature_names_out) if name.startswith("c")]
    seen = made.transform(table_of(c=first, x=range(len(first))))[:, columns]
    assert (seen.sum(axis=1) == 1).all()
    new = made.transform(table_of(c=later, x=range(len(later))))[:, columns]
    assert new.sum(axis=1).tolist() == [float(word in first) for word in later]


@settings(deadline=None, max_examples=30)
@given(tables())
def test_the_state_is_plain(table):
    made = fitted(table)
    if made is None:
        return
    arrays = {}

    def plain(value):
        if isinstance(value, np.ndarray):
            arrays[len(arrays)] = value
            return {"array": len(arrays) - 1}
        if isinstance(value, dict):
            return {key: plain(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [plain(item) for item in value]
        assert type(value) in (str, int, float, bool)
        return value

    def back(value):
        if isinstance(value, dict):
            if set(value) == {"array"}:
                return arrays[value["array"]]
            return {key: back(item) for key, item in value.items()}
        return value

    state = {f.name: plain(getattr(made, f.name)) for f in dataclasses.fields(made)}
    again = TableEncoder(**back(json.loads(json.dumps(state))))
    np.testing.assert_array_equal(again.transform(table), made.transform(table))


# ---------------------------------------------------------------- many columns
def test_columns_that_are_left_out_are_told_together():
    made = TableEncoder().fit(table_of(a=[1, 1], b=[None, None], c=["x", "x"], d=[1, 2]))
    assert made.notes == (
        "Left out, as each has the same value in every row: 'a', 'c'.",
        "Left out, as it is missing in every row: 'b'.",
    )


def test_many_columns_of_numbers_have_no_ranks():
    rng = np.random.default_rng(0)
    made = TableEncoder().fit(table_of(**{f"x{j}": rng.normal(size=30) for j in range(33)}))
    assert len(made.feature_names_out) == 33


def test_columns_of_few_values_do_not_keep_others_from_ranks():
    rng = np.random.default_rng(0)
    flags = {f"x{j}": rng.integers(0, 2, 30) for j in range(40)}
    made = TableEncoder().fit(table_of(**flags, amount=rng.normal(size=30)))
    assert made.feature_names_out[-2:] == ("amount", "rank of amount")
    assert len(made.feature_names_out) == 42


def test_more_columns_than_a_file_can_hold_are_refused_before_the_fit(monkeypatch):
    monkeypatch.setattr("ulmus.tables.encoder._MOST_NAMED", 2)
    with pytest.raises(TableError, match="has 3 columns, and a model's file has room for 2"):
        TableEncoder().fit(table_of(a=[1.0, 2.0], b=[1.0, 2.0], c=[1.0, 2.0]))


# ---------------------------------------------------------------- later tables
KNOWN = {"age": [31.0, 45.0, 62.0, 18.0], "city": ["Oslo", "Rome", "Oslo", "Bonn"]}


@pytest.fixture
def made():
    return TableEncoder().fit(table_of(**KNOWN))


def test_a_missing_column_is_named_with_the_nearest(made):
    later = table_of(Aeg=[1.0], city=["Oslo"])
    with pytest.raises(TableError, match="'age' is missing; did you mean 'Aeg'"):
        made.transform(later)


def test_extra_columns_are_ignored_and_told(made):
    made.transform(table_of(**KNOWN, extra=[1.0, 2, 3, 4]))
    assert made.met == ("Columns the model does not know were ignored: 'extra'.",)
    made.transform(table_of(**KNOWN))
    assert made.met == ()


def test_new_categories_and_new_blanks_count_as_none_and_are_told(made):
    X = made.transform(table_of(age=[1.0, 2, 3], city=["Paris", "Paris", None]))
    assert (X[:, 1:] == 0).all()
    assert "2 rows are new, taken as none: 'Paris'" in " ".join(made.met)
    assert "1 missing value" in made.met[0]


def test_text_among_numbers_is_named(made):
    later = table_of(age=["12", None, "old", "older"], city=["Oslo"] * 4)
    with pytest.raises(
        TableError, match=r"'age' holds numbers, and row 3 .* has 'old' \(1 more row"
    ):
        made.transform(later)


def test_a_word_among_many_numbers_is_missing_and_told(made):
    cells = [*map(str, range(20)), "old", None]
    found = made.transform(table_of(age=cells, city=["Oslo"] * 22))
    blank = made.transform(table_of(age=[*cells[:20], None, None], city=["Oslo"] * 22))
    np.testing.assert_array_equal(found, blank)
    made.transform(table_of(age=cells, city=["Oslo"] * 22))
    assert made.met[0] == (
        "'age': 1 cell cannot be read as numbers, taken as missing; "
        "the first is 'old' in row 21 below the header."
    )


def test_numbers_are_categories_where_the_model_has_them():
    made = TableEncoder().fit(table_of(c=["1", "2", "A", "A"]))
    assert made.kinds == ("category",)
    assert made.transform(table_of(c=[2.0, 1.0])).tolist() == [[0, 1, 0], [1, 0, 0]]


def test_a_table_without_a_useful_column_is_refused():
    with pytest.raises(
        TableError, match="No column is left to learn from. Left out, as it has the same value"
    ):
        TableEncoder().fit(table_of(a=[1.0, 1.0]))


def test_a_table_that_is_refused_leaves_the_encoder_as_it_was(made):
    before = made.transform(table_of(**KNOWN))
    with pytest.raises(TableError, match="No column is left"):
        made.fit(table_of(a=[1.0, 1.0]))
    np.testing.assert_array_equal(made.transform(table_of(**KNOWN)), before)
    assert made.dropped == {}


def test_an_encoder_is_fitted_first():
    with pytest.raises(TableError, match="fit it to a table first"):
        TableEncoder().transform(table_of(a=[1.0]))


def test_wide_categories_are_sparse(monkeypatch):
    monkeypatch.setattr(encoder, "_WIDE", 40)
    rng = np.random.default_rng(0)
    table = table_of(**{f"c{j}": [f"v{v}" for v in rng.integers(0, 40, 99)] for j in range(3)})
    made = TableEncoder().fit(table)
    X = made.transform(table)
    assert sp.issparse(X)
    assert X.format == "csr"
    made.sparse = False
    np.testing.assert_array_equal(X.toarray(), made.transform(table))


# ---------------------------------------------------------------- matrices
def test_a_matrix_goes_through_as_it_is():
    X = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)
    table = Table(("x0", "x1", "x2"), matrix=X)
    made = TableEncoder().fit(table)
    assert made.transform(table) is X
    with pytest.raises(TableError, match="has 2 columns and the model 3"):
        made.transform(table.without("x1"))
    with pytest.raises(TableError, match="fitted to a matrix"):
        made.transform(table_of(**KNOWN))


def test_a_table_is_no_matrix(made):
    with pytest.raises(TableError, match="knows columns by name"):
        made.transform(Table(("x0",), matrix=np.ones((2, 1))))


def test_blanks_of_a_matrix_are_filled_by_the_mean():
    X = np.array([[1.0, np.nan], [3.0, 4.0], [np.inf, 6.0], [1e200, 5.0]])
    made = TableEncoder().fit(Table(("a", "b"), matrix=X))
    words = (
        "1 missing value, 1 infinite value and 1 value beyond 1e+100 filled by the columns' means."
    )
    assert made.notes == (words,)
    assert made.transform(Table(("a", "b"), matrix=X)).tolist() == [[1, 5], [3, 4], [2, 6], [2, 5]]
    assert made.met == (words,)


def test_sparse_files_may_end_early_or_late():
    X = sp.csr_array(np.array([[1.0, 0, 2, 0], [0, 3, 0, 4]]))
    made = TableEncoder().fit(Table(tuple("abcd"), matrix=X))
    np.testing.assert_array_equal(
        made.transform(Table(tuple("abcd"), matrix=X)).toarray(), X.toarray()
    )
    narrow = made.transform(Table(tuple("ab"), matrix=X[:, :2]))
    assert narrow.shape == (2, 4)
    wide = Table(tuple("abcde"), matrix=sp.csr_array(np.arange(10.0).reshape(2, 5)))
    assert made.transform(wide).shape == (2, 4)
    assert "1 column" in made.met[0]


# ---------------------------------------------------------------- from a file to a score
def test_people_are_learnt_from_raw_columns(tmp_path):
    rng = np.random.default_rng(0)
    age, hours = rng.integers(17, 90, 3000), rng.integers(1, 99, 3000)
    school, job = rng.integers(0, 6, 3000), rng.integers(0, 5, 3000)
    log_odds = 0.1 * (age - 45) + 0.05 * (hours - 40) + 1.5 * (school - 2.5) + np.sin(3 * job)
    rich = rng.random(3000) < 1 / (1 + np.exp(-log_odds))
    best = np.mean((log_odds > 0) == rich)
    jobs = np.array(["clerk", "cook", "nurse", "smith", ""])  # of some it is not known
    lines = ["age,hours,school,job,income"]
    cells = zip(age, hours, school, jobs[job], rich, strict=True)
    lines += [f"{a},{h},grade {s},{j},{'>50K' if r else '<=50K'}" for a, h, s, j, r in cells]
    (tmp_path / "people.csv").write_text("\n".join(lines))
    table = read_table(tmp_path / "people.csv")
    train, test = table.rows(slice(0, 2000)), table.rows(slice(2000, None))
    made = TableEncoder()
    Z = made.fit_transform(train.without("income"))
    model = ELMClassifier(n_hidden=300, random_state=0).fit(Z, train["income"].astype(str))
    score = model.score(made.transform(test.without("income")), test["income"].astype(str))
    assert score > best - 0.02


def test_rows_that_are_no_table_are_refused_by_name():
    encoder = TableEncoder().fit(Table(("a",), {"a": np.array([1.0, 2.0])}))
    with pytest.raises(TableError, match="A ndarray is not a table; give a Table"):
        encoder.transform(np.ones((2, 1)))


@pytest.mark.parametrize(
    ("cells", "task"),
    [
        (np.array(["a", "b"] * 10, dtype=object), "classification"),
        (np.array(["yes", "no"] * 10, dtype=object), "classification"),
        (np.arange(60.0) % 3, "classification"),
        (np.arange(60.0) % 3 + 0.5, "regression"),
        (np.arange(60.0), "regression"),
        (np.arange(60.0) % 20, "regression"),
        (np.array([0.0, 1.0, 1.0, 0.0]), "classification"),
    ],
)
def test_the_task_follows_from_the_cells(cells, task):
    assert read_target(cells, "y").task == task


def test_another_task_is_offered_where_the_numbers_could_be_of_it():
    assert "task='regression'" in read_target(np.arange(60.0) % 9, "y").notes[0]
    assert "task='classification'" in read_target(np.arange(99.0) % 30, "y").notes[0]
    # Two values are classes, and a class has two rows or more on average.
    assert read_target(np.arange(60.0) % 2, "y").notes == ()
    assert read_target(np.arange(60.0) % 31, "y").notes == ()


def test_labels_are_words_or_whole_numbers():
    assert read_target(np.array([1.0, 2.0, np.nan] * 5), "y").values.dtype == np.int64
    half = read_target(np.array([0.5, 1.5] * 5), "y", "classification")
    assert half.values.tolist() == ["0.5", "1.5"] * 5


def test_amounts_with_a_unit_and_words_for_none_are_numbers():
    cells = [f"{k * 1.5} kg" for k in range(40)]
    goal = read_target(np.array([*cells, "-"], dtype=object), "y")
    assert goal.task == "regression"
    assert goal.known.sum() == 40
    assert goal.values[2] == 3.0
    assert goal.notes == (
        "'y': '-' counted as missing.",
        "'y' holds numbers in text: '0.0 kg' is 0.",
    )
    few = read_target(np.array(["1", "2", "none"] * 5, dtype=object), "y")
    assert few.task == "classification"
    assert few.known.all()


def test_a_word_among_numbers_of_a_target_is_named():
    cells = np.array([*(f"{k * 1.5}" for k in range(40)), "soon"], dtype=object)
    with pytest.raises(InvalidInputError, match="Most are numbers, but 'soon' is not"):
        read_target(cells, "y")


def test_text_where_numbers_are_learnt_has_advice_that_can_be_taken():
    cells = np.array(["1.5", "soon"], dtype=object)
    with pytest.raises(InvalidInputError, match="leave task='regression' out"):
        read_target(cells, "y", "regression")
    with pytest.raises(InvalidInputError, match="'soon' for instance.*; correct it"):
        read_target(cells, "y", "regression", varied=False)


def test_an_unknown_task():
    with pytest.raises(InvalidParameterError, match="task='guess' is unknown"):
        read_target(np.arange(9.0), "y", "guess")


def test_all_missing_columns_are_named():
    columns = {name: np.arange(30.0) % 7 for name in ("a", "b", "c")}
    encoder = TableEncoder().fit(Table(("a", "b", "c"), columns))
    with pytest.raises(TableError, match="2 columns are missing, 'a', 'b'; "):
        encoder.transform(Table(("c",), {"c": np.arange(3.0)}))
    with pytest.raises(TableError, match="no row of names"):
        encoder.transform(Table(("column_1",), {"column_1": np.arange(3.0)}))
