"""The guide's examples, run: the same words; numbers may differ from machine to machine."""

import re
import shlex
from pathlib import Path

import pytest

from ulmus.cli import main

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "command_line.md"


def examples():
    for block in re.findall(r"```console\n(.*?)```", GUIDE.read_text(), re.DOTALL):
        for example in block.split("$ ")[1:]:
            command, _, printed = example.partition("\n")
            yield shlex.split(command)[1:], printed


def plain(text):
    """Without numbers, dates and the spaces that line them up."""
    return re.sub(r"[ ]+", " ", re.sub(r"[\d.:T+-]*\d[\d.:T+-]*", "#", text)).strip()


def test_the_examples_print_what_the_guide_says(flowers, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    lines = (flowers / "flowers.csv").read_text().splitlines()
    few = [
        line if k % 10 == 0 else line.rpartition(",")[0] + "," for k, line in enumerate(lines[1:])
    ]
    (flowers / "few.csv").write_text("\n".join([lines[0], *few]) + "\n")
    found = list(examples())
    assert {command[0] for command, _ in found} >= {"fit", "predict", "embed", "evaluate", "info"}
    for command, expected in found:
        assert main(command) == 0
        printed = capsys.readouterr()
        assert plain(printed.err + printed.out) == plain(expected)


@pytest.mark.parametrize("option", ["--unlabelled-blank", "--without", "--task", "--dims"])
def test_options_that_the_guide_names_are_there(option, capsys):
    helps = []
    for command in ("fit", "cluster", "embed"):
        with pytest.raises(SystemExit):
            main([command, "--help"])
        helps.append(capsys.readouterr().out)
    assert any(option in text for text in helps)
