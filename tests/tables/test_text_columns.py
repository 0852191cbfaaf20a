"""Text columns: texts of like letters are near, and the same later as in the fit."""

import numpy as np
import pandas
import pyarrow
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import ulmus
from ulmus import ELMClassifier
from ulmus.exceptions import TableError
from ulmus.tables import Table, TableEncoder, fit_table
from ulmus.tables.columns import text_of
from ulmus.tables.table import as_table

WORDS = {
    "billing": ["invoice", "payment", "refund", "charged twice", "credit card"],
    "login": ["password", "cannot sign in", "account locked", "two factor code", "reset link"],
}


def tickets(n=120, seed=0):
    """Sentences about one of two things, none of which comes twice."""
    rng = np.random.default_rng(seed)
    kinds = np.array(list(WORDS), dtype=object)[rng.integers(0, 2, n)]
    texts = [
        f"Hello, {rng.choice(WORDS[kind])} and {rng.choice(WORDS[kind])}, yours, {k}"
        for k, kind in enumerate(kinds)
    ]
    return Table(("text", "kind"), {"text": np.array(texts, dtype=object), "kind": kinds})


def test_what_texts_are_about_is_learnt_and_kept_in_the_file(tmp_path):
    model = fit_table(tickets(), "kind")
    assert model.encoder.kinds == ("text",)
    new = tickets(seed=1)
    assert np.mean(model.predict(new) == new["kind"]) > 0.95
    ulmus.save(model, tmp_path / "m.ulmus")
    again = ulmus.load(tmp_path / "m.ulmus")
    assert np.array_equal(again.encoder.transform(new), model.encoder.transform(new))


def test_a_row_is_encoded_by_itself():
    column = text_of(tickets()["text"])
    cells = np.array(["my password", None, "", "Ω"], dtype=object)
    whole = column.encoded("t", cells, False, [])
    assert np.isfinite(whole).all()
    for k in range(4):
        alone = column.encoded("t", cells[k : k + 1], False, [])
        assert np.allclose(alone, whole[k : k + 1], atol=1e-6)
    assert np.array_equal(whole[1], whole[2])


# ---------------------------------------------------------------- frames
def frame():
    rng = np.random.default_rng(0)
    x = rng.normal(size=60)
    return pandas.DataFrame(
        {
            "x": x,
            "day": pandas.date_range("2020-01-01", periods=60),
            "flag": rng.random(60) < 0.5,
            "city": pandas.Categorical(rng.choice(["Oslo", "Rome"], 60)),
            "n": pandas.array(rng.integers(0, 9, 60), dtype="Int64"),
            "y": np.where(x > 0, "up", "down"),
        }
    )


class Stream:
    """A frame of another library: all that is known of it is Arrow's stream."""

    def __init__(self, frame):
        self._table = pyarrow.Table.from_pandas(frame)

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize("kind", [lambda f: f, Stream, lambda f: f.set_index(np.arange(60) * 2)])
def test_frames_are_fitted_and_predicted(kind):
    model = fit_table(kind(frame()), "y")
    assert set(model.encoder.kinds) == {"number", "date", "boolean", "category"}
    assert np.mean(model.predict(kind(frame())) == frame()["y"]) > 0.9


def test_a_frame_of_mixed_cells_says_what_to_do():
    with pytest.raises(TableError, match="give each column one type"):
        as_table(pandas.DataFrame({"a": [1, "x", object()]}))


def test_an_encoder_is_cloned_and_goes_into_a_pipeline():
    data = frame()
    pipe = make_pipeline(TableEncoder(given={"n": "category"}), ELMClassifier(n_hidden=20))
    copy = clone(pipe).fit(data.drop(columns="y"), data["y"])
    assert copy[0].kinds == ("number", "date", "boolean", "category", "category")
    fresh = clone(copy[0])
    assert (fresh.names, fresh.given) == ((), {"n": "category"})
