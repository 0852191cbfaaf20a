"""The labelling page in headless Chromium: what a person does, sees and takes away.

Run by ``make browser``, which says so where Chromium is not there.
"""

import csv
import os
import re
import signal

import numpy as np
import onnxruntime
import pytest
from sklearn.datasets import load_digits

from tools.labelling import LabelPage, browser, labelling
from ulmus.cli import main

pytestmark = pytest.mark.browser
HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def chromium():
    with browser() as found:
        yield found


@pytest.fixture
def window(chromium):
    """A window whose every request stays on this machine, and in which no script fails."""
    context = chromium.new_context(viewport={"width": 1280, "height": 800})
    asked, broken = [], []
    context.on("request", lambda request: asked.append(request.url))
    context.on("weberror", lambda error: broken.append(str(error.error)))
    context.on("console", lambda said: broken.append(said.text) if said.type == "error" else None)
    yield context
    context.close()
    assert all(re.match(r"http://127\.0\.0\.1:\d+/", url) for url in asked)
    # A window whose server has stopped goes on asking for it.
    assert [words for words in broken if "net::ERR_" not in words] == []


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    X, y = load_digits(return_X_y=True)
    path = tmp_path_factory.mktemp("digits") / "digits.npz"
    np.savez(path, X=X)
    return path, y


@pytest.fixture
def small(tmp_path):
    """Two groups of rows with hostile text."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2)) + np.repeat([[0.0], [7.0]], 30, axis=0)
    lines = [f'{a:.4f},{b:.4f},"{HOSTILE}"' for a, b in X]
    path = tmp_path / "small.csv"
    path.write_text("\n".join([f'length,"{HOSTILE}",remark', *lines]) + "\n")
    return path


def test_five_labels_a_digit_colour_all_and_the_exported_model_agrees(
    digits, window, tmp_path, capsys
):
    data, y = digits
    rng = np.random.default_rng(0)
    with labelling(data, "--image-shape", "8x8", "--quiet") as running:
        page = LabelPage.opened(window, running.url)
        for k in range(10):
            page.add_class(f"digit {k}")
        for k in range(10):
            for row in rng.choice(np.flatnonzero(y == k), 5, replace=False):
                page.select(int(row))
                version = page.give(k)
                page.page.locator(f"html[data-version='{version}']").wait_for(state="attached")
        page.settled(version)
        found = np.array(page.codes)
        assert np.mean(found == y) >= 0.93
        files = {}
        for k, name in enumerate(("labels.csv", "model.ulmus", "model.onnx")):
            with page.page.expect_download(timeout=0) as download:
                page.page.locator("#exports a").nth(k).click()
            assert download.value.suggested_filename == name
            files[name] = tmp_path / name
            download.value.save_as(files[name])
    with files["labels.csv"].open() as stream:
        rows = list(csv.DictReader(stream))
    assert [row["class"] for row in rows] == [f"digit {code}" for code in found]
    assert sum(row["labelled by"] == "person" for row in rows) == 50
    capsys.readouterr()
    assert main(["predict", str(files["model.ulmus"]), str(data), "--quiet"]) == 0
    table = csv.DictReader(capsys.readouterr().out.splitlines())
    predicted = [row["prediction"] for row in table]
    assert np.mean([a == row["class"] for a, row in zip(predicted, rows, strict=True)]) >= 0.99
    X = np.load(data)["X"]
    run = onnxruntime.InferenceSession(files["model.onnx"])
    (given,) = run.get_inputs()
    kind = np.float64 if "double" in given.type else np.float32
    labels = np.ravel(run.run(None, {given.name: X.astype(kind)})[0])
    assert np.mean(labels == np.array(predicted)) >= 0.999


def test_two_windows_stay_in_step_and_a_kill_loses_nothing(small, window):
    with labelling(small, "--quiet") as running:
        one, two = (LabelPage.opened(window, running.url) for _ in range(2))
        one.add_class("low")
        one.add_class("high")
        two.page.locator("#classes li").nth(1).wait_for()
        one.select(0)
        one.give(0)
        one.page.locator("html[data-version='3']").wait_for(state="attached")
        two.select(59)
        version = two.give(1)
        for page in (one, two):
            page.settled(version)
            assert page.codes == [0] * 30 + [1] * 30
        one.page.keyboard.press("Control+z")
        two.settled(version + 1)
        two.page.keyboard.press("r")
        one.settled(version + 2)
        os.kill(running.process.pid, signal.SIGKILL)
        running.process.wait()
        one.page.locator("#hint.bad").wait_for()
    with labelling(small, "--quiet") as running:
        page = LabelPage.opened(window, running.url)
        page.settled(version + 2)
        assert page.codes == [0] * 30 + [1] * 30
        assert page.page.locator("#undo").is_enabled()


def test_clicks_lasso_hover_and_hostile_text(small, window):
    with labelling(small, "--quiet") as running:
        page = LabelPage.opened(window, running.url)
        sheet = page.page
        page.add_class(HOSTILE)
        page.add_class("other")
        x, y = sheet.evaluate("rowMap.where(3)")
        box = sheet.locator("#map").bounding_box()
        sheet.mouse.move(box["x"] + x, box["y"] + y)
        sheet.locator("#tip").wait_for()
        assert HOSTILE in sheet.locator("#tip").text_content()
        sheet.mouse.click(box["x"] + x, box["y"] + y)
        assert len(page.selected) == 1
        first = page.selected[0]
        sheet.locator("#row td").first.wait_for()
        assert HOSTILE in sheet.locator("#row").text_content()
        page.give(0 if first < 30 else 1)
        sheet.keyboard.press("l")
        corners = [(-0.8, -0.8), (0.8, -0.8), (0.8, 0.8), (-0.8, 0.8)]
        middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        places = [
            (middle[0] + u * box["width"] / 2, middle[1] + v * box["height"] / 2)
            for u, v in corners
        ]
        sheet.mouse.move(*places[0])
        sheet.mouse.down()
        for place in (*places[1:], places[0]):
            sheet.mouse.move(*place, steps=4)
        sheet.mouse.up()
        assert len(page.selected) > 30
        sheet.keyboard.press("Escape")
        assert page.selected == []
        assert sheet.locator("img[onerror]").count() == 0
        assert HOSTILE in sheet.locator("#classes").text_content()
        before = sheet.evaluate("rowMap.scale")
        sheet.mouse.wheel(0, -300)
        sheet.locator("#map").focus()
        sheet.keyboard.press("+")
        assert sheet.evaluate("rowMap.scale") > before


def test_a_mistake_in_the_labels_is_listed_with_accuracy_and_candidates(small, window):
    with labelling(small, "--quiet") as running:
        page = LabelPage.opened(window, running.url)
        page.add_class("low")
        page.add_class("high")
        for row, code in [(0, 0), (4, 0), (8, 0), (12, 0), (59, 1), (50, 1), (45, 1), (20, 1)]:
            page.select(row)
            version = page.give(code)
            page.page.locator(f"html[data-version='{version}']").wait_for(state="attached")
        page.settled(version)
        page.page.locator("#disagree button").first.wait_for()
        said = page.page.locator("#disagree button").first.get_attribute("aria-label")
        assert said.startswith("Go to row 21: labelled high, looks like low")
        assert "19 times of 20" in page.page.locator("#quality").text_content()
        assert page.page.locator("#candidates tbody tr").count() >= 1
        page.page.locator("#quality summary").click()
        page.select(30)
        page.give(1)
        page.page.locator("#quality[data-labels='9']").wait_for()
        assert page.page.locator("#candidates").is_visible()


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_control_has_a_name_and_nothing_scrolls_sideways(chromium, small, width, scheme):
    context = chromium.new_context(
        viewport={"width": width, "height": 800}, color_scheme=scheme, has_touch=width < 500
    )
    with labelling(small, "--quiet") as running:
        page = LabelPage.opened(context, running.url)
        page.add_class("a class with a rather long name that has to be cut somewhere")
        sheet = page.page
        assert sheet.evaluate("document.documentElement.scrollWidth") <= width
        for control in sheet.locator("button, input, a, canvas[tabindex]").all():
            name = control.evaluate(
                "e => e.ariaLabel || (e.labels && e.labels[0]?.textContent) || e.textContent.trim()"
            )
            assert name, control.evaluate("e => e.outerHTML")
        dark = (
            sheet.evaluate("getComputedStyle(document.body).backgroundColor")
            != "rgb(255, 255, 255)"
        )
        assert dark == (scheme == "dark")
    context.close()


def test_all_of_it_works_with_the_keyboard_alone(small, window):
    with labelling(small, "--quiet") as running:
        page = LabelPage.opened(window, running.url)
        keys = page.page.keyboard
        page.add_class("low")
        page.add_class("high")
        seen = set()
        while len(seen) < 2:
            keys.press("n")
            (row,) = page.selected
            version = page.give(0 if row < 30 else 1)
            seen.add(row < 30)
            page.settled(version)
        assert page.codes == [0] * 30 + [1] * 30
        keys.press("u")
        page.settled(version + 1)
        keys.press("r")
        page.settled(version + 2)
        page.select(1)
        page.page.locator("#classes button").first.focus()
        keys.press("Enter")
        page.settled(version + 3)
        focus = page.page.evaluate("document.activeElement.ariaLabel")
        assert focus.startswith("Class low"), "a list that is drawn again keeps the focus"
        reached = set()
        for _ in range(60):
            keys.press("Tab")
            reached.add(
                page.page.evaluate(
                    "document.activeElement.id || document.activeElement.textContent"
                )
            )
        assert {"map", "lasso", "undo", "clear", "class-name", "row-number", "next"} <= reached
        assert "Labels of all rows (CSV)" in reached
