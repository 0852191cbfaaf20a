"""`ulmus demo` and the front of the command line."""

import argparse
import json
import subprocess
import sys

import pytest
from scipy import stats

from ulmus.cli import demo, main


@pytest.mark.first
def test_the_demo_prints_three_tables_and_draws_a_picture(tmp_path, capsys, monkeypatch):
    for name, fewer in {
        "_DRAWS": 2,
        "_SPLITS": 2,
        "_BATCHES": 13,
        "_STEPS": 250,
    }.items():  # for time
        monkeypatch.setattr(demo, name, fewer)
    picture = tmp_path / "digits.png"
    assert main(["demo", "--json", "--picture", str(picture)]) == 0
    found = json.loads(capsys.readouterr().out)
    few = {row["model"]: row["accuracy"][0] for row in found["few_labels"]}
    assert few["SemiSupervisedELMClassifier"] > few["SVC, labelled digits alone"] + 8
    assert {"LabelSpreading", "SelfTraining, logistic"} < set(few)
    held = {row["model"]: row["in interval"][0] for row in found["table"]}
    assert held["ELMRegressor"] > 82 > held["HistGradientBoosting, quantiles"]
    last = {row["model"]: row["last"] for row in found["stream"]}
    assert last["ELMClassifier, decay=0.7"] > last["ELMClassifier, all rows alike"] + 10
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert len(list(tmp_path.iterdir())) == 1, "a draft was left behind"


def test_a_mean_has_half_of_its_interval_by_students_t():
    values = [0.0, 1.0, 2.0, 5.0]
    ((name, _, ((mean, half),)),) = demo._compared(
        {"m": None}, values, lambda name, model, value: [value]
    )
    low, high = stats.t.interval(0.95, 3, loc=2.0, scale=stats.sem(values))
    assert (name, mean) == ("m", 2.0)
    assert half == pytest.approx((high - low) / 2)


def test_the_demos_tables_are_printed_with_their_intervals(capsys):
    row = ("ELM", 0.256, [[96.31, 1.52], 3.04])
    options = argparse.Namespace(json=False, quiet=True, picture="x.png")
    demo._told({"few": ("Title.", ("accuracy", "width"), [row])}, options)
    assert "ELM    96.3 ± 1.5    3.0   0.26" in capsys.readouterr().out


def test_a_folder_that_is_not_there(tmp_path, capsys):
    assert main(["demo", "--picture", str(tmp_path / "none" / "digits.png")]) == 1
    assert "name a folder that is there" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["fly"], ["demo", "--loud"]])
def test_wrong_usage_is_status_2(arguments, capsys):
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    assert "usage: ulmus" in capsys.readouterr().err


def test_help_does_not_wait_for_scikit_learn():
    code = (
        "import sys; from ulmus.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass\n"
    )
    code += "print('sklearn' in sys.modules, 'numpy' in sys.modules)"
    seen = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert seen.stdout.splitlines()[-1] == "False False"
