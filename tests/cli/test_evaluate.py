"""`ulmus evaluate`: how good, beside what could be had without a model."""

import json

import numpy as np
import pytest

from cli.conftest import write
from ulmus.cli import main


def test_classes_a_line_each_and_the_accuracy(model, capsys):
    assert main(["evaluate", str(model), "new.csv"]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    lines = printed.out.splitlines()
    assert lines[0].split() == ["class", "rows", "precision", "recall", "F1"]
    assert lines[1].split()[:2] == ["setosa", "17"]
    assert lines[5].split() == ["true", "\\", "predicted", "setosa", "versicolor", "virginica"]
    assert lines[-1].endswith("of 50 rows of 'kind' are right.")


def test_json_agrees_with_itself(model, capsys):
    assert main(["evaluate", str(model), "new.csv", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    right = sum(row[k] for k, row in enumerate(found["confusion"]))
    assert found["accuracy"] == pytest.approx(right / 50)
    assert found["accuracy"] > 0.9
    assert found["baseline"]["accuracy"] == pytest.approx(17 / 50)
    assert found["classes"]["setosa"]["recall"] == 1.0


def test_numbers(prices, capsys):
    main(["fit", "prices.csv", "--target", "price"])
    capsys.readouterr()
    assert main(["evaluate", "prices.ulmus", "prices.csv"]) == 0
    printed = capsys.readouterr().out
    assert "R²" in printed
    assert "baseline: mean" in printed
    assert main(["evaluate", "prices.ulmus", "prices.csv", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["r2"] > 0.98
    assert found["rmse"] < found["baseline"]["rmse"] / 5


def test_large_numbers_are_written_out_and_set_to_the_right(flowers, capsys):
    rng = np.random.default_rng(0)
    x, noise = rng.normal(size=(2, 60)) * 100_000
    rows = [(round(a), round(500_000 + a + b)) for a, b in zip(x, noise, strict=True)]
    write(flowers / "dear.csv", ("x", "price"), rows)
    assert main(["fit", "dear.csv", "--target", "price", "--quiet"]) == 0
    assert main(["evaluate", "dear.ulmus", "dear.csv"]) == 0
    assert main(["explain", "dear.ulmus", "dear.csv", "--rows", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert not any("e+" in line for line in lines)
    errors = [line for line in lines if "error  " in line]
    assert len(errors) == 2
    assert len({len(line) for line in errors}) == 1


def test_a_model_worse_than_the_mean_is_told_so(flowers, capsys):
    x = np.random.default_rng(0).normal(size=40)
    write(flowers / "up.csv", ("x", "y"), zip(x, 10 * x, strict=True))
    write(flowers / "down.csv", ("x", "y"), zip(x, -10 * x, strict=True))
    assert main(["fit", "up.csv", "--target", "y", "--quiet"]) == 0
    capsys.readouterr()
    assert main(["evaluate", "up.ulmus", "down.csv"]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert "% above that of the mean." in last


def test_a_class_the_model_does_not_know_counts_as_wrong(model, flowers, capsys):
    text = (flowers / "new.csv").read_text().replace("virginica", "orchid")
    (flowers / "odd.csv").write_text(text)
    assert main(["evaluate", str(model), "odd.csv", "--json"]) == 0
    printed = capsys.readouterr()
    assert "does not know the class 'orchid'" in printed.err
    found = json.loads(printed.out)
    assert found["classes"]["orchid"] == {"rows": 16, "precision": 0, "recall": 0, "f1": 0}
    assert found["accuracy"] <= 34 / 50


def test_rows_without_a_target_are_left_out(model, flowers, capsys):
    text = (flowers / "new.csv").read_text().replace("setosa", "", 4)
    (flowers / "gaps.csv").write_text(text)
    assert main(["evaluate", str(model), "gaps.csv"]) == 0
    printed = capsys.readouterr()
    assert "4 rows without a value of 'kind' left out." in printed.err
    assert "of 46 rows" in printed.out


@pytest.mark.parametrize("columns", [20, 40, 200])
def test_narrow_and_wide_terminals(model, capsys, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    assert main(["evaluate", str(model), "new.csv"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines[:-1])) <= columns
    assert ("true \\ predicted" in "\n".join(lines)) == (columns == 200)


def test_files_without_the_target(model, flowers, refused):
    write(flowers / "bare.csv", ("a", "kinds"), [(1, 2)])
    assert "did you mean 'kinds'?" in refused("evaluate", model, "bare.csv")
    text = (flowers / "new.csv").read_text()
    for kind in ("setosa", "versicolor", "virginica"):
        text = text.replace(kind, "rose")
    (flowers / "roses.csv").write_text(text)
    assert "None of the file's classes" in refused("evaluate", model, "roses.csv")
    (flowers / "blank.csv").write_text(text.replace("rose", ""))
    assert "missing in every row" in refused("evaluate", model, "blank.csv")


# ---------------------------------------------------------------- honest scores
def first_line(capsys, *arguments):
    assert main(["evaluate", *map(str, arguments)]) == 0
    return capsys.readouterr().out.splitlines()[0]


def test_training_rows_are_known_again(model, flowers, capsys):
    assert first_line(capsys, model, "new.csv").startswith("class")
    said = first_line(capsys, model, "flowers.csv")
    assert said.startswith("These are rows that the model was fitted to, so the scores are too")
    for option in ("--holdout 0.2", "--folds 5", "--time", "--group"):
        assert option in said
    both = (flowers / "flowers.csv").read_text() + "\n".join(
        (flowers / "new.csv").read_text().splitlines()[1:]
    )
    (flowers / "all.csv").write_text(both + "\n")
    assert first_line(capsys, model, "all.csv").startswith("67% of these rows are rows")


def test_rows_that_are_equal_by_chance_are_no_training_rows(tmp_path, capsys):
    rng = np.random.default_rng(0)
    for name in ("old.csv", "new.csv"):
        x = rng.integers(0, 3, (80, 2))
        y = np.where(rng.random(80) < 0.8, x[:, 0] > 0, rng.random(80) < 0.5)
        rows = zip(*x.T, np.where(y, "yes", "no"), strict=True)
        write(tmp_path / name, ("a", "b", "y"), rows)
    assert main(["fit", "old.csv", "--target", "y", "--quiet"]) == 0
    capsys.readouterr()
    assert first_line(capsys, "old.ulmus", "new.csv").startswith("class")


def test_a_part_that_is_held_out_is_judged_by_a_model_of_the_others(model, capsys):
    assert main(["evaluate", str(model), "flowers.csv", "--holdout", "0.2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["rows"] == 20
    assert found["on"].startswith("Held out: 20 rows, a random part; a model like this one")
    assert found["fitted_share"] is None


def test_folds_predict_noise_no_better_than_chance(tmp_path, capsys):
    rng = np.random.default_rng(0)
    rows = [(*np.round(rng.normal(size=6), 3), rng.choice(["a", "b"])) for _ in range(60)]
    write(tmp_path / "noise.csv", (*"uvwxyz", "kind"), rows)
    assert main(["fit", "noise.csv", "--target", "kind", "--quiet"]) == 0
    capsys.readouterr()
    assert main(["evaluate", "noise.ulmus", "noise.csv", "--folds", "4", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["rows"] == 60
    assert found["accuracy"] < 0.7
    assert found["accuracy"] == pytest.approx(np.mean(found["folds"]))


def test_groups_and_times_hold_out_whole_groups_and_later_rows(tmp_path, capsys):
    rng = np.random.default_rng(0)
    rows = []
    for k in range(80):
        patient = k // 4
        x = np.round(np.random.default_rng(patient).normal(size=3) + rng.normal(size=3) / 99, 4)
        rows.append((patient + 900, k, *x, ("ill", "well")[patient * 7 % 3 % 2]))
    write(tmp_path / "visits.csv", ("patient", "day", "u", "v", "w", "state"), rows)
    assert main(["fit", "visits.csv", "--target", "state", "--quiet"]) == 0
    capsys.readouterr()
    scores = {}
    for how in (("--folds", "4"), ("--group", "patient", "--folds", "4"), ("--time", "day")):
        assert main(["evaluate", "visits.ulmus", "visits.csv", *how, "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        scores[how[0]] = found["accuracy"]
        assert found["rows"] == (16 if how[0] == "--time" else 80)
    # Visits of one patient are nearly equal: folds that part them know the state already.
    assert scores["--folds"] > 0.95
    assert scores["--group"] < 0.85


def test_copies_across_a_split_are_told(model, flowers, capsys):
    lines = (flowers / "flowers.csv").read_text().splitlines()
    (flowers / "twice.csv").write_text("\n".join([*lines, *lines[1:]]) + "\n")
    assert main(["evaluate", str(model), "twice.csv", "--holdout", "0.2"]) == 0
    said = capsys.readouterr().err
    assert "left-out rows have an equal row among those that were fitted" in said


def test_plans_that_cannot_be(model, refused):
    both = ("--holdout", "0.2", "--folds", "5")
    assert "exclude each other" in refused("evaluate", model, "new.csv", *both)
    both = ("--time", "a", "--group", "b")
    assert "exclude each other" in refused("evaluate", model, "new.csv", *both)
    assert "between 0 and 1" in refused("evaluate", model, "n.csv", "--holdout", "2", status=2)
    assert "2 or more" in refused("evaluate", model, "new.csv", "--folds", "1", status=2)
    assert "no column 'when'" in refused("evaluate", model, "new.csv", "--time", "when")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--holdout", "0.001"], "--holdout 0.001 of 100 rows is less than one"),
        (["--folds", "70"], "fewer --folds"),
        (["--time", "x"], "--time: There is no column 'x'"),
        (["--group", "x"], "--group: There is no column 'x'"),
    ],
)
def test_splits_that_cannot_be_name_their_flag(model, refused, arguments, words):
    assert words in refused("evaluate", model, "flowers.csv", *arguments)
