"""A published table or figure as data: what is run, how often, and what the paper printed.

Every file of ``protocols`` is one table or figure. `load` reads it, `cases` turns it into runs.
"""

import hashlib
import json
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import import_module, resources
from typing import Any

from papers.errors import UnknownTableError
from ulmus.arguments import hint

ROLES = ("proposed", "literal", "baseline", "automatic", "alternative")


@dataclass(frozen=True)
class Measure:
    """Something that is measured.

    Parameters
    ----------
    name, title : str
        For the file, and for people.
    better : {"higher", "lower"}
        Which way is good.
    unit : str
        "%", "s" or nothing.
    digits : int
        Decimals that the paper prints.
    of, statistic : str, {"mean", "best"}
        What the cell shows of the runs' values: their mean, or the best of measure ``of``.
    over : str
        The method whose mean seconds are divided by this one's, where that is what is measured.
    judged : bool
        Whether a cell is held against the paper's. Seconds of another machine are not.
    """

    name: str
    title: str
    better: str = "higher"
    unit: str = "%"
    digits: int = 2
    of: str = ""
    statistic: str = "mean"
    over: str = ""
    judged: bool = True


@dataclass(frozen=True)
class Method:
    """A column.

    ``role`` says whose it is: the paper's "proposed" method as we read it, the same as "literal" as
    the paper prints it, one of its "baseline" methods, our "automatic" choice of what the paper
    chose by hand, or an "alternative" that a user would take today and the paper does not have.
    ``reads`` is the proposed column whose figures a literal one is held against; a proposed column
    that reads itself is the paper's to the letter. ``repetitions`` is the most runs there are of
    it: one where nothing is drawn.
    """

    name: str
    role: str
    reads: str = ""
    repetitions: int | None = None
    quick: bool = True
    note: str = ""
    settings: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Row:
    """A row: data and settings, the paper's cells, or why there are none of ours.

    ``paper`` holds, for a method and a measure, mean and deviation, or the mean alone. ``x``
    replaces the axis' values in a figure, ``skip`` names methods that have no cell here.
    ``repetitions`` is how many runs there are, where the table's number does not settle the row.
    A literal column has the table's number all the same, and the settings in ``literal`` besides.
    ``drawn`` says that every run splits the rows anew where the paper has one split of its own: its
    deviation leaves out what a split does, and ours takes its place where it is larger.
    """

    name: str
    data: str = ""
    absent: str = ""
    repetitions: int | None = None
    drawn: bool = False
    quick: bool = True
    skip: tuple[str, ...] = ()
    x: tuple[float, ...] = ()
    paper: dict[str, dict[str, Any]] = field(default_factory=dict)
    literal: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Axis:
    """What a figure varies; ``scale`` is "linear" or "log"."""

    name: str
    title: str
    values: tuple[float, ...] = ()
    scale: str = "linear"


@dataclass(frozen=True)
class Protocol:
    """One table or figure; ``evaluator`` is the module whose ``run`` does a case.

    ``trials`` is how many values the paper's mean is of, where it is not ``repetitions``.
    """

    name: str
    paper: int
    label: str
    title: str
    evaluator: str
    repetitions: int
    measures: tuple[Measure, ...]
    methods: tuple[Method, ...]
    rows: tuple[Row, ...]
    axis: Axis | None = None
    about: str = ""
    trials: int = 0
    settings: dict[str, Any] = field(default_factory=dict)
    quick: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Case:
    """One run: a cell of a table or a point of a figure, once.

    ``settings`` are the protocol's, the row's and the method's together, the last winning. The
    splits and seeds of a run depend on ``repetition`` and ``seed`` alone, so that methods are
    compared on the same ones.
    """

    table: str
    evaluator: str
    row: str
    data: str
    method: str
    x: float | None
    repetition: int
    seed: int
    settings: dict[str, Any]

    @property
    def key(self) -> str:
        """What the run is called in the file of results; it changes with the settings.

        It does not change with the place of the evaluator's module.
        """
        stated = [self.evaluator.rpartition(".")[2], self.data, self.seed, self.settings]
        text = json.dumps(stated, sort_keys=True, ensure_ascii=False)
        digest = hashlib.sha256(text.encode()).hexdigest()[:12]
        x = "" if self.x is None else f"{self.x:g}"
        return "|".join((self.table, self.row, self.method, x, str(self.repetition), digest))

    def run(self) -> dict[str, Any]:
        """Measures by name; a list where one run gives several values."""
        return import_module(self.evaluator).run(self)


def names() -> list[str]:
    """Every table and figure that there is a file for, by paper."""
    files = resources.files("papers").joinpath("protocols").iterdir()
    found = [file.name.removesuffix(".toml") for file in files if file.name.endswith(".toml")]
    return sorted(found, key=_order)


def _order(name: str) -> tuple[int, bool, int, str]:
    paper, kind, number, *rest = name.split("-")
    return int(paper), kind != "table", int(number), "".join(rest)


def pick(wanted: list[str]) -> list[str]:
    """The tables that are meant: by name, by the start of one, or all where nothing is asked for.

    >>> pick(["2-table-3"])
    ['2-table-3']
    """
    known = names()
    if not wanted:
        return known
    found: list[str] = []
    for name in wanted:
        plain = name.lower().removeprefix("paper").replace("_", "-").replace(" ", "-")
        meant = [k for k in known if k == plain or k.startswith(plain + "-")]
        if not meant:
            raise UnknownTableError(f"There is no table or figure {name!r}; {hint(plain, known)}")
        found += [k for k in meant if k not in found]
    return found


def load(name: str) -> Protocol:
    """Read the file of a table or figure."""
    file = resources.files("papers").joinpath("protocols", f"{name}.toml")
    return parse(name, tomllib.loads(file.read_text(encoding="utf-8")))


def parse(name: str, text: dict[str, Any]) -> Protocol:
    """A protocol from what its file says; anything unknown in it is an error."""
    stated = dict(text)
    evaluator = f"papers.{stated.pop('evaluator')}"
    axis = stated.pop("axis", None)
    methods = tuple(_part(Method, method) for method in stated.pop("methods"))
    for method in methods:
        if method.role not in ROLES:
            raise ValueError(f"{name}: {method.name} has the role {method.role!r}.")
    measures = tuple(Measure(**measure) for measure in stated.pop("measures"))
    rows = tuple(_part(Row, row) for row in stated.pop("rows"))
    columns, shown = {method.name for method in methods}, {measure.name for measure in measures}
    proposed = {method.name for method in methods if method.role == "proposed"}
    for method in methods:
        if (method.role == "literal" or method.reads) and method.reads not in proposed:
            raise ValueError(f"{name}: {method.name} reads {method.reads!r}, no proposed column.")
    for row in rows:
        if stray := (set(row.paper) | set(row.skip)) - columns:
            raise ValueError(f"{name}: {row.name} names methods without a column: {stray}.")
        if stray := {measure for cells in row.paper.values() for measure in cells} - shown:
            raise ValueError(f"{name}: {row.name} has figures that are not measured: {stray}.")
    return Protocol(
        name,
        evaluator=evaluator,
        measures=measures,
        methods=methods,
        rows=rows,
        axis=None if axis is None else Axis(**{**axis, "values": tuple(axis.get("values", ()))}),
        **stated,
    )


def _part(cls: type, stated: dict[str, Any]) -> Any:
    """A method or a row: its own fields, and all else as settings."""
    own = {key: value for key, value in stated.items() if key in cls.__dataclass_fields__}
    own = {key: tuple(v) if key in ("skip", "x") else v for key, v in own.items()}
    settings = {key: value for key, value in stated.items() if key not in own}
    return cls(**own, settings=settings)


def cases(protocol: Protocol, quick: bool = False, seed: int = 0) -> Iterator[Case]:
    """Every run of a protocol, or those of its short form."""
    short = protocol.quick if quick else {}
    few = short.get("repetitions")
    most = max([protocol.repetitions, *(row.repetitions or 0 for row in protocol.rows)])
    for repetition in range(few or most):
        for row in protocol.rows:
            if row.absent or (quick and not row.quick):
                continue
            for method in protocol.methods:
                if method.name in row.skip or (quick and not method.quick):
                    continue
                if repetition >= min(few or most, times(protocol, row, method)):
                    continue
                settings = protocol.settings | row.settings | method.settings
                if method.role == "literal":
                    settings |= row.literal
                settings |= short.get("settings", {})
                for x in _values(protocol, row, short):
                    yield Case(
                        protocol.name, protocol.evaluator, row.name, row.data, method.name, x,
                        repetition, seed, settings,
                    )  # fmt: skip


def times(protocol: Protocol, row: Row, method: Method) -> int:
    """How many runs of a cell are asked for; a literal column has the paper's number."""
    of_row = None if method.role == "literal" else row.repetitions
    return min(of_row or protocol.repetitions, method.repetitions or 10**9)


def _values(protocol: Protocol, row: Row, short: dict[str, Any]) -> tuple[float | None, ...]:
    if protocol.axis is None:
        return (None,)
    values = row.x or protocol.axis.values
    every = short.get("every", 1)
    return values[::every] if values[-1] in values[::every] else (*values[::every], values[-1])
