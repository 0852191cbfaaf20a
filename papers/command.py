"""What `ulmus reproduce` does: run tables and figures, and write a page to read them on."""

import json
from pathlib import Path

from papers.errors import MissingDatasetError
from papers.markdown import markdown
from papers.page import page
from papers.protocol import load, names, pick
from papers.runner import kept, run
from papers.store import locked, write_whole
from papers.summary import results
from papers.wording import hours, share
from ulmus.cli.printing import note, print_json, say
from ulmus.machine import machine


def reproduce(options):
    """Run what is wanted, write the report, and print how it compares; 1 if a run failed."""
    if options.list:
        return _list_tables(options)
    tables, out, quick, seed = options.tables, options.out, options.quick, options.seed
    protocols = [load(name) for name in pick(tables)]
    jobs = options.jobs or machine()["cores"]
    folder = Path(out)
    with locked(folder):
        try:
            outcome = run(
                protocols,
                folder,
                quick=quick,
                seed=seed,
                jobs=jobs,
                minutes=options.minutes,
                say=note,
            )
        except KeyboardInterrupt:
            note(f"Nothing is lost: the same command goes on from what is in {folder}.")
            raise
        lines = kept(protocols, folder, quick, seed)
        if not any(lines.values()):
            note("Nothing could be run:")
            raise MissingDatasetError(next(iter(outcome.why.values()), "no time was given."))
        found = results(protocols, lines, outcome.why, quick=quick, jobs=jobs)
        write_whole(folder / "results.json", json.dumps(found, indent=1, ensure_ascii=False) + "\n")
        write_whole(folder / "report.md", markdown(found))
        write_whole(folder / "report.html", page(found))
    if outcome.left:
        note(f"{outcome.left} runs are left; the same command goes on with them.")
    _print(found, outcome, folder, options.json)
    return 1 if outcome.broken else 0


def _list_tables(options):
    """Print every table and figure."""
    protocols = {name: load(name) for name in names()}
    if options.json:
        print_json(
            {
                name: {"paper": p.paper, "label": p.label, "title": p.title}
                for name, p in protocols.items()
            }
        )
        return 0
    for name, protocol in protocols.items():
        say(f"{name:14}  paper {protocol.paper}, {protocol.label}: {protocol.title}")
    return 0


def _print(found, outcome, folder, as_json):
    if as_json:
        report = {"report": str(folder / "report.html"), "counts": found["counts"]}
        print_json({**report, "runs": outcome.done, "failed": len(outcome.broken)})
        return
    for number, count in found["counts"].items():
        said = ", ".join(f"{rule} {share(pair)}" for rule, pair in count["printed"].items())
        read = share(count["read"]["lenient"])
        say(f"paper {number} ({found['papers'][number]['authors']}): as printed {said}")
        say(f"        as we read it, lenient {read}")
    if outcome.broken:
        say(f"{len(outcome.broken)} cells failed; the report has the reasons.")
    say(f"{outcome.done} runs in {hours(outcome.seconds)}: {folder / 'report.html'}")
