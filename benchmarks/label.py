"""The labelling page: from a key to all rows coloured, frames a second, memory, suggestions.

Run by ``python -m benchmarks label``. The command and its page run as a user has them, in headless
Chromium. An action is measured from the key press to the frame that has its answer. CPU seconds are
those of the server for one action, suggestions and accuracy included.
"""

import time

import numpy as np

from benchmarks.measure import race, table

CONTENDERS = ("rows_2000", "rows_10000", "rows_60000", "suggestions")
# Rows that are labelled before, at once, and actions that are measured.
BEFORE, ACTIONS = 50, 20
# Sets of the gain, those by which suggestions were settled first.
SETS = ("digits", "mnist", "optdigits", "usps", "coil20")
LABELS, AT_ONCE, DRAWS, RANDOM = 50, 10, 2, 6
# Rows in a lasso, the nearest of the class of the row in its middle, and lassos that are measured.
LASSO, LASSOS = 150, 3


def rows_2000(folder):
    """2000 images of MNIST."""
    return _measured(folder, 2000)


def rows_10000(folder):
    """10 000 images."""
    return _measured(folder, 10_000)


def rows_60000(folder):
    """60 000 images."""
    return _measured(folder, 60_000)


def _measured(folder, rows):
    from tools.labelling import LabelPage, browser, labelling

    X, y = _data("mnist", rows, None)
    path = folder / f"mnist-{rows}.npz"
    np.savez(path, X=X)
    (folder / f"mnist-{rows}.npz.labels.jsonl").unlink(missing_ok=True)

    def work():
        start = time.perf_counter()
        with browser() as chromium, labelling(path, "--image-shape", "28x28", "--quiet") as running:
            window = chromium.new_context(viewport={"width": 1280, "height": 800})
            page = LabelPage.opened(window, running.url)
            ready = time.perf_counter() - start
            found = _actions(page, y, running.process.pid)
            found["lasso_latency"] = _lassos(page, X, y)
            found |= {"ready_seconds": ready, "frames_per_second": _frames(page.page)}
            found["draw_ms"] = page.page.evaluate(_DRAW)
            found["page_mb"] = page.page.evaluate("performance.memory.usedJSHeapSize / 1e6")
            found["server_mb"] = _memory(running.process.pid)
            return found

    return work


_DRAW = """() => {
  const start = performance.now();
  for (let k = 0; k < 30; k++) { rowMap.pan(1, 0); rowMap.drawNow(); }
  return (performance.now() - start) / 30;
}"""
_PAN = """() => new Promise((done) => {
  const first = rowMap.frames, start = performance.now();
  const step = () => {
    rowMap.pan(Math.sin(performance.now() / 200) * 4, 2);
    const spent = performance.now() - start;
    if (spent < 4000) requestAnimationFrame(step);
    else done((rowMap.frames - first) / spent * 1000);
  };
  step();
})"""


def _frames(page):
    """Frames a second while the map moves."""
    page.evaluate("rowMap.whole()")
    return page.evaluate(_PAN)


def _actions(page, y, process):
    for k in range(10):
        page.add_class(f"digit {k}")
    order = np.random.default_rng(0).permutation(len(y))
    for k in range(10):
        some = [int(row) for row in order[:BEFORE] if y[row] == k]
        page.page.evaluate(f"rowMap.selected = new Set({some})")
        version = page.give(k)
        page.page.locator(f"html[data-version='{version}']").wait_for(state="attached", timeout=0)
    page.settled(version)
    latency, cpu, server = [], [], []
    for row in order[BEFORE : BEFORE + ACTIONS]:
        page.select(int(row))
        before = _cpu(process)
        page.settled(page.give(int(y[row])))
        latency.append((page.mark("drawn") - page.mark("acted")) / 1000)
        server.append(float(page.page.locator("#hint").text_content().split(" s.")[0].split()[-1]))
        page.page.locator(f"#quality[data-labels='{BEFORE + len(latency)}']").wait_for(timeout=0)
        cpu.append(_cpu(process) - before)
    right = float(np.mean(np.array(page.codes) == y))
    return {"latency": latency, "server_seconds": server, "server_cpu": cpu, "right": right}


def _lassos(page, X, y):
    latency = []
    for row in range(LASSOS):
        some = [int(each) for each in _nearest(X, y, row)]
        page.page.evaluate(f"rowMap.selected = new Set({some})")
        page.settled(page.give(int(y[row])))
        latency.append((page.mark("drawn") - page.mark("acted")) / 1000)
    return latency


def _cpu(process):
    import psutil

    times = psutil.Process(process).cpu_times()
    return times.user + times.system


def _memory(process):
    import psutil

    return psutil.Process(process).memory_info().rss / 1e6


# ---------------------------------------------------------------------- what to label next
def suggestions(folder):
    """Errors after fifty labels, suggested ten at a time or drawn at random."""

    def work():
        return {"errors": {name: _gain(name) for name in SETS}}

    return work


def _gain(name):
    found = {"suggested": [], "random": [], "before a lasso": [], "after it": []}
    for draw in range(DRAWS):
        X, y = _data(name, 2000, draw)
        for kind, errors in _errors(X, y, draw).items():
            found[kind] += errors
    return found


def _errors(X, y, draw):
    from ulmus.app.actions import Labels
    from ulmus.app.learner import answer, neighbours, prepared
    from ulmus.app.suggestions import Surroundings

    model = prepared(X, draw)
    around = Surroundings.of(neighbours(model))
    rng, classes = np.random.default_rng(draw), len(np.unique(y))

    def answered(known):
        codes = np.where(known, y, -1).astype(np.int16)
        return answer(model, Labels(tuple(map(str, range(classes))), codes))

    known, unsure = np.zeros(len(y), dtype=bool), np.ones(len(y))
    while known.sum() < LABELS:
        known[list(around.suggested(unsure, known, AT_ONCE))] = True
        found = answered(known)
        unsure = 1.0 - found.probabilities.max(axis=1)
    errors = {"suggested": [float(np.mean(found.codes != y))]}
    for _ in range(RANDOM):
        some = np.zeros(len(y), dtype=bool)
        some[rng.permutation(len(y))[:LABELS]] = True
        lasso = some.copy()
        lasso[_nearest(X, y, np.flatnonzero(some)[0])] = True
        codes, after = answered(some).codes, answered(lasso).codes
        for kind, wrong in (
            ("random", codes != y),
            ("before a lasso", (codes != y)[~lasso]),
            ("after it", (after != y)[~lasso]),
        ):
            errors.setdefault(kind, []).append(float(np.mean(wrong)))
    return errors


def _nearest(X, y, row):
    """Rows of a lasso around a row: the nearest ones, those of its class."""
    near = np.argsort(((X - X[row]) ** 2).sum(axis=1))[:LASSO]
    return near[y[near] == y[row]]


def _data(name, rows, draw):
    """The first rows of a set, or rows drawn at random."""
    from sklearn.datasets import load_digits

    from papers.datasets import load

    if name == "digits":
        X, target = load_digits(return_X_y=True)
    else:
        found = load(name, download=False)
        X, target = found.data, found.target
    some = (
        np.arange(len(target))
        if draw is None
        else np.random.default_rng(draw).permutation(len(target))
    )
    some = some[:rows]
    return np.asarray(X[some], dtype=np.float32), np.unique(target[some], return_inverse=True)[1]


def run(folder, rounds):
    """The labelling page in Chromium, and the gain of its suggestions; once, for it is minutes.

    A single round leaves 60 000 rows out.
    """
    names = [name for name in CONTENDERS if rounds > 1 or name != "rows_60000"]
    best = race("benchmarks.label", names, folder, 1)
    errors = best["suggestions"]["errors"]
    rows, gains = [], {}
    for name, result in best.items():
        if "latency" in result:
            middle, high = np.quantile(result["latency"], [0.5, 0.95])
            cpu = np.median(result["server_cpu"])
            rows.append(
                (name[5:], f"{middle:.2f}", f"{high:.2f}", f"{max(result['lasso_latency']):.2f}",
                 f"{cpu:.2f}",
                 f"{result['draw_ms']:.1f}", f"{result['frames_per_second']:.0f}",
                 f"{result['server_mb']:.0f}", f"{result['page_mb']:.0f}")
            )  # fmt: skip
    columns = ["rows", "action: median s", "95th percentile", "longest of 3 lassos",
               "server CPU s", "ms to draw",
               "frames a second", "server MB", "page MB"]  # fmt: skip
    page = table("The labelling page, from a key to all rows coloured", columns, rows)
    lines = []
    for name, found in errors.items():
        ours, its = (float(np.mean(found[kind])) for kind in ("suggested", "random"))
        gains[f"error, suggested / random, {name}"] = ours / its
        lasso = [f"{np.mean(found[kind]):.2%}" for kind in ("before a lasso", "after it")]
        lines.append((name, f"{ours:.2%}", f"{its:.2%}", f"{1 - ours / its:.0%}", *lasso))
    heads = ["set, at most 2000 rows", "50 suggested labels", "50 random ones", "lower by",
             "other rows before a lasso", "after it"]  # fmt: skip
    return best, gains, f"{page}\n\n{table('Errors of all rows', heads, lines)}"
