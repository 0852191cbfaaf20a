"""The tables of the paper on clustering in ELM feature space, beside what is measured here.

Run by ``python -m benchmarks clusters``; the data files come from ULMUS_DATA.
"""

from ulmus.experiments import hidden_clusters

NODES = (10, 30, 100, 300, 1000, 2000)
_PAPER = {
    "k-means": 0,
    "kernel k-means": 1,
    "ELM k-means": 2,
    "NMF": 0,
    "kernel NMF": 1,
    "ELM NMF": 2,
}


def cells():
    """Every cell of tables 2 to 7: mean and deviation of purity (%) and NMI, and the paper's."""
    found = {}
    for name, problem in hidden_clusters.PROBLEMS.items():
        tables = (
            (hidden_clusters.KMEANS, problem.kmeans),
            (hidden_clusters.NMF, problem.nmf),
        )
        for methods, table in tables:
            for classes, row in table.items():
                runs = _runs(name, methods, classes)
                scores = hidden_clusters.evaluate(problem, classes, methods, runs)
                for method, values in scores.items():
                    cell = _cell(values)
                    if method in _PAPER:
                        at = _PAPER[method]
                        cell["paper"] = (row[at], row[at + 3])
                    found[f"{name}, {classes}, {method}"] = cell
                    print(name, classes, method, cell, flush=True)
    return found


def _runs(name, methods, classes):
    """The paper's twenty runs, but fewer where one takes long."""
    if name != "TDT2":
        return 20 if classes in (6, 15) else 10
    if methods is hidden_clusters.NMF:
        return 3 if classes == 30 else 1
    return 10 if classes == 30 else 2


def nodes(runs=3):
    """Figure 2: purity by the number of nodes."""
    cases = {"Synthetic Control": 6, "Libras": 15, "TDT2": 10}
    found = {}
    for name, classes in cases.items():
        problem = hidden_clusters.PROBLEMS[name]
        for methods, method in (
            (hidden_clusters.KMEANS, "ELM k-means"),
            (hidden_clusters.NMF, "ELM NMF"),
        ):
            one = {method: methods[method]}
            for count in NODES:
                values = hidden_clusters.evaluate(problem, classes, one, runs, nodes=count)[method]
                found.setdefault(f"{name}, {method}", {})[count] = _cell(values)["purity"][0]
            print(name, method, found[f"{name}, {method}"], flush=True)
    return found


def _cell(values):
    mean, deviation = values.mean(axis=0), values.std(axis=0)
    return {
        "purity": (float(mean[0]), float(deviation[0])),
        "nmi": (float(mean[1]), float(deviation[1])),
        "runs": len(values),
    }
