"""Explanations: a column that does nothing has no part, and effects have the right sign."""

import numpy as np
import pytest

from ulmus.exceptions import InvalidInputError
from ulmus.tables import Table, fit_table
from ulmus.tables.explaining import explain

RNG = np.random.default_rng(0)
N = 150


def numbers():
    x, z = RNG.normal(size=(2, N))
    kind = RNG.choice(np.array(["a", "b"], dtype=object), N)
    y = 4 * x + np.where(kind == "a", 2.0, 0.0)
    return Table(("x", "kind", "noise", "y"), {"x": x, "kind": kind, "noise": z, "y": y})


def classes():
    table = numbers()
    words = np.where(table["x"] > 0, "up", "down").astype(object)
    return Table(table.names, {**table.columns, "y": words})


def test_columns_come_in_the_order_of_what_is_lost_without_them():
    table = numbers()
    found = explain(fit_table(table, "y"), table, places=[3])
    assert [column["name"] for column in found["columns"]] == ["x", "kind", "noise"]
    drops = [column["drop"] for column in found["columns"]]
    assert drops[0] > 1 > drops[1] > 0.05 > abs(drops[2])
    effect = found["effects"][0]
    means = np.array(effect["predictions"])[:, 0]
    # The line is 4 x, and the other columns' mean is the same at each value.
    steps = np.diff(means) / np.diff(np.array(effect["values"], dtype=float))
    assert np.allclose(steps, 4, atol=0.4)
    kinds = dict(
        zip(found["effects"][1]["values"], found["effects"][1]["predictions"], strict=True)
    )
    assert kinds["a"][0] - kinds["b"][0] == pytest.approx(2, abs=0.3)


def test_the_reasons_of_a_row_are_what_its_values_change():
    table = numbers()
    model = fit_table(table, "y")
    place = int(np.argmax(table["x"]))
    (row,) = explain(model, table, places=[place])["rows"]
    assert row["row"] == place + 1
    reason = row["reasons"][0]
    assert reason["column"] == "x"
    expected = 4 * (table["x"][place] - table["x"].mean())
    assert reason["effect"] == pytest.approx(expected, rel=0.25)


def test_classes_with_and_without_their_target():
    table = classes()
    model = fit_table(table, "y")
    found = explain(model, table, places=[0])
    assert found["measure"] == "accuracy"
    assert found["columns"][0]["name"] == "x"
    assert found["columns"][0]["drop"] > 0.3
    assert found["rows"][0]["prediction"] == table["y"][0]
    alone = explain(model, table.without("y"))
    assert alone["measure"] == "accuracy against the predictions"
    assert alone["score"] == 1
    assert alone["columns"][0]["name"] == "x"


def test_what_cannot_be_explained():
    table = numbers()
    model = fit_table(table, "y")
    with pytest.raises(InvalidInputError, match="no row 999"):
        explain(model, table, places=[998])
    wide = Table(tuple(f"x{j}" for j in range(600)), matrix=RNG.normal(size=(30, 600)),
                 target=RNG.normal(size=30))  # fmt: skip
    with pytest.raises(InvalidInputError, match="up to 500"):
        explain(fit_table(wide), wide)


def test_the_values_of_amounts_and_dates_are_spread_over_their_range():
    x = np.arange(N) * 10.0
    columns = {
        "price": np.array([f"${v:,.2f}" for v in x], dtype=object),
        "day": np.array([str(np.datetime64("2020-01-01") + int(k)) for k in range(N)], object),
        "y": x + RNG.normal(size=N),
    }
    table = Table(tuple(columns), columns)
    effects = {e["name"]: e["values"] for e in explain(fit_table(table, "y"), table)["effects"]}
    assert effects["price"][0] == "$70.00"
    assert effects["price"] == [
        f"${10 * int(s * 149):,.2f}" for s in (0.05, 0.275, 0.5, 0.725, 0.95)
    ]
    assert effects["day"] == sorted(effects["day"])


def test_numbers_come_once_each_from_the_least_to_the_largest():
    grade, mostly = RNG.choice([3.0, 1.0, 4.0], N, p=[0.6, 0.3, 0.1]), np.zeros(N)
    mostly[:20] = RNG.permutation(20)
    often = np.where(RNG.random(N) < 0.5, 1.0, RNG.normal(size=N))
    columns = {"grade": grade, "mostly": mostly, "often": often, "y": grade + mostly + often}
    table = Table(tuple(columns), columns)
    effects = {e["name"]: e["values"] for e in explain(fit_table(table, "y"), table)["effects"]}
    assert effects["grade"] == ["1", "3", "4"]
    for name in ("mostly", "often"):
        values = [float(value) for value in effects[name]]
        assert len(values) >= 3
        assert values == sorted(set(values))


def test_the_texts_of_a_column_are_spread_over_the_predictions():
    words = {"up": ("rise", "climb", "soar", "grow"), "down": ("fall", "sink", "drop", "shrink")}
    kind = RNG.choice(["up", "down"], N).astype(object)
    texts = [" and ".join(RNG.choice(words[k], 3)) + f" by {j} points" for j, k in enumerate(kind)]
    table = Table(("note", "y"), {"note": np.array(texts, object), "y": kind})
    (effect,) = explain(fit_table(table, "y"), table)["effects"]
    means = np.array(effect["predictions"])[:, 0]
    assert np.ptp(means) > 0.5
    assert len(set(effect["values"])) == 5
