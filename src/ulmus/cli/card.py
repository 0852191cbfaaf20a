"""A model card: what a model is for, what it was fitted to and how good it is, as Markdown."""

from typing import Any

from ulmus.tables.assessing import score_words

_WARNING = "No score on rows of another time or place is known; `ulmus evaluate` gives one."


def model_card(name: str, parts: dict[str, Any], facts: list[tuple[str, Any]]) -> str:
    """The card of a model of a table, from its description and the facts that `info` prints."""
    summary, encoder = parts["summary"], parts["encoder"]["params"]
    kinds = encoder["kinds"] or ["number"] * len(encoder["names"])
    importances = summary["importances"]
    columns = [
        (column, kind, f"{importances[column]:.1%}" if column in importances else "")
        for column, kind in zip(encoder["names"], kinds, strict=True)
    ]
    headings = "column", "holds", "importance, or why it was left out"
    dropped = [(column, "left out", why) for column, why in encoder["dropped"].items()]
    target = _plain(parts["target"])
    what = "the class" if parts["task"] == "classification" else "the number"
    notes = [f"- {_plain(note)}" for note in summary["notes"]] or ["- None."]
    return "\n".join(
        [
            f"# {_plain(name)}: {target}",
            "",
            f"A model of Ulmus that predicts {what} {target} from the columns of a table.",
            "",
            *_table(("", ""), [pair for pair in facts if pair[1] not in (None, "")]),
            "",
            "## Columns",
            "",
            *_table(headings, [*columns, *dropped]),
            "",
            "## How good it is",
            "",
            f"By {': '.join(score_words(summary))}. {_WARNING}",
            "",
            "## What was decided on the way",
            "",
            *notes,
            "",
        ]
    )


def _table(headings: tuple[str, ...], rows: list[tuple[Any, ...]]) -> list[str]:
    lines = [headings, ("---",) * len(headings), *rows]
    return [f"| {' | '.join(_plain(cell) for cell in line)} |" for line in lines]


def _plain(cell: object) -> str:
    """Text that is no Markdown: names of columns and classes come from anybody's file."""
    text = " ".join(str(cell).split())
    return "".join(f"\\{char}" if char in "\\`*_{}[]<>#|!" else char for char in text)
