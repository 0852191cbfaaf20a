"""`ulmus fit`: what it chooses, says and leaves behind."""

import io
import json
import os
import shlex
import signal
import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

import ulmus
from cli.conftest import write
from surroundings import BACKGROUND, FOREGROUND, started_in
from ulmus.cli import main
from ulmus.estimators.elm import ELMClassifier
from ulmus.tables import TableModel, assessing

# Where the tests were started: a relative path to the sources holds there.
HERE = os.getcwd()


def fitted(capsys, *arguments):
    assert main(["fit", *map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_json_has_what_was_chosen_the_score_the_seconds_and_the_command(prices, capsys):
    found = fitted(capsys, prices, "--target", "price", "--seed", "3")
    assert found["task"] == "regression"
    assert found["loo_measure"] == "R²"
    assert found["loo_score"] > 0.97
    assert found["seconds"] > 0
    assert found["seed"] == 3
    assert found["chosen"]["estimator"] in ("ELMRegressor", "KernelELMRegressor")
    assert shlex.split(found["predict"])[:3] == ["ulmus", "predict", "prices.ulmus"]
    model = ulmus.load("prices.ulmus")
    assert isinstance(model, TableModel)
    assert model.encoder.names == ("area", "city")


def test_the_same_seed_gives_the_same_predictions(flowers, capsys):
    tables = []
    for name in ("a.ulmus", "b.ulmus"):
        main(["fit", "flowers.csv", "--target", "kind", "--model", name, "--seed", "5"])
        capsys.readouterr()
        main(["predict", name, "new.csv", "--proba"])
        tables.append(capsys.readouterr().out)
    assert tables[0] == tables[1]


def test_the_command_is_quoted_for_the_shell(flowers, capsys):
    (flowers / "flowers.csv").rename(flowers / "it's a file.csv")
    assert main(["fit", "it's a file.csv", "--target", "kind"]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    command = shlex.split(last)
    assert command == [
        "ulmus", "evaluate", "it's a file.ulmus", "it's a file.csv", "--folds", "5",
    ]  # fmt: skip
    assert main(command[1:]) == 0


def test_mostly_blank_targets_make_the_fit_semi_supervised(flowers, capsys):
    lines = (flowers / "flowers.csv").read_text().splitlines()
    few = [lines[0]] + [
        line if k % 5 == 0 else line.rsplit(",", 1)[0] + "," for k, line in enumerate(lines[1:])
    ]
    (flowers / "few.csv").write_text("\n".join(few) + "\n")
    assert main(["fit", "few.csv", "--target", "kind"]) == 0
    printed = capsys.readouterr()
    assert "80 of 100 rows have no 'kind': the fit is semi-supervised" in printed.err
    assert "SemiSupervisedELMClassifier" in printed.out
    assert "100, 20 of them with a target" in printed.out
    assert main(["evaluate", "few.ulmus", "new.csv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["accuracy"] > 0.85


def test_a_few_blank_targets_are_left_out_unless_they_are_asked_for(flowers, capsys):
    text = (flowers / "flowers.csv").read_text().replace("setosa", "", 3)
    (flowers / "gaps.csv").write_text(text)
    assert main(["fit", "gaps.csv", "--target", "kind"]) == 0
    printed = capsys.readouterr()
    assert "3 of 100 rows have no 'kind': the 97 others are enough" in printed.err
    assert "SemiSupervised" not in printed.out
    found = fitted(capsys, "gaps.csv", "--target", "kind", "--unlabelled-blank", "--force")
    # Three rows without a target help little: which estimator it is, leave-one-out says.
    assert (found["rows"], found["rows_with_target"]) == (100, 97)


def test_minus_one_is_a_class_and_blank_is_none(tmp_path, capsys):
    x = np.linspace(-1, 1, 60)
    rows = [(f"{v:.3f}", ("-1" if v < 0 else "1") if k % 4 == 0 else "") for k, v in enumerate(x)]
    write(tmp_path / "signs.csv", ("x", "sign"), rows)
    found = fitted(capsys, "signs.csv", "--target", "sign")
    assert found["semi_supervised"]
    assert found["classes"] == ["-1", "1"]


def test_numbers_with_a_blank_target(prices, capsys):
    lines = prices.read_text().splitlines()
    few = [line if k % 4 == 0 else line.rsplit(",", 1)[0] + "," for k, line in enumerate(lines)]
    prices.write_text("\n".join(few) + "\n")
    found = fitted(capsys, prices, "--target", "price")
    # Prices follow the columns: rows without one do not help, and supervised models are compared.
    assert found["chosen"]["estimator"].endswith("ELMRegressor")
    assert found["loo_score"] > 0.8


def test_the_score_of_few_rows_is_that_of_five_folds_beside_a_baseline(flowers, capsys):
    found = fitted(capsys, "flowers.csv", "--target", "kind", "--force")
    assert main(["evaluate", "flowers.ulmus", "flowers.csv", "--folds", "5", "--json"]) == 0
    assert found["folds_score"] == json.loads(capsys.readouterr().out)["accuracy"]
    assert found["baseline"] == 34 / 100
    assert main(["info", "flowers.ulmus"]) == 0
    words = f"five folds accuracy {found['folds_score']:.1%} on left-out rows; the majority class"
    assert words in " ".join(capsys.readouterr().out.split())


def test_labels_at_random_are_not_said_to_be_learnt(tmp_path, capsys):
    rng, scores = np.random.default_rng(3), []
    for k in range(6):
        X, labels = rng.normal(size=(80, 4)), rng.choice(["a", "b"], 80)
        rows = [(*x, y) for x, y in zip(X, labels, strict=True)]
        write(tmp_path / f"{k}.csv", ("p", "q", "r", "s", "y"), rows)
        found = fitted(capsys, f"{k}.csv", "--target", "y")
        scores.append((found["folds_score"], found["baseline"]))
    # Folds have the classes in equal shares: the majority class alone has the baseline, and a mean
    # of 480 fair coins is within .5 ± .07 in 998 of 1000 cases.
    score, baseline = np.mean(scores, axis=0)
    assert 0.43 < score < baseline + 0.03


def test_many_rows_keep_the_leave_one_out_score(flowers, capsys, monkeypatch):
    monkeypatch.setattr("ulmus.tables.assessing._FEW_ROWS", 99)
    assert fitted(capsys, "flowers.csv", "--target", "kind")["folds_score"] is None
    assert main(["info", "flowers.ulmus"]) == 0
    assert "leave-one-out accuracy 9" in " ".join(capsys.readouterr().out.split())


def test_the_last_lines_lead_to_new_rows_and_to_an_honest_score(flowers, capsys):
    assert main(["fit", "flowers.csv", "--target", "kind"]) == 0
    last = capsys.readouterr().out.splitlines()[-3:]
    assert last[0] == "  ulmus predict flowers.ulmus NEW.csv"
    assert last[2] == "  ulmus evaluate flowers.ulmus flowers.csv --folds 5"


def test_standard_input(flowers, capsys, monkeypatch):
    data = io.TextIOWrapper(io.BytesIO((flowers / "flowers.csv").read_bytes()))
    monkeypatch.setattr("sys.stdin", data)
    assert main(["fit", "-", "--target", "kind"]) == 0
    assert "ulmus predict model.ulmus NEW.csv" in capsys.readouterr().out
    assert (flowers / "model.ulmus").exists()


def test_files_that_have_a_target_of_their_own(tmp_path, capsys):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    np.savez(tmp_path / "matrix.npz", X=X, y=(X[:, 0] > 0).astype(int))
    found = fitted(capsys, "matrix.npz")
    assert (found["target"], found["classes"]) == ("y", [0, 1])
    assert main(["evaluate", "matrix.ulmus", "matrix.npz", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["accuracy"] > 0.9


def png(path, shade):
    image = pytest.importorskip("PIL.Image")
    path.parent.mkdir(parents=True, exist_ok=True)
    image.fromarray(shade.astype(np.uint8)).save(path)


@pytest.mark.parametrize("kind", ["tsv", "parquet", "svmlight", "images"])
def test_every_kind_of_file_from_fit_to_evaluate(tmp_path, capsys, kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4)).round(3)
    y = np.where(X[:, 0] > 0, "up", "down")
    target = ["--target", "way"]
    names = ("a", "b", "c", "d", "way")
    if kind == "tsv":
        lines = [
            "\t".join(names),
            *("\t".join([*map(str, x), w]) for x, w in zip(X, y, strict=True)),
        ]
        (tmp_path / "data.tsv").write_text("\n".join(lines) + "\n")
    elif kind == "parquet":
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame(X, columns=names[:4]).assign(way=y)
        frame.to_parquet(tmp_path / "data.parquet")
    elif kind == "svmlight":
        dump_svmlight_file(X, X[:, 0] > 0, str(tmp_path / "data.svmlight"))
        target = []
    else:
        for k, way in enumerate(y):
            shade = rng.integers(0, 100, (6, 6)) + (100 if way == "up" else 0)
            png(tmp_path / "data.images" / way / f"{k}.png", shade)
        target = []
    data = "data.images" if kind == "images" else f"data.{kind}"
    found = fitted(capsys, data, *target, "--model", "m.ulmus")
    assert len(found["classes"]) == 2
    assert main(["predict", "m.ulmus", data]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 61
    assert main(["evaluate", "m.ulmus", data, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["accuracy"] > 0.9


def test_the_task_can_be_said(flowers, capsys):
    write(flowers / "n.csv", ("x", "count"), [(k / 7, k % 4) for k in range(40)])
    found = fitted(capsys, "n.csv", "--target", "count")
    assert found["task"] == "classification"
    assert any("--task regression" in sentence for sentence in found["notes"])
    found = fitted(capsys, "n.csv", "--target", "count", "--task", "regression", "--force")
    assert found["task"] == "regression"


# ---------------------------------------------------------------------- refusals
def test_a_target_that_is_not_there(flowers, refused):
    assert "did you mean 'kind'?" in refused("fit", "flowers.csv", "--target", "Kinds")
    assert "Which column" in refused("fit", "flowers.csv")


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (["a"] * 30, "is 'a' in every row that has one"),
        ([""] * 30, "is missing in every row"),
        ([7] * 30, "is '7' in every row that has one"),
        (["a", "b"] + [""] * 28, "Only 2 rows have a target"),
    ],
)
def test_a_target_that_teaches_nothing(tmp_path, refused, cells, words):
    rows = [(k / 3, cell) for k, cell in enumerate(cells)]
    write(tmp_path / "bad.csv", ("x", "y"), rows)
    assert words in refused("fit", "bad.csv", "--target", "y")


def test_a_name_is_no_class(tmp_path, refused):
    rows = [(k % 7, f"name {k}") for k in range(30)]
    write(tmp_path / "names.csv", ("x", "name"), rows)
    assert "30 different values in 30 rows" in refused("fit", "names.csv", "--target", "name")


def test_words_are_no_numbers(flowers, refused):
    found = refused("fit", "flowers.csv", "--target", "kind", "--task", "regression")
    assert "holds text, 'setosa' for instance" in found


@pytest.mark.parametrize("text", ["", "x,y\n", "x,y\n1,2,3\n4\n"])
def test_files_that_are_no_tables(tmp_path, refused, text):
    (tmp_path / "bad.csv").write_text(text)
    refused("fit", "bad.csv", "--target", "y")


def test_no_column_but_the_target(tmp_path, refused):
    write(tmp_path / "one.csv", ("y",), [(k % 2,) for k in range(30)])
    assert "No column is left" in refused("fit", "one.csv", "--target", "y")


def test_a_file_that_is_there_already(model, refused):
    found = refused("fit", "flowers.csv", "--target", "kind")
    assert found == "ulmus: flowers.ulmus is there already; --force replaces it."


def test_folders_that_cannot_be_written_to(flowers, refused, monkeypatch):
    found = refused("fit", "flowers.csv", "--target", "kind", "--model", "none/m.ulmus")
    assert "There is no folder" in found
    assert "is a folder" in refused("fit", "flowers.csv", "--target", "kind", "--model", ".")
    monkeypatch.setattr("os.access", lambda *_: False)
    assert "cannot be written to" in refused("fit", "flowers.csv", "--target", "kind")


def test_a_full_disk_leaves_the_old_model(model, refused, monkeypatch):
    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("ulmus.files.os.fsync", full)
    found = refused("fit", "flowers.csv", "--target", "kind", "--force")
    assert "no space left on the disk" in found


def test_ctrl_c_in_the_middle_of_a_fit(flowers, refused, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(ELMClassifier, "fit", interrupted)
    assert refused("fit", "flowers.csv", "--target", "kind", status=130) == "ulmus: stopped"


@pytest.mark.parametrize("place", [FOREGROUND, BACKGROUND])
def test_an_interrupt_from_outside(tmp_path, place):
    command = [sys.executable, "-m", "ulmus", "fit", "-", "--target", "y"]
    command = started_in(place, *command, "--model", tmp_path / "model.ulmus")
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, cwd=HERE) as process:
        # More than a pipe holds: once it is written, the command is reading.
        process.stdin.write(b"x,y\n" + b"1,2\n" * 60_000)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    assert (process.returncode, out) == (130, b"")
    assert err == b"ulmus: stopped\n"
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    "arguments",
    [["fit"], ["fit", "x.csv", "--task", "guess"], ["fit", "x.csv", "--seed", "-1"]],
)
def test_wrong_usage_is_status_2(refused, arguments):
    assert "usage: ulmus fit" in refused(*arguments, status=2)


# ---------------------------------------------------------------- columns
def test_columns_can_be_left_out_and_said_to_be_of_a_kind(prices, capsys):
    target = ("--target", "price")
    fitted(capsys, prices, *target, "--without", "area", "--as", "city=text")
    model = ulmus.load("prices.ulmus")
    assert model.encoder.kinds == ("text",)
    assert model.encoder.names == ("city",)


def test_verbose_says_what_became_of_each_column(prices, capsys):
    lines = prices.read_text().splitlines()
    rows = [f"{line},{k}" for k, line in enumerate(lines)]
    prices.write_text("\n".join(["area,city,price,row", *rows[1:]]) + "\n")
    assert main(["fit", "prices.csv", "--target", "price", "-v"]) == 0
    said = [line.split(maxsplit=1) for line in capsys.readouterr().err.splitlines()]
    assert ["area", "number, 2 features"] in said
    assert ["city", "category, 2 features"] in said
    assert ["row", "left out: is a number of the row, different in each"] in said


def test_of_many_notes_on_columns_the_others_are_printed_with_verbose(tmp_path, capsys):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 16)).round(2).astype(object)
    X[3] = ""
    X[:, 15] = np.where(X[:, 0] == "", "", "a")
    X[:20, 15] = "b"
    write(tmp_path / "gaps.csv", [f"c{j}" for j in range(15)] + ["kind"], X)
    assert main(["fit", "gaps.csv", "--target", "kind", "--json"]) == 0
    printed = capsys.readouterr()
    assert len(json.loads(printed.out)["notes"]) == 15
    lines = printed.err.splitlines()
    assert len(lines) == 11
    assert lines[-1] == "5 more notes on single columns; -v prints them."
    assert main(["fit", "gaps.csv", "--target", "kind", "--force", "-v"]) == 0
    assert "more notes" not in (said := capsys.readouterr().err)
    assert said.count("1 missing value filled") == 15


def test_the_seconds_are_those_of_the_score_too(prices, capsys, monkeypatch):
    times = iter(range(0, 10_000, 10))
    monkeypatch.setattr(assessing.time, "perf_counter", lambda: next(times))
    assert main(["fit", "prices.csv", "--target", "price", "--json"]) == 0
    # The fit, each of its five folds, and the folds together read the clock twice.
    assert json.loads(capsys.readouterr().out)["seconds"] == 10 + 110


def test_columns_that_are_not_there(prices, refused):
    target = ("--target", "price")
    assert "no column 'town'" in refused("fit", prices, *target, "--without", "town")
    assert "no column 'town'" in refused("fit", prices, *target, "--as", "town=text")
    assert "COLUMN=KIND" in refused("fit", prices, *target, "--as", "city=word", status=2)
    assert "--encoding moon is" in refused("fit", prices, *target, "--encoding", "moon")
    assert "--delimiter ;; must" in refused("fit", prices, *target, "--delimiter", ";;")
    found = refused("fit", prices, *target, "--as", "city=number")
    assert "--as city=number: not all cells of the column are numbers" in found


def test_a_target_in_the_first_row_settles_that_it_has_the_names(tmp_path, capsys, refused):
    write(tmp_path / "words.csv", ("w", "kinds"), [("ba", "u"), ("be", "v")] * 4)
    assert fitted(capsys, "words.csv", "--target", "kinds")["rows"] == 8
    assert "--no-header" in refused("fit", "words.csv", "--target", "other", "--force")


def test_what_the_target_holds_is_said_by_its_task(flowers, refused):
    said = refused("fit", "flowers.csv", "--target", "kind", "--as", "kind=text")
    assert "'kind' is the target, of which --task says what it holds; leave it out of --as" in said


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--target", "knd"], "--target: There is no column 'knd'; did you mean 'kind'?"),
        (["--target", "kind", "--without", "x"], "--without: There is no column 'x'"),
        (["--target", "kind", "--as", "x=text"], "--as: There is no column 'x'"),
        (["--target", "kind", "--delimiter", ";"], "give --delimiter"),
        (["--target", "kind", "--no-header"], "give --header if it has the names"),
        (["--target", "kind", "--without", "kind"], "--without kind: that is the --target"),
    ],
)
def test_a_column_that_is_not_there_names_its_flag(flowers, refused, arguments, words):
    assert words in refused("fit", "flowers.csv", *arguments)


def test_names_with_a_comma_are_given_in_quotes(tmp_path, capsys):
    rng = np.random.default_rng(0)
    rows = [
        (f"{x:.3f}", f"{z:.3f}", "up" if x > 0 else "down") for x, z in rng.normal(size=(40, 2))
    ]
    write(tmp_path / "a.csv", ('"x, in m"', "z", "y"), rows)
    assert main(["fit", "a.csv", "--target", "y", "--without", '"x, in m"', "--json"]) == 0
    assert list(json.loads(capsys.readouterr().out)["importances"]) == ["z"]


def test_a_model_cannot_go_to_standard_output(flowers, refused):
    assert "name a file" in refused("fit", "flowers.csv", "--target", "kind", "--model", "-")


def test_hints_have_names_as_a_shell_takes_them(tmp_path, capsys):
    rng = np.random.default_rng(0)
    rows = [(f"{v:.4f}", f"{w:.4f}", f"{3 * v:.4f}") for v, w in rng.normal(size=(60, 2))]
    write(tmp_path / "t.csv", ("the same", "other", "y"), rows)
    assert main(["fit", "t.csv", "--target", "y"]) == 0
    assert "--without 'the same'." in " ".join(capsys.readouterr().err.split())
