"""``ulmus demo``: three tables and one picture, offline, in seconds."""

import warnings

import numpy as np

from ulmus.cli import digits
from ulmus.cli.picture import draw_digits
from ulmus.cli.places import check_free
from ulmus.cli.printing import note, print_json, say, table, width, wrapped
from ulmus.estimators.embedding import ELMEmbedding

__all__ = ["demo"]

_NAMES = ("model", "accuracy", "seconds", "megabytes")


def demo(options):
    """Compare models on the bundled digits with all labels, few and none, and draw the map."""
    check_free(options.picture, options.force)
    train, test, y_train, y_test = digits.split()
    models = digits.all_labels()
    rows = digits.compare_all(models, train, test, y_train, y_test)
    tables = {"All labels: 1347 digits to learn from, 450 to be judged by": rows}
    elm = models["ELM"]
    X, y = np.vstack([train, test]), np.concatenate([y_train, y_test])
    few = digits.with_few_labels(y)
    models = digits.few_labels()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn's own, about graphs and defaults
        title = "Five labels a class: 1797 digits, judged by the 1747 without one"
        tables[title] = digits.compare_few(models, X, few, y)
        title = "No labels: 1797 digits in ten clusters, named as fits best"
        tables[title] = digits.compare_none(digits.no_labels(), X, y)
    few_elm = models["SS-ELM"][0]
    plane = ELMEmbedding(n_components=2, graph=few_elm.graph, random_state=0).fit_transform(X)
    draw_digits(elm, test, y_test, few_elm, plane, few, y, options.picture)
    _tell(tables, elm, options)
    return 0


def _tell(tables, elm, options):
    if options.json:
        named = {
            title: [dict(zip(_NAMES, row, strict=True)) for row in rows]
            for title, rows in tables.items()
        }
        chosen = {"C": elm.C_, "leave_one_out": elm.loo_score_}
        print_json({"tables": named, "elm": chosen, "picture": options.picture})
        return
    for title, rows in tables.items():
        for line in wrapped(title, width()):
            say(line)
        say()
        cells = [(name, f"{a:.3f}", f"{s:.2f}", f"{m:.0f}") for name, a, s, m in rows]
        for line in table(("model", "accuracy", "seconds", "MB"), cells):
            say(line)
        say()
    text = (
        f"The ELM chose C = {elm.C_:.3g} by leaving out each of its rows once: "
        f"{elm.loo_score_:.1%} of them right."
    )
    for line in wrapped(text, width()):
        say(line)
    note(f"Picture: {options.picture}", options.quiet)
