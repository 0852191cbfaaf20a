"""Suspicions: leaks, copies, ids and odd classes are told; honest columns are not."""

import numpy as np
import pytest

from ulmus.commanded import commanded
from ulmus.tables import Table, fit_table
from ulmus.tables.kinds import read_target
from ulmus.tables.suspicions import error_alone, suspicions

RNG = np.random.default_rng(0)
FIRST = RNG.bit_generator.state
N = 200


@pytest.fixture(autouse=True)
def _same_draws():
    """Every test draws the same numbers, whichever tests have run before it."""
    RNG.bit_generator.state = FIRST


def told(columns, y):
    y = np.asarray(y)
    cells = y.astype(object) if y.dtype.kind in "OU" else y.astype(float)
    table = Table(tuple(columns), {k: np.asarray(v) for k, v in columns.items()})
    X, widths = blocks(table)
    return suspicions(table, read_target(cells, "y"), X, widths)


def blocks(table):
    """The matrix of a table, and how many columns of it each of the table's becomes."""
    X = [np.unique(table[name].astype(str), return_inverse=True)[1] for name in table.names]
    return np.column_stack(X).astype(np.float32), dict.fromkeys(table.names, 1)


def words(values):
    return np.array(list(map(str, values)), dtype=object)


def test_an_honest_table_is_not_suspected():
    x = RNG.normal(size=N)
    assert told({"x": x, "z": RNG.normal(size=N)}, words(np.where(x > 0, "a", "b"))[::-1]) == []
    noisy = x + RNG.normal(size=N) / 5
    assert told({"x": noisy, "z": RNG.normal(size=N)}, x) == []


@pytest.mark.parametrize("kind", ["equal", "renamed", "number", "scaled"])
def test_a_column_that_gives_the_target_away_is_named(kind):
    y = words(RNG.choice(["a", "b", "c"], N))
    columns = {
        "equal": y,
        "renamed": words([{"a": "x", "b": "q", "c": "z"}[v] for v in y]),
        "number": np.array([ord(v) for v in y], dtype=float) + RNG.normal(size=N) / 50,
        "scaled": None,
    }
    leak = columns[kind]
    if kind == "scaled":
        y = RNG.normal(size=N)
        leak = 1.25 * y + 3
    (found,) = told({"z": RNG.normal(size=N), "leak": leak}, y)
    assert found.startswith("'leak' alone nearly determines 'y'")
    assert found.endswith("leave it out.")
    with commanded():
        (found,) = told({"z": RNG.normal(size=N), "leak": leak}, y)
    assert found.endswith("leave it out, with --without leak.")


def test_the_error_alone_is_that_of_leaving_each_row_out():
    places, T = np.array([0, 0, 0, 1, 1, 1, 1, 2, 2]), RNG.normal(size=(9, 1))
    T -= T.mean()
    naive = np.array([
        T[[j for j in range(9) if j != i and places[j] == places[i]]].mean() for i in range(9)
    ])  # fmt: skip
    expected = ((T[:, 0] - naive) ** 2).mean() / (T**2).mean()
    assert error_alone(places, T) == pytest.approx(expected)


def test_a_column_of_text_that_never_repeats_gives_nothing_away():
    y = words(RNG.choice(["a", "b"], N))
    assert told({"z": RNG.normal(size=N), "name": words(RNG.permutation(N))}, y) == []


def test_classes_of_one_row_and_of_two_spellings_are_told():
    y = words(["yes"] * 10 + ["Yes"] * 10 + ["n o"] * 9 + ["no"] * 9 + ["odd"])
    found = told({"x": RNG.normal(size=len(y))}, y)
    assert "1 class has one row only ('odd')" in found[0]
    assert "'yes', 'Yes' differ in case or spaces only" in found[1]
    assert "'n o', 'no' differ" in found[2]


def test_serial_numbers_and_copies_are_told():
    x, y = RNG.normal(size=(2, N))
    (found,) = told({"x": x, "no": np.arange(N) + 5000.0}, y)
    assert found == "'no' counts the rows from 5000 on; if it is an id, leave it out."
    x[:20], y[:20] = x[20:40], y[20:40]
    (found,) = told({"x": x, "z": x**2}, y)
    assert "40 of 200 rows are equal to another row, the target too" in found


def test_ids_that_come_twice_are_told():
    x, y = RNG.normal(size=(2, N))
    (found,) = told({"x": x, "customer_id": np.arange(N) % 90 * 7.0}, y)
    begin, _, rest = found.partition(", and the model learns from it; ")
    assert begin == "'customer_id' has the name of an id"
    assert rest.startswith("if its values say nothing about new rows, leave it out")


def test_rows_that_differ_in_the_target_are_no_copies():
    years, rank = RNG.integers(0, 9, N).astype(float), words(RNG.choice(["a", "b"], N))
    assert told({"years": years, "rank": rank}, years + RNG.normal(size=N)) == []


def likely_votes(rows):
    """Answers of yes or no that mostly follow one party, and so are often all the same."""
    party = RNG.integers(0, 2, rows)
    return np.where(RNG.random((rows, 8)) < 0.9, party[:, None], 1 - party[:, None]), party


def test_coarse_rows_that_depend_on_each_other_are_no_copies_unless_taken_twice():
    votes, party = likely_votes(N)
    columns = {f"v{j}": votes[:, j].astype(float) for j in range(8)}
    assert told(columns, words(party)) == []
    grade = np.round(2 * RNG.normal(size=(N, 8)) + 9 * RNG.normal(size=(N, 1)))
    columns = {f"g{j}": grade[:, j] for j in range(8)}
    kind = words(grade[:, 0] > 0)
    assert told(columns, kind) == []
    (found,) = told({name: x.repeat(2) for name, x in columns.items()}, kind.repeat(2))
    assert "400 of 400 rows are equal to another row" in found


def test_a_fit_tells_them():
    x = RNG.normal(size=60)
    table = Table(("x", "twice", "y"), {"x": RNG.normal(size=60), "twice": 2 * x, "y": x})
    notes = " ".join(fit_table(table, "y").summary["notes"])
    assert "'twice' alone nearly determines 'y'" in notes


def test_a_column_that_is_not_used_is_not_told():
    x = RNG.normal(size=60)
    serial = np.arange(60) + 900.0
    table = Table(("x", "account_id", "y"), {"x": x, "account_id": serial, "y": x**2})
    notes = " ".join(fit_table(table, "y").summary["notes"])
    assert "Left out, as it is a number of the row" in notes
    assert "counts the rows" not in notes


def test_rows_of_small_categories_are_equal_by_chance():
    columns = {name: RNG.choice(np.array(["u", "v"], object), 60) for name in ("p", "q")}
    y = RNG.choice(np.array(["a", "b"], object), 60)
    notes = " ".join(fit_table(Table(("p", "q", "y"), {**columns, "y": y}), "y").summary["notes"])
    assert "equal to another row" not in notes
    noise = RNG.normal(size=20).repeat(3)
    columns = {name: cells[:20].repeat(3) for name, cells in columns.items()}
    (found,) = told({**columns, "x": noise}, y[:20].repeat(3))
    assert "60 of 60 rows are equal to another row" in found


def test_dates_of_several_layouts_are_equal_by_chance_as_well():
    n = 300
    day, kind = RNG.integers(1, 28, n), RNG.integers(0, 3, n)
    layouts = np.array(["2020-01-{:02}", "{:02}.01.2020", "Jan {:02}, 2020"])[kind]
    dates = words([layout.format(k) for layout, k in zip(layouts, day, strict=True)])
    shop = RNG.choice(np.array(["u", "v"], object), n)
    columns = {"day": dates, "shop": shop, "y": day + RNG.normal(size=n)}
    notes = " ".join(fit_table(Table(("day", "shop", "y"), columns), "y").summary["notes"])
    assert "equal to another row" not in notes


@pytest.mark.parametrize("numbers", [False, True])
def test_copies_make_no_column_a_leak_and_a_leak_stays_one(numbers):
    n = 200
    y = RNG.normal(size=n) if numbers else RNG.choice(["a", "b"], n).astype(object)
    columns = {"noise": RNG.normal(size=n), "other": RNG.normal(size=n)}
    columns["leak"] = 3 * y if numbers else np.where(y == "a", 1.0, 2.0) + RNG.normal(size=n) / 99
    found = told({name: x.repeat(3) for name, x in columns.items()}, y.repeat(3))
    assert "600 of 600 rows are equal to another row" in found[0]
    assert [sentence.split()[0] for sentence in found[1:]] == ["'leak'"]


@pytest.mark.parametrize("rare", [1, 2, 5])
def test_a_few_rows_of_a_rare_class_prove_no_leak(rare):
    y = words(["odd"] * rare + ["no"] * (N - rare))
    columns = {"x": RNG.normal(size=N), "z": RNG.normal(size=N), "w": RNG.choice([0.0, 1.0], N)}
    assert not [sentence for sentence in told(columns, y) if "determines" in sentence]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("text", [False, True])
def test_a_column_that_equals_a_number_is_told_however_few_rows_there_are(seed, text):
    rng = np.random.default_rng(seed)
    y = np.exp(2 * rng.normal(size=60))
    copy = words([f"$ {v:.2f}" for v in y]) if text else 2 * y + 3
    found = told({"copy": copy, "noise": rng.normal(size=60)}, y)
    assert [sentence.split()[0] for sentence in found] == ["'copy'"]
