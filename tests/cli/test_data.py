"""`ulmus data list` and `ulmus data fetch`."""

import json
import subprocess
import sys

import pytest

from papers.datasets import DATASETS
from ulmus.cli import main


@pytest.fixture(autouse=True)
def nowhere(monkeypatch, tmp_path):
    """Neither files, nor a cache, nor a network."""
    for name in ("ULMUS_DATA", "ULMUS_MIRROR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ULMUS_CACHE", str(tmp_path / "cache"))


def test_the_list_is_a_table_with_a_line_for_each(capsys):
    assert main(["data", "list"]) == 0
    printed = capsys.readouterr()
    assert "network: `ulmus data fetch NAME` gets the file." in printed.err
    assert "ULMUS_DATA" in printed.err
    heading, *lines = printed.out.splitlines()
    assert heading.split() == ["name", "rows", "columns", "classes", "source", "licence"]
    assert [line.split()[0] for line in lines] == sorted(DATASETS)
    words = {line.split()[0]: line.split() for line in lines}
    assert words["iris"][1:] == ["150", "4", "3", "bundled", "CC", "BY", "4.0", "(UCI)"]
    assert words["california_housing"][3:5] == ["numbers", "absent"]
    assert words["usps"][4] == "network"
    assert words["g50c"][4] == "generated"


def test_the_list_as_json(capsys):
    assert main(["data", "list", "--json"]) == 0
    entries = json.loads(capsys.readouterr().out)
    assert [entry["name"] for entry in entries] == sorted(DATASETS)
    assert set(entries[0]) == {"name", "rows", "columns", "classes", "source", "licence"}


def test_fetching_prints_the_paths_alone(capsys, tmp_path, monkeypatch):
    def pretend(name):
        return None if name == "iris" else tmp_path / f"{name}.npz"

    monkeypatch.setattr("papers.datasets.command.fetch", pretend)
    assert main(["data", "fetch", "usps", "iris"]) == 0
    printed = capsys.readouterr()
    assert printed.out == f"{tmp_path / 'usps.npz'}\n"
    assert printed.err == "iris needs no file: it is bundled or generated.\n"


def test_a_misspelt_name_is_heard_of_before_anything_is_fetched(capsys, monkeypatch):
    monkeypatch.setattr("papers.datasets.command.fetch", pytest.fail)
    assert main(["data", "fetch", "mnist", "upss"]) == 1
    assert "did you mean 'usps'" in capsys.readouterr().err


def test_one_that_fails_does_not_stop_the_others(capsys, monkeypatch):
    monkeypatch.setenv("ULMUS_MIRROR", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "*")
    assert main(["data", "fetch", "yale", "iris", "orl"]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("could not be fetched") == 2
    assert "iris needs no file" in printed.err


def test_ctrl_c_is_a_clean_stop(capsys, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("papers.datasets.openml.fetch_openml", interrupt)
    assert main(["data", "fetch", "usps"]) == 130
    assert capsys.readouterr().err == "ulmus: stopped\n"


def test_without_a_clone_the_command_says_how_to_get_one(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr("ulmus.__file__", str(tmp_path / "site-packages" / "ulmus" / "__init__.py"))
    assert main(["data", "list"]) == 1
    assert "pip install --editable '.[papers]'" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["data"], ["data", "fetch"], ["data", "list", "usps"]])
def test_wrong_usage_is_status_2(arguments, capsys):
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    assert "usage: ulmus" in capsys.readouterr().err


def test_help_does_not_wait_for_scikit_learn():
    code = (
        "import sys; from ulmus.cli import main\n"
        "try: main(['data', 'fetch', '--help'])\nexcept SystemExit: pass\n"
        "print('sklearn' in sys.modules, 'numpy' in sys.modules)"
    )
    seen = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert seen.stdout.splitlines()[-1] == "False False"
