"""``ulmus info``: what a model file holds, without loading it."""

from ulmus.cli.printing import facts, print_json, say
from ulmus.cli.words import chosen_words, score_words, size_words
from ulmus.persistence import describe

__all__ = ["info"]

_TABLE_MODEL = "ulmus.tables.TableModel"
_MOST = 12


def info(options):
    """Print a model's kind, target, columns, choices and versions."""
    found = describe(options.model)
    if options.json:
        print_json(found)
        return 0
    lines = _of_table(found) if found["class"] == _TABLE_MODEL else _of_estimator(found)
    size = size_words(found["bytes"])
    for line in facts([("file", f"{options.model} ({size}, format {found['version']})"), *lines]):
        say(line)
    return 0


def _of_table(found):
    parts, summary = found["params"], found["params"]["summary"]
    encoder, classes = parts["encoder"]["params"], parts["estimator"]["fitted"].get("classes_")
    kinds = encoder["kinds"] or ["number"] * len(encoder["names"])
    columns = [f"{name} ({kind})" for name, kind in zip(encoder["names"], kinds, strict=True)]
    versions = ", ".join(f"{name} {version}" for name, version in summary["versions"].items())
    rows = f"{summary['rows']:,}"
    if summary["semi_supervised"]:
        rows += f", {summary['rows_with_target']:,} of them with a target (semi-supervised)"
    return [
        ("task", parts["task"]),
        ("target", parts["target"]),
        ("classes", _some(classes) if isinstance(classes, list) else classes),
        ("columns", f"{len(columns)}: {_some(columns)}"),
        ("left out", _some(list(encoder["dropped"]))),
        ("rows", rows),
        ("chosen", chosen_words(summary["chosen"])),
        ("leave-one-out", score_words(summary)),
        ("fitted", f"{summary['fitted_at']} in {summary['seconds']:.1f} s, seed {summary['seed']}"),
        ("versions", versions),
    ]


def _of_estimator(found):
    """A model of `ulmus.save`, from Python."""
    params = [f"{name}={value!r}" for name, value in found["params"].items() if value is not None]
    return [
        ("class", found["class"]),
        ("parameters", ", ".join(params)),
        ("fitted", _some(list(found["fitted"]))),
        ("versions", f"ulmus {found['ulmus']}, scikit-learn {found['scikit-learn']}"),
    ]


def _some(words):
    shown = ", ".join(str(word) for word in words[:_MOST])
    return f"{shown}, …" if len(words) > _MOST else shown
