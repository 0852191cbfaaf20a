"""Small tables, and what every refusal has in common."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from ulmus.cli import main

COLUMNS = ("sepal_length", "sepal_width", "petal_length", "petal_width")


def write(path, headings, rows):
    lines = [",".join(headings), *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(autouse=True)
def wide(monkeypatch, tmp_path):
    """A folder to work in, and a terminal of a width that is known."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")


@pytest.fixture
def flowers(tmp_path):
    """Four measures and a kind of 150 flowers; every third row is in new.csv alone."""
    bunch = load_iris()
    kinds = bunch.target_names[bunch.target]
    rows = [(*x, kind) for x, kind in zip(bunch.data, kinds, strict=True)]
    old = [row for k, row in enumerate(rows) if k % 3]
    write(tmp_path / "flowers.csv", (*COLUMNS, "kind"), old)
    write(tmp_path / "new.csv", (*COLUMNS, "kind"), rows[::3])
    return tmp_path


_FITTED = {}


@pytest.fixture
def fit_once(capsys):
    """Fit a file by the command and give the model's path; equal files are fitted once a worker."""

    def run(path, target):
        model, key = path.with_suffix(".ulmus"), (path.read_bytes(), target)
        if key not in _FITTED:
            assert main(["fit", path.name, "--target", target, "--quiet"]) == 0
            capsys.readouterr()
            _FITTED[key] = model.read_bytes()
        model.write_bytes(_FITTED[key])
        return model

    return run


@pytest.fixture
def model(flowers, fit_once):
    """The path of a model of the flowers."""
    return fit_once(flowers / "flowers.csv", "kind")


@pytest.fixture
def prices(tmp_path):
    """A number to learn from a number and a word."""
    rng = np.random.default_rng(0)
    area = rng.uniform(20, 200, 120).round(1)
    city = rng.choice(["Oslo", "Rome"], 120)
    price = (area * np.where(city == "Oslo", 5.0, 3.0) + rng.normal(0, 9, 120)).round(2)
    rows = zip(area, city, price, strict=True)
    return write(tmp_path / "prices.csv", ("area", "city", "price"), rows)


@pytest.fixture
def refused(capsys, tmp_path):
    """Run a command that must fail: one sentence, nothing on standard output, no file left."""

    def run(*arguments, status=1):
        before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
        capsys.readouterr()
        try:
            found = main([str(argument) for argument in arguments])
        except SystemExit as stop:
            found = stop.code
        printed = capsys.readouterr()
        assert found == status
        assert printed.out == ""
        assert "Traceback" not in printed.err
        after = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
        assert after == before
        text = " ".join(printed.err.split())
        if status == 1:
            assert text.startswith("ulmus: ")
            assert text.endswith((".", "?"))
        return text

    return run
