"""A person with a file and no Python: fit, predict, draw."""

import csv
import io
import shlex

from ulmus.cli import main


def test_fit_predict_and_draw(flowers, capsys):
    assert main(["fit", "flowers.csv", "--target", "kind"]) == 0
    fitted = capsys.readouterr()
    assert fitted.err == ""
    command = shlex.split(fitted.out.splitlines()[-3])
    assert command == ["ulmus", "predict", "flowers.ulmus", "NEW.csv"]
    for word in ("ELMClassifier", "on left-out rows", "seconds", "setosa"):
        assert word in fitted.out

    assert main(["predict", "flowers.ulmus", "new.csv"]) == 0
    predicted = capsys.readouterr()
    found = [row["prediction"] for row in csv.DictReader(io.StringIO(predicted.out))]
    truth = [row["kind"] for row in csv.DictReader(io.StringIO((flowers / "new.csv").read_text()))]
    assert sum(a == b for a, b in zip(found, truth, strict=True)) >= 47
    assert predicted.err.splitlines()[-1].strip() == "ulmus evaluate flowers.ulmus new.csv"

    assert main(["embed", "flowers.csv", "--plot", "--color", "kind"]) == 0
    assert capsys.readouterr().out == "A map of 100 rows: flowers-map.png\n"
    assert (flowers / "flowers-map.png").read_bytes().startswith(b"\x89PNG")
    names = {path.name for path in flowers.iterdir()}
    assert names == {"flowers.csv", "new.csv", "flowers.ulmus", "flowers-map.png"}
