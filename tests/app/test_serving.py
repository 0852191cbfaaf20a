"""`ulmus serve`: what is asked over HTTP is what `predict` gives; bad requests get a reason."""

import csv
import io
import json
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from copy import copy
from pathlib import Path

import numpy as np
import pytest

import ulmus
from app.asking import ask
from tools.labelling import browser
from ulmus.app.serving import application
from ulmus.tables import Table, fit_table

HERE = Path(__file__).parents[2]


def table(n=80, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    city = rng.choice(np.array(["Oslo", "Rome", None], dtype=object), n)
    y = np.where(x > 0, "up", "down").astype(object)
    return Table(("x", "city", "y"), {"x": x, "city": city, "y": y})


@pytest.fixture(scope="module")
def model():
    return fit_table(table(), "y")


@pytest.fixture(scope="module")
def server(model, tmp_path_factory):
    """The address of a server of the model, stopped by an interrupt."""
    path = tmp_path_factory.mktemp("served") / "m.ulmus"
    ulmus.save(model, path)
    command = [sys.executable, "-m", "ulmus", "serve", str(path), "--quiet"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, cwd=HERE, text=True) as process:
        yield process.stdout.readline().strip()
        process.send_signal(signal.SIGINT)
        _, said = process.communicate()
    assert (process.returncode, said) == (0, "")


def asked(address, body=None, **headers):
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    request = urllib.request.Request(address, data=body, headers=headers)
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def rows_of(data):
    x, city = data["x"].tolist(), data["city"].tolist()
    return [{"x": a, "city": b} for a, b in zip(x, city, strict=True)]


@pytest.mark.parametrize("n", [1, 5, 200])
def test_json_gets_what_predict_gives(server, model, n):
    new = table(n, seed=1)
    body = json.dumps({"rows": rows_of(new)}).encode()
    status, text = asked(f"{server}predict", body, content_type="application/json")
    found = json.loads(text)
    assert status == 200
    assert found["prediction"] == model.predict(new).tolist()
    P = np.column_stack([found[f"probability of {name}"] for name in ("down", "up")])
    assert found["probability"] == P.max(axis=1).tolist()
    assert np.allclose(P, model.predict_proba(new), atol=1e-12)


def test_csv_gets_csv(server, model):
    new = table(6, seed=2)
    lines = ["city,x", *(f"{row['city'] or ''},{row['x']!r}" for row in rows_of(new))]
    body = "\n".join(lines).encode()
    status, text = asked(f"{server}predict", body, content_type="text/csv", accept="text/csv")
    assert status == 200
    found = [row["prediction"] for row in csv.DictReader(io.StringIO(text))]
    assert found == model.predict(new).tolist()


def test_health_page_and_openapi(server):
    assert json.loads(asked(f"{server}health")[1]) == {
        "status": "ok", "target": "y", "task": "classification",
    }  # fmt: skip
    schema = json.loads(asked(f"{server}openapi.json")[1])
    body = schema["paths"]["/predict"]["post"]["requestBody"]["content"]["application/json"]
    row = body["schema"]["properties"]["rows"]["items"]
    assert row["required"] == ["x", "city"]
    status, page = asked(server)
    assert status == 200
    assert "<code>city</code>" in page
    assert "script" not in page


@pytest.mark.parametrize(("path", "status"), [("predict", 405), ("predictions", 404)])
def test_another_path_or_method_is_told_where_rows_go(server, path, status):
    found, text = asked(f"{server}{path}")
    assert found == status
    assert json.loads(text) == {"error": "Rows are sent by POST to /predict; GET / says how."}


def test_names_are_text_on_the_page(model):
    hostile = copy(model)
    hostile.target = "<b>$example</b>"
    page = ask(application(hostile), "/", token="").body.decode()
    assert "<h1>Predictions of &lt;b&gt;$example&lt;/b&gt;</h1>" in page
    assert "<p >" in page, "a classifier has sets"


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        (b"", "is not JSON such as"),
        (b"[" * 100_000, "is not JSON such as"),
        (b'{"rows": 5}', "is not JSON such as"),
        (b'{"rows": []}', "no rows"),
        (b'{"rows": [{"x": 1}]}', "'city' is missing"),
        (b'{"rows": [{"x": "one", "city": "Oslo"}]}', "'one'"),
        (b'{"rows": [{"x": [1], "city": "Oslo"}]}', "has a list"),
    ],
)
def test_requests_that_cannot_be_used_say_why(server, body, complaint):
    status, text = asked(f"{server}predict", body, content_type="application/json")
    assert status == 422
    assert complaint in json.loads(text)["error"]


def test_errors_of_csv_do_not_advise_the_command_line(server):
    for body in (
        b"x,city\n1,Oslo,more\n2,Rome\n",
        b"x;city\n1;Oslo\n2\n",
        b"\xff\x00\x81",
        b"x,city\n",
    ):
        status, text = asked(f"{server}predict", body, content_type="text/csv")
        assert status == 422
        assert "--" not in text
        assert "Send CSV in UTF-8 with the columns' names in its first row." in text


def test_requests_to_another_name_are_refused(server):
    host = server.split("/")[2]
    for name in ("evil.example", f"evil.example:{host.split(':')[1]}", "127.0.0.1"):
        assert asked(f"{server}health", host=name)[0] == 421
    for name in (host, f"localhost:{host.split(':')[1]}"):
        assert asked(f"{server}health", host=name)[0] == 200


def test_intervals_are_asked_for_by_a_query(model):
    x = np.random.default_rng(0).normal(size=60)
    numbers = fit_table(Table(("x", "y"), {"x": x, "y": 2 * x}), "y")
    rows, new = [{"x": 0.5}, {"x": -1.0}], Table(("x",), {"x": np.array([0.5, -1.0])})
    found = ask(
        application(numbers), "/predict", body={"rows": rows}, token="", query="interval=90"
    )
    expected = numbers.estimator.predict_interval(numbers.matrix(new), coverage=0.9)
    assert found.status == 200
    assert list(found.json) == ["prediction", "lower", "upper"]
    assert found.json["lower"] == expected[:, 0].tolist()
    for query in ("interval=x", "interval=100"):
        bad = ask(application(numbers), "/predict", body={"rows": rows}, token="", query=query)
        assert (bad.status, "between 0 and 100" in bad.json["error"]) == (422, True)
    row = {"rows": [{"x": 1.0, "city": "Oslo"}]}
    found = ask(application(model), "/predict", body=row, token="", query="interval=90")
    assert list(found.json) == ["prediction", "probability", "set"]


def test_models_from_few_labels_have_no_sets():
    x = np.linspace(-1, 1, 80)
    label = np.where(np.arange(80) % 4, None, np.where(x > 0, "up", "down")).astype(object)
    few = fit_table(Table(("x", "label"), {"x": x, "label": label}), "label")
    row = {"rows": [{"x": 1.0}]}
    bad = ask(application(few), "/predict", body=row, token="", query="interval=90")
    assert "without sets; leave interval out" in bad.json["error"]
    page = ask(application(few), "/", token="").body.decode()
    assert "<p hidden>" in page


def test_requests_that_are_too_large_are_refused(server):
    status, text = asked(f"{server}predict", b"x" * 8_000_001, content_type="application/json")
    assert (status, text) == (413, "The request is too large.\n")
    many = b"x,city\n" + b"1,\n" * 100_001
    status, text = asked(f"{server}predict", many, content_type="text/csv")
    assert status == 422
    assert "100,001 rows are more than 100,000" in text


# ---------------------------------------------------------------- the page
@pytest.fixture(scope="module")
def chromium():
    with browser() as found:
        yield found


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_shows_a_request_that_works(server, chromium, scheme, width):
    window = chromium.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    asked, broken = [], []
    window.on("request", lambda request: asked.append(request.url))
    window.on("weberror", lambda error: broken.append(str(error.error)))
    page = window.new_page()
    page.goto(server)
    assert page.locator("h1").text_content() == "Predictions of y"
    assert page.locator("td code").all_text_contents() == ["x", "city"]
    found = page.evaluate(
        """async () => (await fetch("predict", {method: "POST",
        body: document.querySelector("pre").textContent})).json()"""
    )
    assert found["prediction"][0] in ("up", "down")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    ink = page.evaluate("getComputedStyle(document.body).color")
    assert (ink == "rgb(255, 255, 255)") == (scheme == "dark")
    page.get_by_role("link", name="OpenAPI").click()
    assert "Predictions of y" in page.locator("body").text_content()
    window.close()
    assert broken == []
    assert all(url.startswith(server) for url in asked)
