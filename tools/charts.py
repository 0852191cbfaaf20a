"""One chart for each benchmark, drawn from its committed JSON when the documentation is built.

A benchmark that ranks models shows their mean ranks, another its means or ratios, and a few show
a column of their first table, which the same run wrote.
"""

import json
import re
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt

ROOT = Path(__file__).parents[1]
MOST = 12
# Kinds of summary in a run's ratios, the most telling first, and what a chart of them shows.
KINDS = (
    (r"^mean rank(,| of) ", "Mean rank over all data sets (1 is best)"),
    (r"^mean coverage, ", "Mean share of new rows that 90 % intervals and sets hold"),
    (r"^mean, ", "Mean over all data sets"),
    (r"(?= / )", "Ratios within one run (1: the two are equal)"),
)
# Runs without such a summary, and the column of their first table to draw.
COLUMNS = {
    "classes": "CPU s",
    "clusters": "accuracy, given",
    "hundred": "given",
    "import": "s",
    "million": "CPU s",
}
INK, OURS, OTHERS = "#1b2a1f", "#2f7d4f", "#9aa5b1"
OUR_NAMES = ("ulmus", "elm", "float32", "float64", "fit_table", "two workers")


def figures(name, table):
    """A title, and at most twelve numbers by what they are; None where no chart would say more."""
    if name in COLUMNS:
        return from_table(table, COLUMNS[name])
    path = ROOT / "benchmarks" / "results" / f"{name}.json"
    ratios = json.loads(path.read_text(encoding="utf-8"))["ratios"] if path.exists() else {}
    for pattern, title in KINDS:
        found = {re.sub(pattern, "", k): v for k, v in ratios.items() if re.search(pattern, k)}
        if len(found) > 1:
            return title, dict(list(found.items())[:MOST])
    return None


def from_table(text, column):
    """The first table's heading, and one column of its figures."""
    title = re.search(r"^### (.+)$", text, re.MULTILINE)[1]
    lines = re.findall(r"^\|(.+)\|$", text.split("###")[1], re.MULTILINE)
    head, _, *rows = ([cell.strip() for cell in line.split("|")] for line in lines)
    place = head.index(column)
    found = {row[0]: float(row[place]) for row in rows if row[place]}
    return f"{title}: {column}", dict(list(found.items())[:MOST])


def draw(name, table, folder):
    """Write the chart of a benchmark, and say whether there is one."""
    found = figures(name, table)
    if found is None:
        return False
    title, bars = found
    bars = dict(sorted(bars.items(), key=lambda item: item[1])) if "rank" in title else bars
    labels = [label if len(label) < 64 else f"{label[:61]}…" for label in bars]
    ours = [any(own in label.lower() for own in OUR_NAMES) for label in labels]
    places = range(len(bars), 0, -1)
    with mpl.rc_context({"svg.hashsalt": name, "svg.fonttype": "path", "font.size": 10}):
        figure, axes = plt.subplots(figsize=(8, 0.9 + 0.32 * len(bars)), facecolor="white")
        axes.barh(places, bars.values(), color=[OURS if own else OTHERS for own in ours])
        for place, value in zip(places, bars.values(), strict=True):
            axes.text(max(value, 0), place, f" {value:.3g}", va="center", color=INK)
        axes.set_yticks(places, labels)
        axes.set_title(title, fontsize=10, color=INK, loc="left")
        axes.margins(x=0.12)
        if "equal" in title:
            axes.axvline(1, color=INK, linewidth=0.8, linestyle=":")
        axes.spines[["top", "right"]].set_visible(False)
        figure.savefig(folder / f"{name}.svg", bbox_inches="tight", metadata={"Date": None})
        plt.close(figure)
    return True


def folded(text, drawn):
    """The page with each table that it includes behind a heading to open, below its chart."""

    def one(match):
        name = match[1]
        picture = (
            f"![Chart of the benchmark {name}](charts/{name}.svg)\n\n" if name in drawn else ""
        )
        return (
            f"{picture}::::{{dropdown}} Tables of `python -m benchmarks {name}`\n\n"
            f"{match[0]}\n\n::::"
        )

    return re.sub(r"^```\{include\} (\w+)\.md\n```", one, text, flags=re.MULTILINE)
