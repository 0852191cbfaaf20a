"""`ulmus demo` and the front of the command line."""

import re
import subprocess
import sys

import numpy as np
import pytest

from ulmus.cli import demo, main


def test_memory_is_the_most_that_is_held_at_once():
    def twice():
        for _ in range(2):
            np.ones(2**18)

    assert 2.0 <= demo._megabytes(twice) < 2.5


@pytest.mark.first
def test_the_demo_prints_a_table_and_draws_a_picture(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(demo, "_megabytes", lambda work: 1.0)  # which would fit all models again
    assert main(["demo", "--picture", str(tmp_path / "digits.png")]) == 0
    printed = capsys.readouterr().out
    tables = printed.split("\n\n")
    rows = [dict(re.findall(r"^(\S.*?) {2,}(0\.\d+)", text, re.MULTILINE)) for text in tables]
    supervised, few, none = (row for row in rows if row)
    assert set(supervised) == {"ELM", "ELM, RBF units", "Ridge on Nystroem", "SVC"}
    assert float(supervised["ELM"]) >= 0.975
    assert set(few) == {"SS-ELM", "LabelSpreading", "SelfTraining", "ELM", "SVC"}
    assert float(few["SS-ELM"]) > float(few["ELM"]) + 0.08
    assert float(none["US-ELM"]) > float(none["k-means"])
    assert (tmp_path / "digits.png").read_bytes().startswith(b"\x89PNG")
    assert len(list(tmp_path.iterdir())) == 1, "a draft was left behind"


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
