"""Labels after any actions are what a plain dictionary of them would be."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ulmus.app.actions import MOST_CLASSES, Labels
from ulmus.exceptions import InvalidInputError

ROWS = 5
NAMES = ("a", "b", "c")
actions = st.one_of(
    st.builds(lambda name: {"do": "class", "name": name}, st.sampled_from(NAMES)),
    st.builds(
        lambda old, new: {"do": "rename", "class": old, "name": new},
        st.sampled_from(NAMES),
        st.sampled_from(NAMES),
    ),
    st.builds(
        lambda rows, name: {"do": "label", "rows": rows, "class": name},
        st.lists(st.integers(0, ROWS - 1), min_size=1),
        st.sampled_from([*NAMES, None]),
    ),
    st.sampled_from([{"do": "clear"}, {"do": "undo"}, {"do": "redo"}]),
)


class Naive:
    """Every state is kept whole: classes, and the class number of each row."""

    def __init__(self):
        self.states, self.place = [((), (None,) * ROWS)], 0

    def do(self, action):
        classes, codes = self.states[self.place]
        kind = action["do"]
        if kind in ("undo", "redo"):
            place = self.place + (1 if kind == "redo" else -1)
            if not 0 <= place < len(self.states):
                return False
            self.place = place
            return True
        if kind == "class":
            if action["name"] in classes:
                return False
            classes = (*classes, action["name"])
        elif kind == "rename":
            if action["class"] not in classes or action["name"] in classes:
                return False
            classes = tuple(action["name"] if n == action["class"] else n for n in classes)
        elif kind == "label":
            if action["class"] is not None and action["class"] not in classes:
                return False
            code = None if action["class"] is None else classes.index(action["class"])
            codes = tuple(code if i in action["rows"] else c for i, c in enumerate(codes))
        else:
            codes = (None,) * ROWS
        self.states = [*self.states[: self.place + 1], (classes, codes)]
        self.place += 1
        return True


@given(st.lists(actions, max_size=25))
def test_any_actions_are_those_of_a_naive_history(todo):
    labels, naive = Labels.none(ROWS), Naive()
    for action in todo:
        before = labels
        try:
            labels = labels.after(action)
            done = True
        except InvalidInputError:
            done = False
        assert done == naive.do(action)
        assert done or labels is before
        classes, codes = naive.states[naive.place]
        assert labels.classes == classes
        assert labels.codes.tolist() == [-1 if code is None else code for code in codes]
        assert bool(labels.done) == (naive.place > 0)
        assert bool(labels.undone) == (naive.place < len(naive.states) - 1)


@pytest.mark.parametrize(
    "action",
    [
        {},
        {"do": "fly"},
        {"do": ["label"]},
        {"do": "label", "rows": [], "class": "a"},
        {"do": "label", "rows": [-1], "class": "a"},
        {"do": "label", "rows": [ROWS], "class": "a"},
        {"do": "label", "rows": [1.0], "class": "a"},
        {"do": "label", "rows": [True], "class": "a"},
        {"do": "label", "rows": "0", "class": "a"},
        {"do": "label", "rows": [10**30], "class": "a"},
        {"do": "label", "rows": [0], "class": "nowhere"},
        {"do": "label", "rows": [0], "class": ["a"]},
        {"do": "class", "name": "  "},
        {"do": "class", "name": 3},
        {"do": "class", "name": "x" * 101},
        {"do": "class", "name": "a\nb"},
        {"do": "class", "name": "a"},
        {"do": "rename", "class": None, "name": "z"},
        {"do": "undo"},
    ],
    ids=str,
)
def test_what_cannot_be_done_is_refused(action):
    labels = Labels(("a",), np.full(ROWS, -1, dtype=np.int16))
    with pytest.raises(InvalidInputError):
        labels.after(action)


def test_there_is_a_last_class():
    labels = Labels(tuple(map(str, range(MOST_CLASSES))), np.full(ROWS, -1, dtype=np.int16))
    with pytest.raises(InvalidInputError, match="no room"):
        labels.after({"do": "class", "name": "one more"})
    with pytest.raises(InvalidInputError, match="room for"):
        Labels.of(np.array(list(map(str, range(MOST_CLASSES + 1))), dtype=object))


def test_labels_of_a_file_are_those_of_its_rows():
    labels = Labels.of(np.array(["b", None, "a", "b"], dtype=object))
    assert labels.classes == ("a", "b")
    assert labels.codes.tolist() == [1, -1, 0, 1]
    assert not labels.done
