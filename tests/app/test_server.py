"""What the server answers, and whom it refuses."""

import csv
import io
import json
import re

import numpy as np
import pytest
from PIL import Image

from app.asking import HOST, TOKEN, ask
from app.small import GROUP, label_two, until
from ulmus.app import server
from ulmus.app.listening import MOST_BYTES
from ulmus.app.opened_table import opened_table
from ulmus.app.server import LOOPBACK, application, listening_socket
from ulmus.tables import Table

STATIC = ("/", "/page.js", "/map.js", "/page.css", "/icon.svg")


@pytest.fixture
def session(make_session):
    """One whose threads wait for `start`."""
    return make_session(start=False)


@pytest.fixture
def app(session):
    return application(session, TOKEN, int(HOST.partition(":")[2]))


# ---------------------------------------------------------------------- who may ask
@pytest.mark.parametrize("path", STATIC)
def test_the_page_is_all_its_own_and_protected(app, path):
    reply = ask(app, path)
    assert reply.status == 200
    policy = reply.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert reply.headers["referrer-policy"] == "no-referrer"
    text = reply.body.decode().replace("http://www.w3.org/2000/svg", "")
    assert "http://" not in text
    assert "https://" not in text
    assert "//cdn" not in text


def test_no_script_or_style_is_inline(app):
    text = ask(app, "/").body.decode()
    assert text.count("<script") == 1
    assert '<script type="module" src="page.js"></script>' in text
    assert "style=" not in text
    assert not re.search(r"<[^>]*\son\w+=", text)  # no onclick and the like


def test_text_never_becomes_markup(app):
    for name in ("/page.js", "/map.js"):
        script = ask(app, name).body.decode()
        for way in (
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "Function(",
        ):
            assert way not in script


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost", None, ""]
)
def test_other_hosts_are_refused(app, host):
    reply = ask(app, "/", host=host)
    assert reply.status == 421
    assert TOKEN.encode() not in reply.body


def test_localhost_is_a_name_of_this_machine(app):
    assert ask(app, "/", host=HOST.replace("127.0.0.1", "localhost")).status == 200


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1", f"https://{HOST}"]
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_other_origins_are_refused(app, session, origin, method):
    body = {"do": "class", "name": "evil"} if method == "POST" else None
    assert ask(app, "/act" if body else "/", body=body, method=method, origin=origin).status == 403
    assert session.version == 0


def test_an_action_needs_an_origin(app):
    assert ask(app, "/act", body={"do": "clear"}, origin=None).status == 403


def test_requests_that_other_sites_start_are_refused(app):
    assert ask(app, "/", sec_fetch_site="cross-site").status == 403
    assert ask(app, "/", sec_fetch_site="none").status == 200


@pytest.mark.parametrize("token", ["", "wrong", TOKEN + "x", TOKEN[:-1], TOKEN.upper(), "é"])
def test_without_the_token_there_is_nothing(app, token):
    for path in (*STATIC, "/events", "/act", "/row/0", f"/{TOKEN}"):
        assert ask(app, path, token=token).status == 404


@pytest.mark.parametrize(
    "path",
    [
        "/../../../etc/passwd", "/..%2f..%2fetc/passwd", "//etc/passwd", "/page.js/../../server.py",
        "/static/page.js", "/picture/../../secret.png", "/picture/..%2fsecret", "/row/-1",
        "/row/0/..", "/picture/0", "/row/99999999999999999999999", "/export/../labels.jsonl",
        "/export/..%2fx", "/export/labels.csv/..", "/row/1e3", "/\x00", "/page.js\x00.html",
        "/labels.jsonl",
    ],
)  # fmt: skip
def test_no_path_leads_to_a_file(app, path):
    reply = ask(app, path)
    assert reply.status == 404
    assert b"root:" not in reply.body


def test_only_actions_are_posted(app):
    for path in ("/", "/row/0", "/export/labels.csv", "/places"):
        assert ask(app, path, body={}).status == 405
    assert ask(app, "/act").status == 405


@pytest.mark.parametrize("size", [str(MOST_BYTES + 1), "9" * 30, "-1", "many"])
def test_large_requests_are_refused_by_their_length(app, size):
    assert ask(app, "/act", body={"do": "clear"}, content_length=size).status == 413


def test_large_requests_are_refused_as_they_come(app, session):
    parts = [b" " * 1_000_000] * (MOST_BYTES // 1_000_000 + 1)
    assert ask(app, "/act", parts=[*parts, b"{}"]).status == 413
    assert session.version == 0


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b"\xff", b"[" * 100_000, b'"undo"'])
def test_what_is_no_action_is_refused(app, body):
    assert ask(app, "/act", body=body).status == 400


def test_an_action_is_json_by_its_type_too(app):
    assert ask(app, "/act", body={"do": "clear"}, content_type="text/plain").status == 415


def test_the_server_listens_to_this_machine_alone():
    with listening_socket() as found:
        assert found.getsockname()[0] == LOOPBACK == "127.0.0.1"


# ---------------------------------------------------------------------- what it answers
def test_an_action_answers_when_it_is_in_the_journal(app, session, tmp_path):
    reply = ask(app, "/act", body={"do": "class", "name": "low"})
    assert reply.json == {"version": 1}
    last = (tmp_path / "labels.jsonl").read_text().splitlines()[-1]
    assert json.loads(last) == {"do": "class", "name": "low"}


def test_a_refused_action_says_why(app):
    reply = ask(app, "/act", body={"do": "label", "rows": [0], "class": "nobody"})
    assert reply.status == 400
    assert "There is no class 'nobody'" in reply.body.decode()


def test_a_disk_that_is_full_is_told(app, session, monkeypatch):
    def full(entry):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(session._journal, "append", full)
    reply = ask(app, "/act", body={"do": "class", "name": "low"})
    assert reply.status == 507
    assert session.labels.classes == ()


def test_places_and_colours_are_bytes_for_every_row(app, session):
    session.start()
    until(session, lambda: "map" not in session.working)
    places = np.frombuffer(ask(app, "/places").body, "<f4").reshape(-1, 2)
    np.testing.assert_array_equal(places, session.places)
    assert len(ask(app, "/colours").body) == 3 * 2 * GROUP


def test_a_row_is_its_cells(app):
    found = ask(app, "/row/3").json
    assert found["row"] == 3
    assert [name for name, _ in found["cells"]] == ["length", "width", "height"]
    assert ask(app, f"/row/{2 * GROUP}").status == 404


def test_a_picture_is_served_by_its_number(make_session):
    matrix = np.random.default_rng(0).normal(size=(40, 6))
    opened = opened_table(Table(tuple("abcdef"), matrix=matrix), shape=(2, 3))
    app = application(make_session(start=False, of=opened), TOKEN, 7777)
    reply = ask(app, "/picture/39")
    assert reply.headers["content-type"] == "image/png"
    assert Image.open(io.BytesIO(reply.body)).size == (3, 2)
    assert ask(app, "/picture/40").status == 404


def test_exports_wait_for_two_classes(app, session):
    session.start()
    for name in ("labels.csv", "model.ulmus", "model.onnx"):
        assert ask(app, f"/export/{name}").status == 409


def test_the_csv_says_who_gave_each_class(app, session):
    session.start()
    label_two(session)
    reply = ask(app, "/export/labels.csv")
    assert reply.headers["content-disposition"] == 'attachment; filename="labels.csv"'
    rows = list(csv.DictReader(io.StringIO(reply.body.decode())))
    assert [row["row"] for row in rows] == [str(k + 1) for k in range(2 * GROUP)]
    assert [row["class"] for row in rows] == ["low"] * GROUP + ["high"] * GROUP
    assert [k for k, row in enumerate(rows) if row["labelled by"] == "person"] == [0, 3, 20, 23]
    assert all(0.5 < float(row["probability"]) <= 1 for row in rows)


def test_no_class_in_the_csv_is_a_formula(app, session):
    session.start()
    label_two(session)
    session.act({"do": "rename", "class": "low", "name": "=1+1"})
    rows = list(csv.DictReader(io.StringIO(ask(app, "/export/labels.csv").body.decode())))
    assert rows[0]["class"] == "'=1+1"


def test_there_is_a_last_window(app, monkeypatch):
    monkeypatch.setattr(server, "_MOST_WINDOWS", 0)
    assert ask(app, "/events").status == 503
