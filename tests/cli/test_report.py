"""`ulmus evaluate --report`: one page, nothing from elsewhere, no cell that is a part of it."""

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser

import numpy as np
import pytest

from cli.conftest import write
from ulmus.cli import main

EVIL = "<script>document.title='broken'</script>"


@pytest.fixture
def hostile(tmp_path):
    """Classes, a column and a city that are HTML."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=80).round(3)
    city = rng.choice(["Oslo", f"{EVIL}&amp;", "$x_1$"], 80)
    kind = np.where(x + 0.5 * rng.normal(size=80) > 0, "<b>up", "down 🙂")
    return write(tmp_path / "odd.csv", ("x", EVIL, "kind"), zip(x, city, kind, strict=True))


def elements(page):
    """Tags and texts of a page."""
    tags, texts = [], []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, _: tags.append(tag)
    parser.handle_data = texts.append
    parser.feed(page)
    return tags, "".join(texts)


def test_rows_that_were_fitted_are_judged_by_folds(model, flowers, capsys):
    assert main(["evaluate", str(model), "flowers.csv", "--report", "r.html", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["report"] == "r.html"
    tags, text = elements((flowers / "r.html").read_text())
    assert "The model was fitted to these rows, so models like it are judged." in text
    # The terminal has the page's score, and that of --folds 5.
    assert f"{printed['accuracy']:.1%} accuracy" in " ".join(text.split()).replace(" %", "%")
    assert main(["evaluate", str(model), "flowers.csv", "--folds", "5", "--json"]) == 0
    folds = json.loads(capsys.readouterr().out)
    assert (folds["accuracy"], folds["folds"]) == (printed["accuracy"], printed["folds"])
    assert "each of 100 rows was predicted by a model that was fitted to the other folds" in text
    for heading in ("Against baselines", "Confusion", "Calibration", "Columns that matter",
                    "Slices where it fails", "Rows that are most wrong"):  # fmt: skip
        assert heading in text
    for name in ("this model, fitted again", "majority class", "linear", "boosting"):
        assert name in text
    assert tags.count("svg") == 3


def test_new_rows_are_judged_as_they_are_and_held_out_ones_say_so(model, flowers):
    assert main(["evaluate", str(model), "new.csv", "--report", "r.html"]) == 0
    assert "Judged by 50 rows that the model was not fitted to." in (flowers / "r.html").read_text()
    options = ["--report", "r.html", "--force", "--holdout", "0.3"]
    assert main(["evaluate", str(model), "flowers.csv", *options]) == 0
    assert "Held out: 30 rows, a random part" in (flowers / "r.html").read_text()


def test_too_few_rows_for_folds_say_so(model, flowers):
    lines = (flowers / "flowers.csv").read_text().splitlines()
    (flowers / "few.csv").write_text("\n".join(lines[:4]) + "\n")
    assert main(["evaluate", str(model), "few.csv", "--report", "r.html"]) == 0
    text = elements((flowers / "r.html").read_text())[1]
    assert "These are rows that the model was fitted to, so the scores are too good." in text
    assert "There are no baselines, as the rows cannot be split: 3 rows are too few" in text


def test_numbers_have_residuals_and_intervals(prices, tmp_path):
    main(["fit", "prices.csv", "--target", "price", "--quiet"])
    options = ["--report", "r.html", "--folds", "2"]
    assert main(["evaluate", "prices.ulmus", "prices.csv", *options]) == 0
    _, text = elements((tmp_path / "r.html").read_text())
    assert "Residuals" in text
    assert re.search(r"90 % intervals hold \d+\.\d %", text)


def test_no_cell_becomes_a_part_of_the_page(hostile, tmp_path):
    main(["fit", "odd.csv", "--target", "kind", "--quiet"])
    assert main(["evaluate", "odd.ulmus", "odd.csv", "--report", "r.html", "--folds", "2"]) == 0
    page = (tmp_path / "r.html").read_text()
    tags, text = elements(page)
    assert not {"script", "b"} & set(tags)
    assert EVIL in text
    assert f"{EVIL}&amp;" in text
    assert "<b>up" in text
    assert "down 🙂" in text
    assert "$x_1$" in text
    assert not re.search(r"https?://(?!www\.w3\.org/)|@import|\bsrc=|url\((?!#)", page)
    assert "default-src 'none'" in page


def test_a_page_that_is_there_or_cannot_be_is_refused(model, refused, tmp_path):
    (tmp_path / "r.html").write_text("mine")
    assert "--force replaces it" in refused("evaluate", model, "new.csv", "--report", "r.html")
    assert "There is no folder" in refused("evaluate", model, "new.csv", "--report", "no/r.html")


@pytest.mark.parametrize("package", ["jinja2", "matplotlib"])
def test_what_is_missing_is_said_before_any_work(model, refused, monkeypatch, package):
    monkeypatch.setitem(__import__("sys").modules, package, None)
    said = refused("evaluate", model, "new.csv", "--report", "r.html")
    assert f"needs {package}: pip install 'ulmus[cli]'" in said


# A window is never narrower than 500 pixels, a frame in it may be.
FRAME = """<iframe width={width} height=700 src="r.html" style="border:0" onload="
const inner = this.contentWindow, page = this.contentDocument, root = page.documentElement;
const seen = {{ wide: root.scrollWidth, inner: inner.innerWidth, title: page.title,
  paper: inner.getComputedStyle(page.body).backgroundColor,
  ink: inner.getComputedStyle(page.querySelector('svg text')).fill,
  charts: [...page.querySelectorAll('svg')].map((e) => e.getBoundingClientRect().width > 100),
  scripts: page.querySelectorAll('script').length }};
document.body.replaceChildren(Object.assign(document.createElement('p'),
  {{ textContent: JSON.stringify(seen) }}));
"></iframe>"""


@pytest.mark.browser
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_fits_wide_and_narrow_light_and_dark(hostile, tmp_path, width, dark):
    main(["fit", "odd.csv", "--target", "kind", "--quiet"])
    main(["evaluate", "odd.ulmus", "odd.csv", "--report", "r.html", "--holdout", "0.3", "--quiet"])
    (tmp_path / "frame.html").write_text(FRAME.format(width=width), encoding="utf-8")
    style = ["--blink-settings=preferredColorScheme=0"] if dark else []
    made = subprocess.run(
        [shutil.which("chromium"), "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--allow-file-access-from-files", f"--user-data-dir={tmp_path / 'user'}", *style,
         "--window-size=1400,900", "--virtual-time-budget=5000", "--dump-dom",
         (tmp_path / "frame.html").as_uri()],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    seen = json.loads(re.search(r"<p>(.*?)</p>", made.stdout, re.S)[1])
    assert seen["wide"] <= seen["inner"] == width
    assert seen["title"] == "kind: how good the model is"
    assert seen["charts"] == [True] * 3
    assert seen["scripts"] == 0
    colours = ["rgb(21, 23, 26)", "rgb(164, 170, 180)"]
    assert [seen["paper"], seen["ink"]] == (
        colours if dark else ["rgb(255, 255, 255)", "rgb(86, 92, 102)"]
    )
