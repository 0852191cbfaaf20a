"""`fit_table`: what it takes a table for, and what it chooses."""

import numpy as np
import pytest

from ulmus import ELMRegressor, KernelELMRegressor, load, save
from ulmus.exceptions import InvalidInputError, TableError
from ulmus.tables import Table, TableModel, fit_table
from ulmus.tables.fitting import Settings, choose


def table_of(**columns):
    return Table(tuple(columns), {name: np.asarray(cells) for name, cells in columns.items()})


def test_a_saved_model_predicts_the_same_to_the_bit(tmp_path):
    rng = np.random.default_rng(0)
    city = rng.choice(["Oslo", "Rome", "Bonn"], 300).astype(object)
    size = rng.uniform(0, 9, 300)
    size[::7] = np.nan
    label = np.where((size > 4) ^ (city == "Rome"), "large", "small").astype(object)
    table = table_of(size=size, city=city, label=label)
    for cells in (label, np.where(rng.random(300) < 0.2, label, None)):
        model = fit_table(table_of(size=size, city=city, label=cells), "label")
        save(model, tmp_path / "m.ulmus", for_update=False)
        same = load(tmp_path / "m.ulmus")
        assert isinstance(same, TableModel)
        assert same.summary == model.summary
        np.testing.assert_array_equal(same.predict_proba(table), model.predict_proba(table))
        assert same.predict(table).tolist() == model.predict(table).tolist()


def test_a_saved_model_knows_the_unit(tmp_path):
    cells = np.array([f"{1.5 * k} cm" for k in range(40)], dtype=object)
    table = Table(("size", "y"), {"size": cells, "y": np.arange(40.0) % 2})
    model = fit_table(table, "y")
    save(model, tmp_path / "m.ulmus")
    again = load(tmp_path / "m.ulmus")
    assert again.predict(table).tolist() == model.predict(table).tolist()
    with pytest.raises(TableError, match="numbers in cm"):
        again.predict(Table(("size",), {"size": np.array(["5 in"], dtype=object)}))


def test_a_file_of_the_target_alone_lacks_columns():
    table = Table(("x", "y"), {"x": np.arange(40.0) * 1.5, "y": np.arange(40.0) % 2})
    model = fit_table(table, "y")
    with pytest.raises(TableError, match="The column 'x' is missing; there is no other"):
        model.predict(Table(("y",), {"y": np.array([0.0, 1.0])}))
    with pytest.raises(TableError, match="The table has no other"):
        fit_table(Table(("y",), {"y": np.arange(40.0) % 2}), "y")


def test_no_target_column_no_probabilities_no_rows():
    table = table_of(x=np.arange(20.0) % 7, y=np.linspace(0, 1, 20))
    with pytest.raises(InvalidInputError, match="Which column is to be learnt"):
        fit_table(table)
    model = fit_table(table, "y")
    assert model.classes is None
    with pytest.raises(InvalidInputError, match="no probabilities"):
        model.predict_proba(table)
    with pytest.raises(InvalidInputError, match="no rows"):
        model.predict(table_of(x=np.zeros(0)))


def test_intervals_of_a_table_are_those_of_its_estimator():
    x = np.random.default_rng(0).normal(size=60)
    table = table_of(x=x, y=x**2, kind=np.where(x > 0, "up", "down").astype(object))
    model = fit_table(table, "y")
    assert repr(model).startswith("TableModel(target='y', task='regression', estimator=")
    ends = model.predict_interval(table, coverage=0.8)
    assert ends.shape == (60, 2)
    expected = model.estimator.predict_interval(model.matrix(table), coverage=0.8)
    np.testing.assert_array_equal(ends, expected)
    with pytest.raises(InvalidInputError, match="predicts numbers .*; predict_interval"):
        model.predict_set(table)


def test_sets_of_a_table_are_those_of_its_estimator_and_written_by_name():
    x = np.random.default_rng(0).normal(size=90)
    names = np.array(["a|b", "c\\d", "e"], dtype=object)
    noise = np.random.default_rng(1).normal(size=90)
    table = table_of(x=x, kind=names[np.digitize(x + noise, [-0.4, 0.4])])
    model = fit_table(table, "kind")
    sets = model.predict_set(table, coverage=0.8)
    matrix = model.matrix(table)
    np.testing.assert_array_equal(sets, model.estimator.predict_set(matrix, coverage=0.8))
    written = model.columns(matrix, interval=80)["set"]
    parts = np.array(["a\\|b", "c\\\\d", "e"], dtype=object)
    assert written.tolist() == ["|".join(parts[row]) for row in sets]
    assert len(set(sets.sum(axis=1))) > 1
    with pytest.raises(InvalidInputError, match="predicts a class .*; predict_set"):
        model.predict_interval(table)


@pytest.mark.parametrize("for_update", [False, True])
def test_importances_are_of_every_column_and_sum_to_one(tmp_path, for_update):
    rng = np.random.default_rng(0)
    city = rng.choice(["Oslo", "Rome", "Bonn"], 120).astype(object)
    x, noise, same = rng.normal(size=120), rng.normal(size=120), np.ones(120)
    y = x + 2.0 * (city == "Rome")
    model = fit_table(table_of(noise=noise, same=same, x=x, city=city, y=y), "y")
    assert model.feature_names_in_.tolist() == ["noise", "x", "city", "same"]
    shares = dict(zip(model.feature_names_in_, model.feature_importances_, strict=True))
    assert abs(sum(shares.values()) - 1.0) < 1e-9
    assert shares["same"] == 0.0 < shares["noise"] < min(shares["x"], shares["city"])
    for name, share in model.summary["importances"].items():
        assert abs(shares[name] - share) < 1e-4
    save(model, tmp_path / "m.ulmus", for_update=for_update)
    again = load(tmp_path / "m.ulmus").feature_importances_
    np.testing.assert_allclose(again, model.feature_importances_, atol=1e-4)


def test_importances_of_many_columns_need_fitted_rows(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 25))
    columns = {f"x{j}": X[:, j] for j in range(25)}
    model = fit_table(table_of(**columns, y=X[:, 3]), "y")
    save(model, tmp_path / "m.ulmus", for_update=False)
    with pytest.raises(AttributeError, match="for_update=True"):
        _ = load(tmp_path / "m.ulmus").feature_importances_


def test_of_many_rows_without_a_target_some_are_used(monkeypatch):
    monkeypatch.setattr("ulmus.tables.fitting._GRAPH_ROWS", 50)
    x = np.linspace(-1, 1, 200)
    y = np.where(x > 0, "up", "down").astype(object)
    y[np.arange(200) % 8 > 0] = None
    model = fit_table(table_of(x=x % 0.7, z=x, y=y), "y")
    assert (model.summary["rows"], model.summary["rows_with_target"]) == (50, 25)
    assert any("A random 25 of them" in sentence for sentence in model.summary["notes"])


def test_targets_that_are_no_measurement_are_counted_and_not_called_blank():
    t = np.linspace(0, 6, 200)
    wave = np.sin(t)
    wave[[3, 50]] = np.inf
    wave[70] = 1e300
    model = fit_table(Table(("t", "wave"), {"t": t, "wave": wave}), "wave")
    notes = " ".join(model.summary["notes"])
    assert "'wave': 2 infinite values and 1 value beyond 1e+100 count as missing." in notes
    assert model.summary["rows"] == 197


def test_the_kernel_is_taken_where_it_is_better():
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 100, (600, 3)).astype(np.float32)
    jumps = 3.0 * (x[:, 0] > 20) + 2.0 * (x[:, 1] > 50) - 4.0 * (x[:, 2] > 80)
    model = choose(x, jumps, Settings(classify=False))
    assert isinstance(model, KernelELMRegressor)
    line = x @ [1.0, 2.0, -1.0] + 20.0 * rng.standard_normal(600)
    model = choose(x, line, Settings(classify=False))
    assert isinstance(model, ELMRegressor)


def test_of_many_rows_a_kernel_that_is_used_whole_is_taken(monkeypatch):
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (300, 3)).astype(np.float32)
    line = x @ [1.0, 2.0, -1.0] + rng.standard_normal(300)
    assert isinstance(choose(x, line, Settings(classify=False)), ELMRegressor)
    for module in ("tables.fitting", "estimators.kernel_inputs"):
        monkeypatch.setattr(f"ulmus.{module}.CHOICE_ROWS", 80)
    assert isinstance(choose(x, line, Settings(classify=False)), KernelELMRegressor)
    monkeypatch.setattr("ulmus.estimators.kernel_elm._CHOSEN_EXACT", 100)
    assert isinstance(choose(x, line, Settings(classify=False)), ELMRegressor)
    monkeypatch.setattr("ulmus.tables.fitting._KERNEL_ROWS", 100)
    assert isinstance(choose(x, line, Settings(classify=False)), ELMRegressor)


def test_the_columns_that_matter_come_first():
    rng = np.random.default_rng(0)
    size, noise = rng.uniform(size=(2, 300))
    city = rng.choice(["Oslo", "Rome", "Bonn"], 300).astype(object)
    price = 3.0 * size + 2.0 * (city == "Rome") + 0.01 * noise
    model = fit_table(table_of(noise=noise, city=city, size=size, price=price), "price")
    shares = model.summary["importances"]
    assert [*shares][-1] == "noise"
    assert set(shares) == {"noise", "city", "size"}
    assert abs(sum(shares.values()) - 1.0) < 1e-3
    assert shares["noise"] < 0.05


RNG = np.random.default_rng(0)
PLAIN = RNG.standard_normal((60, 3))
DIFFICULT = {
    "constant and repeated columns": np.column_stack([PLAIN, PLAIN[:, 0], np.full(60, 3.0)]),
    "one column": PLAIN[:, :1],
    "one column of two values": 1.0 * (PLAIN[:, :1] > 0),
    "columns of noise": np.column_stack([PLAIN, RNG.standard_normal((60, 20))]),
    "one-hot columns": np.eye(5)[RNG.integers(0, 5, 60)],
    "heavy tails": np.column_stack([PLAIN, RNG.standard_cauchy((60, 2))]),
    "twenty rows": PLAIN[:20],
    "more columns than rows": RNG.standard_normal((12, 30)),
}


@pytest.mark.parametrize("name", DIFFICULT)
@pytest.mark.parametrize("classify", [False, True])
def test_difficult_tables_have_a_model_with_finite_outputs_and_weights(name, classify):
    A = DIFFICULT[name]
    y = np.sin(2.0 * A[:, 0]) + 0.1 * RNG.standard_normal(len(A))
    y = np.where(y > np.median(y), "up", "down").astype(object) if classify else y
    columns = {f"x{j}": A[:, j] for j in range(A.shape[1])}
    table = Table((*columns, "y"), {**columns, "y": y})
    model = fit_table(table, "y", task="classification" if classify else "regression")
    values = model.predict_proba(table) if classify else model.predict(table)
    assert np.isfinite(values).all()
    assert 0.5 < sum(model.summary["importances"].values()) < 1.01  # of 20 columns at most
    estimator = model.estimator
    map_weights = getattr(getattr(estimator, "features_", None), "column_weights", None)
    weights = getattr(estimator, "column_weights_", map_weights)
    if weights is not None:
        assert (
            1e-3 / np.sqrt(len(weights))
            <= weights.min()
            <= weights.max()
            < np.sqrt(len(weights)) + 1e-9
        )


def test_a_class_of_one_row_is_fitted():
    table = Table(("x", "y"), {"x": PLAIN[:, 0], "y": np.array(["b"] + ["a"] * 59, object)})
    assert fit_table(table, "y").classes.tolist() == ["a", "b"]


def test_a_target_far_from_zero_is_predicted_as_one_near_it():
    rng = np.random.default_rng(0)
    x, far = rng.uniform(0, 6, 80), 1e9
    cells = {"x": x, "noise": rng.standard_normal(80)}
    found = []
    for offset in (0.0, far):
        table = Table(("x", "noise", "y"), {**cells, "y": np.sin(x) + offset})
        found.append(fit_table(table, "y").predict(table.without("y")) - offset)
    np.testing.assert_allclose(found[1], found[0], atol=0.01)
