"""Numbers and sentences that the Markdown and the page of a report share."""

import math
from string import ascii_lowercase
from typing import Any

from papers.counts import cells

NOTHING = "–"
SYMBOLS = {"match": "✓", "better": "▲", "worse": "▼"}
VERDICTS = {
    "match": "as the paper, within its deviation, or ours where it prints none or has one split",
    "better": "better than the paper by more than that",
    "worse": "worse than the paper by more than that",
}
RULES = {
    "strict": "at most the paper’s printed deviation behind, else its last digit",
    "welch": "not worse by a one-sided Welch test at 5 %",
    "lenient": "as strict, with our deviation where the paper prints none or has one split",
}
READINGS = {
    "printed": "formula, parameters, splits and choice as the paper prints them",
    "read": "as we read it where that is not what is printed; each page says why",
}
STAR = "A star marks a figure that is reached by the same rule as we read the paper."
ROLES = {
    "proposed": "proposed in the paper, as we read it",
    "literal": "proposed in the paper, to the letter",
    "baseline": "compared with in the paper",
    "automatic": "ours, chosen automatically",
    "alternative": "not in the paper: what one would take instead",
}
QUICK = "Quick run: fewer repetitions or lighter settings than the paper’s"


def has(value: float | None) -> bool:
    """Whether there is a number: neither missing nor nan."""
    return value is not None and math.isfinite(value)


def number(value: float | None, digits: int) -> str:
    """A number with fixed decimals and a true minus.

    >>> number(-0.126, 2)
    '−0.13'
    """
    if not has(value):
        return NOTHING
    text = f"{value:.{digits}f}"
    # A rounded zero has no sign.
    return text.lstrip("-") if float(text) == 0 else text.replace("-", "−")


def spread(mean: float | None, deviation: float | None, digits: int) -> str:
    """Mean ± deviation, or the mean alone.

    >>> spread(5.3, 1.1, 2)
    '5.30 ± 1.10'
    """
    if not has(mean) or not has(deviation):
        return number(mean, digits)
    return f"{number(mean, digits)} ± {number(deviation, digits)}"


def ours(mean: float | None, deviation: float | None, count: int, digits: int) -> str:
    """Mean ± deviation of our runs; one run alone has no deviation, not one of zero."""
    return spread(mean, deviation if deviation or count > 1 else None, digits)


def exact(value: float) -> str:
    """A setting as it was given, as a power of ten where that is shorter.

    >>> exact(1e-5), exact(0.25), exact(-3)
    ('10⁻⁵', '0.25', '−3')
    """
    text = f"{value:g}"
    return power(value) if "e" in text else text.replace("-", "−")


def power(value: float) -> str:
    """A number other than zero as a power of ten.

    >>> power(0.01), power(250.0)
    ('10⁻²', '2.5·10²')
    """
    mantissa, exponent = f"{value:.5e}".split("e")
    mantissa = f"{float(mantissa):g}".replace("-", "−")
    raised = "10" + str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return raised if mantissa == "1" else f"{mantissa}·{raised}"


def seconds(value: float | None) -> str:
    """Seconds to three digits, without pretending to microseconds.

    >>> seconds(0.01234), seconds(1.234), seconds(1234.5)
    ('0.012', '1.23', '1234')
    """
    if not has(value):
        return NOTHING
    return f"{value:.0f}" if value >= 100 else f"{value:.{3 - (value >= 1) - (value >= 10)}f}"


def hours(value: float) -> str:
    """A long time in the unit that one thinks of it in.

    >>> hours(45), hours(600), hours(45000)
    ('45 seconds', '10 minutes', '12.5 hours')
    """
    if value < 120:
        return f"{value:.0f} seconds"
    return f"{value / 60:.0f} minutes" if value < 7200 else f"{value / 3600:.1f} hours"


def count(many: int, thing: str) -> str:
    """How many of a thing: one run, two runs, two processes."""
    plural = thing + ("es" if thing.endswith("s") else "s")
    return f"{many} {thing if many == 1 else plural}"


def share(pair: list[int]) -> str:
    """So many of so many, and as a percentage.

    >>> share([3, 4])
    '3 of 4 (75 %)'
    """
    reached, of = pair
    return f"{reached} of {of} ({100 * reached / of:.0f} %)" if of else NOTHING


def missed(results: dict[str, Any], paper: str) -> list[tuple[dict[str, Any], int, list[str]]]:
    """What is not reached by the strict rule as printed: by table, of how many, and what.

    A figure that our reading reaches by that rule is marked with a star.
    """
    found: dict[str, tuple[dict[str, Any], list[str]]] = {}
    count: dict[str, int] = {}
    own = [table for table in results["tables"] if str(table["paper"]) == paper]
    for table, row, method, measure, both in cells(own):
        name, letter = table["name"], both["printed"]
        count[name] = count.get(name, 0) + 1
        if letter is None or not letter["reached"]["strict"]:
            read = both["read"]
            star = "*" if read and read["reached"]["strict"] else ""
            ours = number(letter["mean"], measure["digits"]) if letter else "not run"
            theirs = number(row["cells"][method][measure["name"]]["paper"][0], measure["digits"])
            text = f"{row['name']}, {method}, {measure['title']} {ours}{star} against {theirs}"
            found.setdefault(name, (table, []))[1].append(text)
    return [(table, count[table["name"]], texts) for table, texts in found.values()]


def paragraphs(text: str) -> list[str]:
    """The paragraphs of a text, each on one line."""
    return [" ".join(part.split()) for part in text.strip().split("\n\n") if part.strip()]


def cited(paper: dict[str, Any]) -> str:
    """A paper in short: its first author and its year."""
    return f"{paper['authors'].split(',')[0]} {paper['year']}"


def what(measure: dict[str, Any]) -> str:
    """What is measured, and in what."""
    title = measure["title"][:1].upper() + measure["title"][1:]
    return f"{title}, {measure['unit']}" if measure["unit"] else title


def way(measure: dict[str, Any]) -> str:
    """Which way is good."""
    judged = "" if measure["judged"] else ", not held against the paper"
    return f"{measure['better'].capitalize()} is better{judged}"


def groups(table: dict[str, Any]) -> list[tuple[str, list[dict[str, Any]]]]:
    """The columns: the paper's in its order, then our automatic ones, then alternatives."""
    own = [m for m in table["methods"] if m["role"] in ("proposed", "literal", "baseline")]
    added = [
        (title, [method for method in table["methods"] if method["role"] == role])
        for title, role in (("Automatic", "automatic"), ("Alternatives", "alternative"))
    ]
    return [(title, methods) for title, methods in [("In the paper", own), *added] if methods]


def counts(table: dict[str, Any], measure: str) -> set[int]:
    """How many runs stand behind the numbers; one value where all have the same."""
    found = set()
    for row in table["rows"]:
        for cell in row.get("cells", {}).values():
            if measure in cell and has(cell[measure]["mean"]):
                found.add(cell[measure]["count"])
        for line in row.get("points", {}).values():
            found |= {point[3] for point in line.get(measure, []) if has(point[1])}
    return found


def runs(table: dict[str, Any], measure: str) -> str:
    """How often each cell was run, where that is the same for all."""
    found = counts(table, measure)
    if not found:
        return "Not run"
    if len(found) > 1:
        return f"Runs differ: n is given with each, {table['asked']} asked for"
    (each,) = found
    if each == table["asked"]:
        return f"{count(each, 'run')} each"
    return f"{count(each, 'run')} each, {table['asked']} asked for"


def why(row: dict[str, Any], method: str) -> str:
    """Why a row has no cell of a method, where there is a reason."""
    return row.get("why", {}).get(method, "") or row.get("absent", "")


def letters(table: dict[str, Any]) -> dict[str, str]:
    """A letter for every reason why something was not run."""
    reasons: dict[str, str] = {}
    for row in table["rows"]:
        for reason in (row.get("absent", ""), *row.get("why", {}).values()):
            if reason and reason not in reasons:
                place = len(reasons)
                reasons[reason] = ascii_lowercase[place % 26] * (place // 26 + 1)
    return reasons


def run_facts(made: dict[str, Any]) -> list[tuple[str, str]]:
    """What was run, where, with what and for how long: names and sentences."""
    machine = made["machine"]
    packages = {"NumPy": "numpy", "SciPy": "scipy", "scikit-learn": "scikit_learn"}
    versions = [f"Ulmus {made['ulmus']}", f"Python {machine['python']}"]
    versions += [f"{title} {machine[name]}" for title, name in packages.items()]
    versions.append(f"PyTorch {machine['torch']}" if machine.get("torch") else "no PyTorch")
    kind = "quick: short forms of the tables" if made["quick"] else "full: as the papers state"
    work = f"{count(made['runs'], 'run')}, {hours(made['seconds'])} of work"
    jobs = f"{work} in {count(made['jobs'], 'process')}"
    return [
        ("Run", f"{made['date']}, {kind}"),
        ("Work", f"{jobs}, {made['peak_mb']:.0f} MB at most in one"),
        ("Machine", f"{machine['processor']}, {count(machine['cores'], 'core')}, "
                    f"{machine['memory_gb']:.1f} GB, {machine['system']}"),
        ("Versions", ", ".join(versions)),
    ]  # fmt: skip
