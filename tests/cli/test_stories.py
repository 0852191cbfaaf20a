"""Twelve people with a file, each of whom ends with the file or the answer that they wanted.

Files are made here, in the shape of real ones. Everything is done by commands.
"""

import csv
import io
import json
import sys

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from PIL import Image

from cli.conftest import write
from ulmus.cli import main

RNG = np.random.default_rng(22)


@pytest.fixture
def run(capsys):
    """Run a command that must succeed; what it printed and what it said."""

    def run(*arguments):
        capsys.readouterr()
        assert main([str(argument) for argument in arguments]) == 0
        printed = capsys.readouterr()
        return printed.out, printed.err

    return run


def read(path):
    return list(csv.DictReader(io.StringIO(path.read_text())))


def test_a_file_without_a_header(flowers, run):
    lines = (flowers / "flowers.csv").read_text().splitlines()[1:]
    (flowers / "iris.data").write_text("\n".join(lines[:90]) + "\n\n")
    _, said = run("fit", "iris.data", "--target", "column_5")
    assert "taken as data" in said
    run("predict", "iris.ulmus", "iris.data", "--append", "--out", "joined.csv")
    rows = read(flowers / "joined.csv")
    assert len(rows) == 90
    assert np.mean([row["prediction"] == row["column_5"] for row in rows]) > 0.9


def test_penguins_with_missing_values(tmp_path, run):
    rows = []
    for k in range(120):
        kind, island = (("Adelie", "Dream"), ("Gentoo", "Biscoe"))[k % 2]
        bill = RNG.normal(38 + 10 * (k % 2), 2)
        cells = [
            f"{bill:.1f}",
            f"{RNG.normal(190 + 27 * (k % 2), 5):.0f}",
            "NA" if k % 9 else "male",
        ]
        if k % 7 == 0:
            cells[0] = "NA"
        rows.append((kind, island, *cells))
    names = ("species", "island", "bill_mm", "flipper_mm", "sex")
    write(tmp_path / "penguins.csv", names, rows)
    # The island tells the species alone, which a note says; the bill and the flipper do too.
    _, said = run("fit", "penguins.csv", "--target", "species")
    assert "'island' alone nearly determines 'species'" in said
    _, said = run("fit", "penguins.csv", "--target", "species", "--without", "island", "--force")
    assert "missing values filled by the median" in said
    out, _ = run("evaluate", "penguins.ulmus", "penguins.csv", "--report", "page.html", "--json")
    assert json.loads(out)["accuracy"] > 0.95
    page = (tmp_path / "page.html").read_text()
    assert f"{json.loads(out)['accuracy']:.1%}".replace("%", " %") in page
    assert "each of 120 rows was predicted by a model that was fitted to the other folds" in page


def test_passengers_with_names_and_tickets(tmp_path, run):
    firsts, lasts = (
        ["Ann", "Owen", "Maria", "John", "Lily"],
        ["Braund", "Allen", "Moran", "Palsson"],
    )
    rows = []
    for k in range(160):
        title = ("Mr", "Mrs", "Miss")[k % 3]
        name = f'"{lasts[k % 4]}, {title}. {firsts[k % 5]} {chr(65 + k % 26)}{chr(97 + k % 24)}"'
        lived = int(RNG.random() < (0.1 if title == "Mr" else 0.9))
        rows.append((k + 1, lived, 1 + k % 3, name, f"A/5 {RNG.integers(10_000, 99_999)}"))
    names = ("PassengerId", "Survived", "Pclass", "Name", "Ticket")
    write(tmp_path / "passengers.csv", names, rows)
    _, said = run("fit", "passengers.csv", "--target", "Survived", "-v")
    assert "'Name' is read as text" in said
    assert "left out: is a number of the row" in said
    out, _ = run("evaluate", "passengers.ulmus", "passengers.csv", "--folds", "4", "--json")
    # The title in the name is all there is to know.
    assert json.loads(out)["accuracy"] > 0.8
    run("predict", "passengers.ulmus", "passengers.csv", "--keep", "Name", "--out", "lived.csv")
    first = read(tmp_path / "lived.csv")[0]
    assert list(first) == ["row", "PassengerId", "Name", "prediction", "probability"]


def test_a_bank_file_with_semicolons_and_decimal_commas(tmp_path, run):
    lines = ["Konto;Saldo;Zins;Kunde;Kredit"]
    for k in range(120):
        balance = RNG.normal(0, 4000)
        text = f"{balance:,.2f}".replace(",", "_").replace(".", ",").replace("_", ".")
        good = "ja" if balance + RNG.normal(0, 500) > 0 else "nein"
        rate = f"{RNG.random() * 5:.2f} %".replace(".", ",")
        lines.append(f"{k + 4711};{text};{rate};{'alt' if k % 2 else 'neu'};{good}")
    (tmp_path / "bank.csv").write_bytes("\r\n".join(lines).encode("cp1252"))
    _, said = run("fit", "bank.csv", "--target", "Kredit", "--without", "Konto")
    assert "'Zins' holds numbers in text" in said
    run("predict", "bank.ulmus", "bank.csv", "--keep", "Konto", "--out", "bank.parquet")
    found = pyarrow.parquet.read_table(tmp_path / "bank.parquet").to_pydict()
    assert found["Konto"][:2] == [4711, 4712]
    truth = [line.rpartition(";")[2] for line in lines[1:]]
    assert np.mean([a == b for a, b in zip(found["prediction"], truth, strict=True)]) > 0.85


def test_sales_with_dates(tmp_path, run):
    days = np.datetime64("2021-01-01") + np.arange(420)
    weekday = (np.arange(420) + 4) % 7
    sales = 100 + 60 * (weekday >= 5) + RNG.normal(0, 4, 420)
    shown = [str(day) if k % 2 else f"{day:}".replace("-", "/") for k, day in enumerate(days)]
    write(tmp_path / "sales.csv", ("day", "sales"), zip(shown, sales.round(1), strict=True))
    _, said = run("fit", "sales.csv", "--target", "sales")
    assert "'day' holds dates" in said
    out, _ = run("evaluate", "sales.ulmus", "sales.csv", "--time", "day", "--json")
    assert json.loads(out)["r2"] > 0.8
    coming = [str(np.datetime64("2022-02-25") + k) for k in range(7)]
    write(tmp_path / "coming.csv", ("day",), [(day,) for day in coming])
    run("predict", "sales.ulmus", "coming.csv", "--interval", "80", "--append", "--out", "plan.csv")
    plan = read(tmp_path / "plan.csv")
    assert [row["day"] for row in plan] == coming
    # The first day is a Friday, the next two are the weekend.
    order = np.argsort([-float(row["prediction"]) for row in plan])
    assert set(order[:2].tolist()) == {1, 2}
    assert all(float(row["lower"]) < float(row["upper"]) for row in plan)


def test_support_tickets_with_text(tmp_path, run):
    about = {
        "billing": ["the invoice is wrong", "I was charged twice", "please refund the payment"],
        "login": ["cannot sign in", "the password link expired", "my account is locked"],
    }
    rows = []
    for k in range(120):
        queue = list(about)[k % 2]
        words = " and ".join(RNG.choice(about[queue], 2))
        rows.append((f'"Hello, {words}. Ticket of the week {k}"', queue))
    write(tmp_path / "tickets.csv", ("text", "queue"), rows[:90])
    write(tmp_path / "new.csv", ("text",), [row[:1] for row in rows[90:]])
    run("fit", "tickets.csv", "--target", "queue")
    run("predict", "tickets.ulmus", "new.csv", "--append", "--out", "queues.jsonl")
    found = [json.loads(line) for line in (tmp_path / "queues.jsonl").read_text().splitlines()]
    truth = [row[1] for row in rows[90:]]
    assert np.mean([row["prediction"] == q for row, q in zip(found, truth, strict=True)]) > 0.9
    assert found[0]["text"].startswith("Hello, ")


def test_a_folder_of_images(tmp_path, run):
    for k in range(24):
        folder = tmp_path / ("seen" if k < 16 else "new") / ("bright", "dark")[k % 2]
        folder.mkdir(parents=True, exist_ok=True)
        pixels = RNG.normal(70 if k % 2 else 180, 10, (6, 6)).clip(0, 255).astype(np.uint8)
        Image.fromarray(pixels).save(folder / f"img{k:02}.png")
    run("fit", "seen")
    run("predict", "seen.ulmus", "new", "--out", "shades.csv")
    rows = read(tmp_path / "shades.csv")
    assert [row["file"] for row in rows] == sorted(row["file"] for row in rows)
    assert all(row["file"].startswith(row["prediction"]) for row in rows)


def test_a_large_parquet_with_a_bar(tmp_path, run, monkeypatch):
    def rows(n):
        x = RNG.normal(size=(n, 3))
        kind = np.where(x[:, 0] > 0, "up", "down")
        return {"visit_id": np.arange(n) + 10**12, "x": x[:, 0], "y": x[:, 1], "kind": kind}

    pyarrow.parquet.write_table(pyarrow.table(rows(300)), tmp_path / "some.parquet")
    pyarrow.parquet.write_table(pyarrow.table(rows(120_000)), tmp_path / "all.parquet")
    run("fit", "some.parquet", "--target", "kind")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    _, said = run("predict", "some.ulmus", "all.parquet", "--out", "found.parquet")
    assert "50,000 of 120,000 rows" in said
    found = pyarrow.parquet.read_table(tmp_path / "found.parquet")
    assert found.column_names == ["row", "visit_id", "prediction", "probability"]
    assert found["visit_id"][-1].as_py() == 10**12 + 119_999


def test_blank_targets(flowers, run):
    lines = (flowers / "flowers.csv").read_text().splitlines()
    few = [line if k % 5 == 0 else line.rpartition(",")[0] + "," for k, line in enumerate(lines)]
    (flowers / "few.csv").write_text("\n".join(few) + "\n")
    _, said = run("fit", "few.csv", "--target", "kind")
    assert "80 of 100 rows have no 'kind': the fit is semi-supervised" in said
    run("predict", "few.ulmus", "few.csv", "--append", "--out", "filled.csv")
    assert all(row["prediction"] for row in read(flowers / "filled.csv"))


def test_numbers_with_intervals(prices, tmp_path, run):
    run("fit", "prices.csv", "--target", "price")
    run("predict", "prices.ulmus", "prices.csv", "--interval", "90", "--append", "--out", "p.csv")
    rows = read(tmp_path / "p.csv")
    held = [float(row["lower"]) <= float(row["price"]) <= float(row["upper"]) for row in rows]
    assert np.mean(held) > 0.85
    out, _ = run("explain", "prices.ulmus", "prices.csv", "--rows", "1")
    assert "row 1: " in out


def test_a_leaky_file(tmp_path, run):
    rows = []
    for k in range(120):
        churned = RNG.random() < 0.4
        reason = RNG.choice(["price", "moved"]) if churned else "none"
        rows.append((5000 + k, *RNG.normal(size=2).round(2), reason, ("no", "yes")[int(churned)]))
    write(tmp_path / "churn.csv", ("account", "calls", "months", "reason", "churn"), rows)
    _, said = run("fit", "churn.csv", "--target", "churn")
    assert "'reason' alone nearly determines 'churn'" in said
    assert "'account' counts the rows from 5000 on" in said
    run("fit", "churn.csv", "--target", "churn", "--without", "reason,account", "--force")
    out, _ = run("evaluate", "churn.ulmus", "churn.csv", "--folds", "4", "--json")
    # Without the leak there is nothing to be known.
    assert json.loads(out)["accuracy"] < 0.75
    run("info", "churn.ulmus", "--card", "churn.md")
    card = (tmp_path / "churn.md").read_text()
    assert "By five folds: accuracy" in card
    assert "reason" not in card


def test_a_hostile_file(tmp_path, run, refused):
    text = '=cmd(),note,note\n1,"=HYPERLINK(""x"")",a\n2,b\nc\n3,"@SUM(1)",b,extra\n'
    text += "".join(f"{k},row {k % 3},{'ab'[k % 2]}\n" for k in range(4, 60))
    (tmp_path / "hostile.csv").write_text(text)
    assert "--skip-bad-lines" in refused("fit", "hostile.csv", "--target", "note_2")
    _, said = run("fit", "hostile.csv", "--target", "note_2", "--skip-bad-lines")
    assert "3 bad lines skipped" in said
    run("predict", "hostile.ulmus", "hostile.csv", "--skip-bad-lines", "--append", "--out", "h.csv")
    rows = list(csv.reader(io.StringIO((tmp_path / "h.csv").read_text())))
    assert not any(cell.startswith(("=", "@")) for row in rows for cell in row)
    assert [row[0] for row in rows[1:3]] == ["1", "5"]


# ---------------------------------------------------------------- interrupts
@pytest.mark.parametrize("name", ["out.csv", "out.jsonl", "out.parquet"])
def test_an_interrupt_while_a_file_is_written_leaves_none(
    model, flowers, capsys, monkeypatch, name
):
    drafts = []

    def stopped(*_):
        drafts.extend(path.name for path in flowers.glob(f".{name}-*.part"))
        raise KeyboardInterrupt

    for function in ("cell_texts", "plain_values", "write_parquet"):
        monkeypatch.setattr(f"ulmus.cli.results.{function}", stopped)
    before = {path.name for path in flowers.iterdir()}
    # Without text there are no formulas to look for before the file is begun.
    assert main(["predict", str(model), "new.csv", "--out", name, "--raw"]) == 130
    assert capsys.readouterr().err.endswith("ulmus: stopped\n")
    assert len(drafts) == 1
    assert {path.name for path in flowers.iterdir()} == before
