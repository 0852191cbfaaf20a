"""What all commands share: help, warnings, memory, terminals."""

import json
import subprocess
import sys
import warnings

import pytest

from ulmus.cli import main, printing
from ulmus.cli.printing import facts, shown_width, table
from ulmus.exceptions import LowRankWarning

COMMANDS = ["fit", "predict", "evaluate", "cluster", "embed", "export", "info", "bench", "demo"]
COMMANDS += ["data list", "data fetch", "reproduce"]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_json_and_quiet(command, capsys):
    with pytest.raises(SystemExit) as stop:
        main([*command.split(), "--help"])
    assert stop.value.code == 0
    printed = capsys.readouterr().out
    assert "--json" in printed
    assert "--quiet" in printed


@pytest.mark.parametrize(
    ("arguments", "usage"),
    [
        (["predict", "m.ulmus"], "usage: ulmus predict [options] MODEL DATA"),
        (["cluster", "t.csv"], "usage: ulmus cluster [options] DATA -k K"),
        (["data", "fetch"], "usage: ulmus data fetch [options] NAME ..."),
    ],
)
def test_usage_is_one_line_above_the_error(capsys, arguments, usage):
    with pytest.raises(SystemExit):
        main(arguments)
    found, error = capsys.readouterr().err.splitlines()
    assert found == usage
    assert "error: the following arguments are required" in error


def test_no_help_waits_for_anything_heavy():
    code = (
        "import sys; from ulmus.cli import main\n"
        "for words in (['--help'], ['fit', '--help'], ['--version']):\n"
        "    try: main(words)\n"
        "    except SystemExit: pass\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'matplotlib', 'pyarrow', 'onnx', 'ulmus.tables'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    seen = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert seen.stdout.splitlines()[-1] == "[]"


def test_warnings_are_sentences_each_told_once(flowers, capsys, monkeypatch):
    def warned(options):
        for _ in range(2):
            warnings.warn("The kernel has few directions.\nMore.", LowRankWarning, stacklevel=1)
        warnings.warn("not for users", DeprecationWarning, stacklevel=1)
        return 0

    monkeypatch.setattr("ulmus.cli.supervised.info", warned)
    assert main(["info", "x"]) == 0
    assert capsys.readouterr().err == "ulmus: The kernel has few directions.\n"
    assert main(["info", "x", "--quiet"]) == 0
    assert capsys.readouterr().err == ""


def test_too_little_memory_is_a_sentence(refused, monkeypatch):
    def large(options):
        raise MemoryError

    monkeypatch.setattr("ulmus.cli.supervised.info", large)
    assert "not enough memory" in refused("info", "x")


def test_bench_is_a_table_of_four(capsys):
    assert main(["bench", "--rows", "300", "--units", "40"]) == 0
    printed = capsys.readouterr()
    heading, *lines = printed.out.splitlines()
    assert heading.split()[-2:] == ["×", "least"]
    assert len(lines) == 4
    assert lines[0].split()[-1] == "1.0"
    assert "cores" in printed.err
    assert main(["bench", "--rows", "300", "--units", "40", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["seconds"]) == 4


def test_a_table_that_does_not_fit_is_told_line_by_line():
    headings, rows = ("name", "rows", "what it is"), [("iris", 150, "flowers"), ("wine", 8, "")]
    assert printing.table(headings, rows, 80) == [
        "name  rows  what it is",
        "iris   150  flowers",
        "wine     8",
    ]
    assert printing.table(headings, rows, 20) == [
        "iris",
        "  rows: 150",
        "  what it is:",
        "  flowers",
        "wine",
        "  rows  8",
    ]


def test_a_pipe_has_no_end_and_a_terminal_has(monkeypatch):
    monkeypatch.delenv("COLUMNS")
    assert printing.width() == 10_000
    monkeypatch.setenv("COLUMNS", "5")
    assert printing.width() == 20
    assert printing.wrapped("one two three", 7) == ["one two", "three"]
    assert printing.wrapped("a-very-long-word to break", 6) == ["a-very-long-word", "to", "break"]


@pytest.mark.parametrize("columns", ["40", "200"])
def test_the_list_of_data_sets_fits_the_terminal(capsys, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    assert main(["data", "list"]) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= int(columns)


def test_tables_align_whatever_the_letters():
    lines = table(("city", "rows"), [("東京", "12"), ("Rome", "3"), ("Ze\u0301", "4")])
    assert {shown_width(line) for line in lines} == {10}
    lines = facts([("東京", "x"), ("a", "y")])
    assert [shown_width(line) for line in lines] == [7, 7]
