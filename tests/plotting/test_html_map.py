"""One file, no network, and no cell of the data that becomes a part of the page."""

import base64
import json
import re
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from sklearn.datasets import load_iris

from ulmus.exceptions import InvalidInputError
from ulmus.plotting import EmbeddingDisplay
from ulmus.plotting.html_map import html_map, words_of

POINTS = np.array([[0.0, 0.0], [1.0, 0.5], [0.5, 2.0], [0.25, 0.25]])
EVIL = "</script><script>document.title = 'broken'</script>&amp;<!--"
WORDS = ["red", EVIL, None, "red"]


def data_of(page):
    (text,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    return json.loads(text)


def test_places_keep_their_proportions():
    x, y = data_of(html_map(POINTS))["points"]
    assert x == [0, 10_000, 5_000, 2_500]
    assert y == [0, 5_000, 20_000, 2_500]
    assert data_of(html_map(np.ones((3, 2))))["points"] == [[0, 0, 0]] * 2


def test_cells_and_colours_come_back_as_they_were():
    page = html_map(POINTS, cells={EVIL: WORDS}, colours={"shade": WORDS}, title=EVIL + "{{data}}")
    data = data_of(page)
    assert data["cells"] == [{"name": EVIL, "words": WORDS}]
    (colour,) = data["colours"]
    assert [None if k < 0 else colour["names"][k] for k in colour["codes"]] == WORDS
    assert data["title"] == EVIL + "{{data}}"


def test_no_cell_becomes_a_part_of_the_page():
    plain = html_map(POINTS, cells={"a": ["x"] * 4}, title="x")
    page = html_map(POINTS, cells={EVIL: [EVIL] * 4}, colours={EVIL: [EVIL] * 4}, title=EVIL)
    for sign in ("<script", "</script", "<!--"):
        assert page.count(sign) == plain.count(sign)
    assert "innerHTML" not in page


def test_nothing_is_fetched():
    page = html_map(POINTS)
    assert "default-src 'none'" in page
    assert not re.search(r"https?:|//[a-z]|@import|\bsrc=|\bhref=|fetch\(|XMLHttp", page)


def test_rare_words_share_the_last_colour():
    words = [f"word {k % 70}" for k in range(140)] + ["word 3"]
    (colour,) = data_of(html_map(np.random.default_rng(0).normal(size=(141, 2)),
                                 colours={"w": words}))["colours"]  # fmt: skip
    assert len(colour["names"]) == 60
    assert colour["names"][-1] == "11 others"
    shown = [colour["names"][k] for k in colour["codes"]]
    assert all(a in (b, "11 others") for a, b in zip(shown, words, strict=True))
    assert shown.count("word 3") == 3


@pytest.mark.parametrize("shape", [(2, 3), (2, 3, 3)])
def test_pixels_come_back(shape):
    images = np.random.default_rng(0).integers(0, 256, (4, *shape))
    images.flat[:2] = 0, 255
    packed = data_of(html_map(POINTS, images=images))["images"]
    assert (packed["height"], packed["width"], packed["channels"]) == (2, 3, len(shape) * 2 - 3)
    pixels = np.frombuffer(base64.b64decode(packed["pixels"]), dtype=np.uint8)
    assert (pixels == images.ravel()).all()


def test_many_pixels_are_thinned(monkeypatch):
    monkeypatch.setattr("ulmus.plotting.html_map._PIXELS", 100)
    packed = data_of(html_map(POINTS, images=np.zeros((4, 12, 12))))["images"]
    assert (packed["height"], packed["width"]) == (4, 4)


def test_what_does_not_fit_says_so():
    with pytest.raises(InvalidInputError, match="There are 4 points"):
        html_map(POINTS, cells={"a": ["x"]})
    with pytest.raises(InvalidInputError, match="images has shape"):
        html_map(POINTS, images=np.zeros((4, 9)))


def test_words_of_cells():
    assert words_of(np.array([1.5, 2.0, np.nan]), np.array([True, True, False])) == [
        "1.5",
        "2",
        None,
    ]


def test_a_display_writes_its_page(tmp_path):
    frame = load_iris(as_frame=True).frame.iloc[::5]
    labels = np.where(np.arange(len(frame)) % 3, frame["target"], -1)
    display = EmbeddingDisplay.from_rows(
        frame.to_numpy(), labels, random_state=0, ax=Figure().subplots()
    )
    display.save_html(tmp_path / "map.html", frame, label_name="kind", title="Iris")
    data = data_of((tmp_path / "map.html").read_text(encoding="utf-8"))
    assert [column["name"] for column in data["cells"]] == frame.columns.tolist()
    assert data["cells"][0]["words"][0] == "5.1"
    assert data["colours"][0]["name"] == "kind"
    assert (np.array(data["colours"][0]["codes"]) == labels).all()
    pixels = np.arange(len(frame) * 6.0).reshape(len(frame), 6)
    display.save_html(tmp_path / "map.html", pixels, image_shape=(2, 3))
    assert data_of((tmp_path / "map.html").read_text(encoding="utf-8"))["images"]["width"] == 3
    display.save_html(tmp_path / "map.html", {"a": pd.Series(["x", None] * 15)})
    assert (
        data_of((tmp_path / "map.html").read_text(encoding="utf-8"))["cells"][0]["words"][1] is None
    )


HOVERED = """<script>
const seen = { title: document.title, heading: document.querySelector("h1").textContent };
const there = plane.getBoundingClientRect(), [x, y] = screen(1);
const place = { clientX: there.left + x, clientY: there.top + y, bubbles: true };
plane.dispatchEvent(new PointerEvent("pointermove", place));
seen.row = [...document.querySelectorAll("#row strong, #row dd")].map((e) => e.textContent);
seen.pictures = document.querySelectorAll("#row canvas").length;
seen.inside = box.getBoundingClientRect().right <= innerWidth;
seen.legend = [...document.querySelectorAll("#legend span")].map((e) => e.textContent);
const before = view.scale;
plane.dispatchEvent(new WheelEvent("wheel", { deltaY: -200, ...place }));
seen.zoomed = view.scale / before;
seen.stays = Math.hypot(screen(1)[0] - x, screen(1)[1] - y) < 1;
document.querySelector("#legend button").click();
seen.hidden = nearest(screen(0)[0], screen(0)[1], 5);
seen.wide = document.documentElement.scrollWidth; seen.inner = innerWidth;
draw();
seen.drawn = pen.getImageData(0, 0, plane.width, plane.height).data.some((v) => v > 0);
document.body.replaceChildren(made("p", JSON.stringify(seen)));
</script>"""

# A window is never narrower than 500 pixels, a frame in it may be.
FRAME = """<iframe width={width} height=700 src="map.html" style="border:0" onload="
const found = this.contentDocument.querySelector('p').textContent;
document.body.replaceChildren();
document.body.append(Object.assign(document.createElement('p'), {{ textContent: found }}));
"></iframe>"""


@pytest.mark.browser
@pytest.mark.parametrize("width", [390, 1280])
def test_hovering_shows_the_row(width, tmp_path):
    page = html_map(
        POINTS, cells={"cell": WORDS}, colours={"shade": WORDS}, images=np.zeros((4, 8, 8)),
        title=EVIL,
    )  # fmt: skip
    (tmp_path / "map.html").write_text(page.replace("</body>", HOVERED + "</body>"), "utf-8")
    (tmp_path / "frame.html").write_text(FRAME.format(width=width), "utf-8")
    made = subprocess.run(
        [shutil.which("chromium"), "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--allow-file-access-from-files", f"--user-data-dir={tmp_path / 'user'}",
         "--window-size=1400,900", "--virtual-time-budget=5000", "--dump-dom",
         (tmp_path / "frame.html").as_uri()],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    text = re.search(r"<p>(.*?)</p>", made.stdout, re.S)[1]
    for sign, entity in (("<", "&lt;"), (">", "&gt;"), ("&", "&amp;")):
        text = text.replace(entity, sign)
    seen = json.loads(text)
    assert seen["title"] == seen["heading"] == EVIL
    assert seen["row"] == ["row 2", EVIL, EVIL]
    assert seen["pictures"] == 1
    assert sorted(seen["legend"]) == sorted([EVIL, "red", "no value"])
    assert seen["zoomed"] > 1.2
    assert seen["stays"]
    assert seen["inside"]
    assert seen["hidden"] in (-1, 0)
    assert seen["drawn"]
    assert seen["wide"] <= seen["inner"] == width
