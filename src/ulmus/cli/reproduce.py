"""``ulmus reproduce``: the papers' tables and figures, and a page to read them on."""

import json
import sys
from pathlib import Path

from ulmus.exceptions import MissingDatasetError
from ulmus.experiments.machine import machine
from ulmus.experiments.markdown import markdown
from ulmus.experiments.page import page
from ulmus.experiments.protocol import load, names, pick
from ulmus.experiments.runner import kept, run
from ulmus.experiments.store import locked, write_whole
from ulmus.experiments.summary import results
from ulmus.progress import duration

__all__ = ["list_tables", "reproduce"]


def list_tables():
    """Print every table and figure."""
    for name in names():
        protocol = load(name)
        print(f"{name:14}  paper {protocol.paper}, {protocol.label}: {protocol.title}")
    return 0


def reproduce(tables, out, *, quick=False, jobs=None, seed=0, minutes=None):
    """Run what is wanted, write the report, and print how it compares.

    Parameters
    ----------
    tables : list of str
        Names, or beginnings of names; all if empty.
    out : str
        The folder for the runs and the report.
    quick : bool, default=False
        The short form.
    jobs : int, default=None
        Processes; as many as there are cores if not given.
    seed : int, default=0
        Seeds splits and models.
    minutes : float, default=None
        Start nothing after so long.

    Returns
    -------
    status : int
        0, or 1 if a run failed that should not have.
    """
    protocols = [load(name) for name in pick(tables)]
    jobs = jobs or machine()["cores"]
    folder = Path(out)
    with locked(folder):
        try:
            outcome = run(
                protocols, folder, quick=quick, seed=seed, jobs=jobs, minutes=minutes, say=_say
            )
        except KeyboardInterrupt:
            _say(f"Nothing is lost: the same command goes on from what is in {folder}.")
            raise
        lines = kept(protocols, folder, quick, seed)
        if not any(lines.values()):
            _say("Nothing could be run:")
            raise MissingDatasetError(next(iter(outcome.why.values()), "no time was given."))
        found = results(protocols, lines, outcome.why, quick=quick, jobs=jobs)
        write_whole(folder / "results.json", json.dumps(found, indent=1, ensure_ascii=False) + "\n")
        write_whole(folder / "report.md", markdown(found))
        write_whole(folder / "report.html", page(found))
    if outcome.left:
        _say(f"{outcome.left} runs are left; the same command goes on with them.")
    _print(found, outcome, folder)
    return 1 if outcome.broken else 0


def _print(found, outcome, folder):
    for number, total in found["totals"].items():
        ran = total["match"] + total["better"] + total["worse"]
        good = total["match"] + total["better"]
        paper = found["papers"][number]
        share = f"{good} of {ran}" + (f" ({good / ran:.0%})" if ran else "")
        missing = f", {total['missing']} not run" if total["missing"] else ""
        print(f"paper {number} ({paper['authors']}): {share} cells match or better{missing}")
    if outcome.broken:
        print(f"{len(outcome.broken)} cells failed; the report has the reasons.")
    print(f"{outcome.done} runs in {duration(outcome.seconds)}: {folder / 'report.html'}")


def _say(text):
    print(text, file=sys.stderr, flush=True)
