"""``ulmus info``: what a model file holds, without loading it."""

from argparse import Namespace
from typing import Any

from ulmus.cli.printing import (
    chosen_words,
    facts,
    print_json,
    rows_words,
    say,
    score_words,
    size_words,
)
from ulmus.persistence import describe

__all__ = ["info"]

_MOST = 12

Pairs = list[tuple[str, Any]]


def info(options: Namespace) -> int:
    """Print a model's kind, target, columns, choices and versions."""
    found = describe(options.model)
    if options.json:
        print_json(found)
        return 0
    table = found["class"] == "ulmus.tables.TableModel"
    size = f"{size_words(found['bytes'])}, format {found['version']}"
    pairs = _of_table(found) if table else _of_estimator(found)
    say(*facts([("file", f"{options.model} ({size})"), *pairs]))
    return 0


def _of_table(found: dict[str, Any]) -> Pairs:
    parts, summary = found["params"], found["params"]["summary"]
    encoder, classes = parts["encoder"]["params"], parts["estimator"]["fitted"].get("classes_")
    kinds = encoder["kinds"] or ["number"] * len(encoder["names"])
    columns = [f"{name} ({kind})" for name, kind in zip(encoder["names"], kinds, strict=True)]
    return [
        ("task", parts["task"]),
        ("target", parts["target"]),
        ("classes", _some(classes) if isinstance(classes, list) else classes),
        ("columns", f"{len(columns)}: {_some(columns)}"),
        ("left out", _some(list(encoder["dropped"]))),
        ("rows", rows_words(summary)),
        ("chosen", chosen_words(summary["chosen"])),
        ("leave-one-out", score_words(summary)),
        ("fitted", f"{summary['fitted_at']} in {summary['seconds']:.1f} s, seed {summary['seed']}"),
        ("versions", ", ".join(f"{name} {v}" for name, v in summary["versions"].items())),
    ]


def _of_estimator(found: dict[str, Any]) -> Pairs:
    """A model of `ulmus.save`, from Python."""
    params = [f"{name}={value!r}" for name, value in found["params"].items() if value is not None]
    return [
        ("class", found["class"]),
        ("parameters", ", ".join(params)),
        ("fitted", _some(list(found["fitted"]))),
        ("versions", f"ulmus {found['ulmus']}, scikit-learn {found['scikit-learn']}"),
    ]


def _some(words: list[Any]) -> str:
    shown = ", ".join(str(word) for word in words[:_MOST])
    return f"{shown}, …" if len(words) > _MOST else shown
