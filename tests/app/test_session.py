"""A session answers for the newest labels, and another goes on where it was."""

import threading

import numpy as np
import pytest

from app.small import GROUP, label_two, until
from ulmus.app import session as sessions
from ulmus.app.learner import answer, can_learn, prepared
from ulmus.estimators.semi_supervised import SemiSupervisedELMClassifier
from ulmus.exceptions import InvalidInputError


def test_two_labels_colour_every_row(session):
    label_two(session)
    found = session.newest_answer()
    assert found.codes.tolist() == [0] * GROUP + [1] * GROUP
    assert (found.certainty > 0.5).all()


def test_before_two_classes_have_a_label_there_is_no_answer(session):
    session.act({"do": "class", "name": "low"})
    session.act({"do": "label", "rows": [0], "class": "low"})
    assert session.newest_answer() is None
    until(session, lambda: session.suggestions)
    assert 0 not in session.suggestions
    assert len(set(session.suggestions)) == 10


def test_relabelling_from_the_prepared_model_is_a_fit_to_the_labels(opened, session):
    label_two(session)
    found = session.newest_answer()
    fitted = SemiSupervisedELMClassifier(random_state=0)
    fitted.fit(opened.X, found.labels.codes)
    np.testing.assert_array_equal(found.codes, fitted.transduction_)
    np.testing.assert_allclose(found.probabilities, fitted.label_distributions_, atol=1e-3)


def test_another_session_goes_on_where_one_was_killed(make_session):
    first = make_session(start=False)
    label_two(first)
    first.act({"do": "label", "rows": [5], "class": "high"})
    first.act({"do": "undo"})
    second = make_session()
    assert second.labels.classes == ("low", "high")
    assert second.labels.codes.tolist() == first.labels.codes.tolist()
    assert second.version == first.version
    second.act({"do": "redo"})
    assert second.labels.codes[5] == 1
    assert second.newest_answer().codes[5] == 1


def test_the_curve_of_left_out_labels_survives(make_session):
    first = make_session()
    label_two(first)
    until(first, lambda: first.curve)
    assert first.look()["curve"][-1][:2] == [4, 1.0]
    assert make_session(start=False).curve == first.curve


def test_states_that_were_overtaken_are_never_worked_on(make_session, monkeypatch):
    asked, go, begun = [], threading.Event(), threading.Event()

    def slow(model, labels):
        asked.append(int(labels.known.sum()))
        begun.set()
        go.wait()
        return answer(model, labels)

    monkeypatch.setattr(sessions, "answer", slow)
    session = make_session()
    label_two(session)
    begun.wait()
    first = asked[0]
    for row in range(5, 12):
        session.act({"do": "label", "rows": [row], "class": "low"})
    go.set()
    assert session.newest_answer().labels.known.sum() == 11
    assert asked == [first, 11]


def test_suggestions_that_were_overtaken_are_dropped(make_session, monkeypatch):
    asked = []

    def suggested(self, uncertainty, known, count=10):
        for k in range(count):
            asked.append((int(known.sum()), k))
            if asked[-1] == (0, 3):
                session.act({"do": "class", "name": "low"})
                session.act({"do": "label", "rows": [0], "class": "low"})
            yield k

    monkeypatch.setattr(sessions.Surroundings, "suggested", suggested)
    session = make_session()
    until(session, lambda: session.suggestions)
    assert asked == [(0, k) for k in range(4)] + [(1, k) for k in range(10)]


def test_a_refused_action_changes_neither_labels_nor_journal(session, tmp_path):
    before = (tmp_path / "labels.jsonl").read_bytes()
    with pytest.raises(InvalidInputError):
        session.act({"do": "label", "rows": [0], "class": "nobody"})
    assert (tmp_path / "labels.jsonl").read_bytes() == before
    assert session.version == 0


def test_a_window_hears_of_what_another_did(session):
    heard = threading.Event()
    with session.listening(heard.set):
        session.act({"do": "class", "name": "low"})
        assert heard.is_set()
    assert session.look()["classes"] == ["low"]
    assert session.windows == 0


def test_what_goes_wrong_is_shown(make_session, monkeypatch):
    def broken(X, seed):
        raise InvalidInputError("The rows cannot be placed.")

    monkeypatch.setattr(sessions, "places", broken)
    session = make_session()
    until(session, lambda: session.failure)
    assert session.look()["failure"].startswith("The rows cannot be placed.")


def test_colours_are_three_bytes_a_row(session):
    label_two(session)
    session.newest_answer()
    planes = np.frombuffer(session.colours(), np.uint8).reshape(3, -1)
    assert np.flatnonzero(planes[0] != 255).tolist() == [0, 3, GROUP, GROUP + 3]
    assert planes[1].tolist() == [0] * GROUP + [1] * GROUP
    assert planes[2].min() > 127


def test_rows_are_placed_within_the_map(session):
    until(session, lambda: "map" not in session.working)
    assert session.places.shape == (2 * GROUP, 2)
    assert np.abs(session.places).max() <= 1.1


def test_one_class_is_not_enough_to_learn(opened):
    assert not can_learn(opened.labels)
    assert prepared(opened.X, 0).classes_.tolist() == [0, 1]


def test_labels_that_cannot_be_learnt_are_told_and_the_next_are_learnt(make_session, monkeypatch):
    def moody(model, labels):
        if labels.known.sum() == 4:
            raise InvalidInputError("Four is too many.")
        return answer(model, labels)

    monkeypatch.setattr(sessions, "answer", moody)
    session = make_session()
    label_two(session)
    until(session, lambda: session.failure)
    assert session.newest_answer() is None
    assert session.look()["failure"] == "These labels could not be learnt: Four is too many."
    session.act({"do": "label", "rows": [7], "class": "low"})
    until(session, lambda: session.answered == session.version)
    assert session.failure == ""
    assert session.answer is not None
