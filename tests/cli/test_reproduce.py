"""`ulmus reproduce`, from the command to the report, on data that every machine has."""

import json

import pytest

from papers.protocol import cases, load, names
from papers.store import locked
from surroundings import make_read_only
from ulmus.cli import main


@pytest.fixture(autouse=True)
def nowhere(monkeypatch, tmp_path):
    """Neither files, nor a cache, nor a network."""
    monkeypatch.delenv("ULMUS_DATA", raising=False)
    monkeypatch.setenv("ULMUS_MIRROR", "http://127.0.0.1:9")
    monkeypatch.setenv("ULMUS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("no_proxy", "*")


@pytest.mark.slow
def test_a_figure_from_end_to_end(tmp_path, capsys):
    out = tmp_path / "out"
    assert main(["reproduce", "0-figure-4", "--quick", "--out", str(out), "--jobs", "1"]) == 0
    printed = capsys.readouterr()
    assert "report.html" in printed.out.splitlines()[-1]
    found = json.loads((out / "results.json").read_text())
    (figure,) = found["tables"]
    assert figure["quick"]
    points = figure["rows"][0]["points"]["US-ELM"]["ACC"]
    assert [x for x, *_ in points] == [1, 4, 7, 10]
    assert all(33 < mean <= 100 for _, mean, *_ in points)
    assert "quick" in (out / "report.md").read_text().lower()
    assert "<svg" in (out / "report.html").read_text()
    # Again: nothing is run, and the report is the same.
    before = (out / "report.md").read_text()
    assert main(["reproduce", "0-figure-4", "--quick", "--out", str(out), "--jobs", "1"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("0 runs")
    assert (out / "report.md").read_text() == before


def test_the_list(capsys):
    assert main(["reproduce", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == names()


def test_without_a_clone_the_command_says_how_to_get_one(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr("ulmus.__file__", str(tmp_path / "site-packages" / "ulmus" / "__init__.py"))
    assert main(["reproduce", "--list"]) == 1
    assert "pip install --editable '.[papers]'" in capsys.readouterr().err


def test_an_unknown_table_suggests_the_nearest(tmp_path, capsys):
    assert main(["reproduce", "0-tabel-2", "--out", str(tmp_path / "out")]) == 1
    assert "did you mean '0-table-2'" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_neither_data_nor_network(tmp_path, capsys):
    assert main(["reproduce", "2-table-4", "--quick", "--out", str(tmp_path / "out")]) == 1
    error = capsys.readouterr().err
    assert "ULMUS_DATA" in error
    assert not (tmp_path / "out" / "report.html").exists()


def test_another_run_in_the_folder(tmp_path, capsys):
    with locked(tmp_path):
        assert main(["reproduce", "0-figure-4", "--quick", "--out", str(tmp_path)]) == 1
    assert "Another run" in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_to(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main(["reproduce", "0-figure-4", "--quick", "--out", str(tmp_path / "file")]) == 1
    assert "--out" in capsys.readouterr().err


def test_a_read_only_folder(tmp_path, capsys, monkeypatch):
    make_read_only(tmp_path, monkeypatch)
    assert main(["reproduce", "0-figure-4", "--quick", "--out", str(tmp_path / "out")]) == 1
    assert "--out" in capsys.readouterr().err


@pytest.mark.parametrize("jobs", ["0", "-1", "two"])
def test_jobs_are_counted_from_one(jobs, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["reproduce", "--jobs", jobs])
    assert stop.value.code == 2


@pytest.mark.parametrize("name", names())
def test_every_file_is_read_and_has_runs(name):
    protocol = load(name)
    full, quick = list(cases(protocol)), list(cases(protocol, quick=True))
    assert len({case.key for case in full}) == len(full), "no two runs have one name"
    assert bool(quick) == any(not row.absent for row in protocol.rows)
    assert len(quick) <= len(full)
    if protocol.axis is None:
        assert any(method.role == "proposed" for method in protocol.methods)
    for case in full[:1]:
        assert callable(__import__(case.evaluator, fromlist=["run"]).run)


def test_all_of_the_papers_are_there():
    wanted = [f"0-table-{n}" for n in (2, 3, 5, 6)]
    wanted += [f"0-figure-{n}" for n in (1, 2, 4, 5, 6, 7, 8, 9, 10, 12)]
    wanted += [f"1-table-{n}" for n in range(2, 8)] + [f"1-figure-2-{p}" for p in "abcd"]
    wanted += [f"{paper}-table-{n}" for paper in (2, 3) for n in (2, 3, 4)]
    wanted += [f"4-figure-{n}" for n in range(2, 10)] + [f"4-table-{n}" for n in (2, 3, 4)]
    assert set(wanted) == set(names())
