"""What each benchmark measures, as figures, ratios and a page.

A run is given an empty folder and a number of rounds. Modules that import what few machines have
are imported by their run.
"""

import json
from pathlib import Path

import numpy as np

from benchmarks import (
    among_noise,
    choices,
    classes,
    clusters,
    cold_import,
    coverage,
    dask_cluster,
    dask_labels,
    dask_scale,
    files,
    fit,
    folds,
    forms,
    geometry,
    hinge,
    hundred,
    kernel,
    kernel_readings,
    known,
    label,
    labels,
    latency,
    layers,
    manifold,
    maps,
    messy,
    million,
    mnist,
    neighbours,
    path,
    priors,
    readings,
    relabel,
    ridges,
    rows,
    scale,
    serving,
    sizes,
    small,
    streams,
    tables,
    tabular,
    texts,
    units,
    unlabelled,
    widths,
)
from benchmarks.measure import race, table

HERE = Path(__file__).parent


def run_fit(folder, rounds):
    """Fit and predict against the floor, the textbook and the peers."""
    fit.prepare(folder)
    best = race("benchmarks.fit", fit.CONTENDERS, folder, rounds)
    cpu = {name: result["cpu_seconds"] for name, result in best.items()}
    ratios = {
        "float32 / its floor": cpu["ulmus_float32"] / cpu["floor_float32"],
        "float64 / its floor": cpu["ulmus_float64"] / cpu["floor_float64"],
        "float32 / naive float64": cpu["ulmus_float32"] / cpu["naive_float64"],
        "C='loo' / one C (seconds)": best["ulmus_float32_loo"]["seconds"]
        / best["ulmus_float32"]["seconds"],
    }
    rows = [
        (
            name,
            f"{result['cpu_seconds']:.2f}",
            f"{result['seconds']:.2f}",
            f"{result['cpu_seconds'] / cpu['naive_float64']:.2f}",
            f"{result['peak_mb']:.0f}",
            f"{result['accuracy']:.3f}" if "accuracy" in result else "",
        )
        for name, result in sorted(best.items(), key=lambda item: item[1]["cpu_seconds"])
    ]
    columns = ["contender", "CPU s", "s", "× naive float64", "peak MB", "accuracy"]
    title = "Fit and predict, 50 000 × 100, 10 classes, 2000 units, 10 000 test rows"
    return best, ratios, table(title, columns, rows)


def run_path(folder, rounds):
    """The curve over C against RidgeCV."""
    path.prepare(folder)
    best = race("benchmarks.path", path.CONTENDERS, folder, rounds)
    errors = {name: np.array(result.pop("loo")) for name, result in best.items()}
    seconds = {name: result["seconds"] for name, result in best.items()}
    peer = errors["ridge_cv_float64"]
    ratios = {
        "RidgeCV float64 / float64 (seconds)": seconds["ridge_cv_float64"]
        / seconds["ulmus_float64"],
        "RidgeCV float32 / float32 (seconds)": seconds["ridge_cv_float32"]
        / seconds["ulmus_float32"],
        "RidgeCV float64 / float32 (seconds)": seconds["ridge_cv_float64"]
        / seconds["ulmus_float32"],
        "largest relative difference of the errors, float64": float(
            np.max(np.abs(errors["ulmus_float64"] / peer - 1))
        ),
    }
    rows = [
        (
            name,
            f"{result['seconds']:.2f}",
            f"{result['cpu_seconds']:.2f}",
            f"{result['peak_mb']:.0f}",
            f"{np.max(np.abs(errors[name] / peer - 1)):.1e}",
        )
        for name, result in best.items()
    ]
    columns = ["contender", "s", "CPU s", "peak MB", "largest relative difference"]
    title = "25 values of C with exact leave-one-out, n = 20 000, h = 800"
    return best, ratios, table(title, columns, rows)


def run_layers(folder, rounds):
    """The default layer against random units."""
    layers.prepare(folder)
    best = race("benchmarks.layers", layers.CONTENDERS, folder, rounds)
    cpu = {name: result["cpu_seconds"] for name, result in best.items()}
    ratios = {
        "units from rows / random units, 50 000 × 100 (CPU)": cpu["units_from_rows"]
        / cpu["random_units"],
        "units from rows / random units, images (CPU)": cpu["images_units_from_rows"]
        / cpu["images_random_units"],
    }
    rows = [
        (
            name.replace("_", " "),
            f"{result['cpu_seconds']:.2f}",
            f"{result['peak_mb']:.0f}",
            f"{result['accuracy']:.4f}",
        )
        for name, result in best.items()
    ]
    title = (
        "The default hidden layer and random units, 1000 each: 50 000 × 100, and 10 000 of MNIST"
    )
    return best, ratios, table(title, ["contender", "CPU s", "peak MB", "accuracy"], rows)


def run_widths(folder, rounds):
    """What twice as many units bring."""
    found = widths.measure()
    return found, widths.gains(found), widths.page(found, table)


def run_sizes(folder, rounds):
    """What the defaults cost; minutes, so once."""
    sizes.prepare(folder)
    found = race("benchmarks.sizes", sizes.CONTENDERS + sizes.RANKS, folder, 1)
    return found, {}, sizes.page(found, table)


def run_small(folder, rounds):
    """What the defaults cost on small data."""
    found = small.measure(rounds)
    return found, {}, small.page(found, table)


def run_manifold(folder, rounds):
    """The grid of C and λ, eigenvectors, relabelling and memory."""
    manifold.prepare(folder)
    best = race("benchmarks.manifold", manifold.CONTENDERS, folder, rounds)
    seconds = {name: result["seconds"] for name, result in best.items()}
    ratios = {
        "a solve per point / one eigendecomposition": seconds["grid_by_a_solve_per_point"]
        / seconds["grid_from_one_eigendecomposition"],
        "eigh(subset) / Lanczos, 10 vectors": seconds["scipy_subset_10"] / seconds["lanczos_10"],
        "eigh(subset) / Lanczos, 40 vectors": seconds["scipy_subset_40"] / seconds["lanczos_40"],
        "relabel, milliseconds": 1000 * seconds["relabel_50000_rows"],
        "relabel and predict all, milliseconds": 1000 * seconds["relabel_and_predict_50000_rows"],
        "peak MB of a fit on 70 000 rows, 2000 units": best["fit_70000_rows"]["peak_mb"],
    }
    known = {"seconds", "cpu_seconds", "peak_mb"}
    rows = [
        (
            name.replace("_", " "),
            f"{result['seconds']:.3f}",
            f"{result['peak_mb']:.0f}",
            ", ".join(f"{key} {value:.2g}" for key, value in result.items() if key not in known),
        )
        for name, result in best.items()
    ]
    title = "The graph's part: n = 20 000, h = 2000, 100 labels, unless the row says otherwise"
    return best, ratios, table(title, ["contender", "s", "peak MB", "check"], rows)


def run_kernel(folder, rounds):
    """Low-rank kernels against Algorithm 3 and Nystroem + Ridge; the exact path."""
    kernel.prepare(folder)
    best = race("benchmarks.kernel", kernel.CONTENDERS, folder, rounds)
    seconds = {name: result["seconds"] for name, result in best.items()}
    cpu = {name: result["cpu_seconds"] for name, result in best.items()}
    ratios = {
        f"Algorithm 3 / rpcholesky, {what}, rank {rank} (seconds)": seconds[
            f"{part}algorithm_3_{rank}"
        ]
        / seconds[f"{part}rpcholesky_{rank}"]
        for what, part in (("factor", "factor_"), ("fit", ""))
        for rank in kernel.RANKS
    }
    for rank in (1000, 2000):
        for ours in (f"ulmus_rank_{rank}", f"ulmus_rank_{rank}_loo"):
            what = "one C" if ours.endswith("0") else "C='loo'"
            ratios[f"rank {rank}, {what} / Nystroem + Ridge (CPU seconds)"] = (
                cpu[ours] / cpu[f"nystroem_ridge_{rank}"]
            )
    ratios["exact, 31 C with leave-one-out / one C (seconds)"] = (
        seconds["exact_31_C"] / seconds["exact_one_C"]
    )
    ratios["peak MB, rank 1000"] = best["ulmus_rank_1000_loo"]["peak_mb"]
    known = {"seconds", "cpu_seconds", "peak_mb"}
    rows = [
        (
            name.replace("_", " "),
            f"{result['seconds']:.2f}",
            f"{result['cpu_seconds']:.2f}",
            f"{result['peak_mb']:.0f}",
            ", ".join(f"{key} {value:.4g}" for key, value in result.items() if key not in known),
        )
        for name, result in best.items()
    ]
    title = (
        "Kernels: n = 5000 for rpcholesky and Algorithm 3, 50 000 × 100 for Nystroem + Ridge, "
        "n = 3000 for the exact path"
    )
    return best, ratios, table(title, ["contender", "s", "CPU s", "peak MB", "check"], rows)


def run_hinge(folder, rounds):
    """The hinge loss against LinearSVC, an easy and a hard problem."""
    hinge.prepare(folder)
    best = race("benchmarks.hinge", hinge.CONTENDERS, folder, rounds)
    ratios = {
        f"LinearSVC / {dtype}, {problem} (seconds)": best[f"{problem}_linear_svc"]["seconds"]
        / best[f"{problem}_ulmus_{dtype}"]["seconds"]
        for problem in hinge.PROBLEMS
        for dtype in ("float64", "float32")
    }
    rows = [
        (
            name.replace("_", " "),
            f"{result['seconds']:.2f}",
            f"{result['cpu_seconds']:.2f}",
            f"{result['peak_mb']:.0f}",
            f"{result['excess']:.1e}",
        )
        for name, result in best.items()
    ]
    columns = ["contender", "s", "CPU s", "peak MB", "objective above the optimum"]
    title = "Hinge loss without a bias, n = 6000, h = 1000; LinearSVC stops after 3000 epochs"
    page = table(title, columns, rows)
    best["accuracies"] = hinge.accuracies()
    rows = [
        (case, f"{100 * cell['accuracy']:.1f}", f"{cell['seconds']:.2f}")
        for case, cell in best["accuracies"].items()
    ]
    title = "Choosing C for the hinge loss: seven data sets, the half that is held out"
    page += "\n\n" + table(title, ["model", "right (%)", "s"], rows)
    return best, ratios, page


def run_import(folder, rounds):
    """Cold import against scikit-learn's."""
    own, peer = "from ulmus import ELMClassifier", "import sklearn.linear_model"
    measured = cold_import.seconds([own, peer, "import ulmus"], 3 * rounds)
    best = {statement: {"seconds": taken} for statement, taken in measured.items()}
    rows = [(name, f"{result['seconds']:.2f}") for name, result in best.items()]
    ratios = {"seconds more than scikit-learn": measured[own] - measured[peer]}
    return best, ratios, table("Cold import", ["statement", "s"], rows)


def run_dask(folder, rounds):
    """A cluster of two workers against one process on the same cores."""
    dask_cluster.prepare(folder)
    best = race("benchmarks.dask_cluster", dask_cluster.CONTENDERS, folder, rounds)
    ratios = {
        f"two workers / one process, {dtype} ({what})": best[f"two_workers_{dtype}"][key]
        / best[f"one_process_{dtype}"][key]
        for dtype in dask_cluster.ROWS
        for what, key in (("seconds", "seconds"), ("CPU seconds", "cpu_seconds"))
    }
    rows = [
        (
            name.replace("_", " "),
            f"{dask_cluster.ROWS[name.rpartition('_')[2]]:,}".replace(",", " "),
            f"{result['seconds']:.2f}",
            f"{result['cpu_seconds']:.2f}",
            f"{result['difference']:.1e}" if "difference" in result else "",
        )
        for name, result in best.items()
    ]
    columns = ["contender", "rows", "s", "CPU s", "largest difference of β, relative"]
    title = f"Dask, {dask_cluster.COLUMNS} columns, h = {dask_cluster.HIDDEN}, three values of C"
    return best, ratios, table(title, columns, rows)


def run_dask_labels(folder, rounds):
    """Few labels on a cluster of two workers; one round, for it takes minutes."""
    dask_labels.prepare(folder)
    best = race("benchmarks.dask_labels", dask_labels.CONTENDERS, folder, 1)
    rows = [
        (
            name.rpartition("_")[0].replace("_", " "),
            f"{dask_labels.rows_of(name):,}".replace(",", " "),
            f"{result['seconds']:.0f}",
            f"{result['cpu_seconds']:.0f}",
            f"{result['accuracy']:.4f}",
            f"{result['same']:.4f}" if "same" in result else "",
        )
        for name, result in best.items()
    ]
    columns = ["contender", "rows", "s", "CPU s", "rows that are right", "as in one process"]
    title = f"SS-ELM on Dask, {dask_labels.COLUMNS} columns, {dask_labels.LABELS} labels, h = 2000"
    return best, {}, table(title, columns, rows)


def run_files(folder, rounds):
    """A model to a file and back, against pickle and joblib."""
    files.prepare(folder)
    best = race("benchmarks.files", files.CONTENDERS, folder, rounds)
    seconds = {name.strip("_"): result["seconds"] for name, result in best.items()}
    own, lean = best["ulmus"], best["ulmus_for_predictions"]
    ratios = {
        f"ulmus / {peer.replace('_', ', ')} (seconds)": seconds["ulmus"] / seconds[peer]
        for peer in ("pickle", "pickle_synced", "joblib", "joblib_synced")
    }
    ratios |= {
        "ulmus / ulmus, whole matrices (seconds)": seconds["ulmus"]
        / seconds["ulmus_whole_matrices"],
        "save and load, milliseconds": 1000 * own["seconds"],
        "save and load for predictions alone, milliseconds": 1000 * lean["seconds"],
        "file / arrays (bytes)": own["bytes"] / own["array_bytes"],
        "file for predictions alone / arrays (bytes)": lean["bytes"] / own["array_bytes"],
    }
    rows = [
        (
            name.strip("_").replace("_", " "),
            f"{1000 * result['seconds']:.0f}",
            f"{1000 * result['cpu_seconds']:.0f}",
            f"{result['bytes'] / 1e6:.1f}",
        )
        for name, result in best.items()
    ]
    title = f"Save and load, h = {files.HIDDEN}, 10 classes, 100 columns, float64"
    return best, ratios, table(title, ["contender", "ms", "CPU ms", "MB"], rows)


def run_readings(folder, rounds):
    """Other readings of the first paper."""
    return _cases(readings.measure(), "Other readings")


def run_kernel_readings(folder, rounds):
    """What the pages say of the two kernel papers and of kernels."""
    return _cases(kernel_readings.measure(), "Kernel readings", digits=4)


def run_choices(folder, rounds):
    """The defaults beside what they replaced."""
    return _cases(choices.measure(), "Choices")


def run_tables(folder, rounds):
    """Shapes of a table's numbers."""
    return _cases(tables.measure(), "Shapes of numbers in tables")


def run_tabular(folder, rounds, models=None):
    """Untuned models on tables: five splits, or one with ``--quick``."""
    found = tabular.measure(5 if rounds > 1 else 1, models=models)
    if models:
        kept = json.loads((HERE / "results" / "tabular.json").read_text())["results"]
        found = tabular.joined(kept, found)
    return found, tabular.ratios(found), tabular.page(found, table)


def run_coverage(folder, rounds):
    """Coverage of intervals and sets: two splits, or one with ``--quick``."""
    found = coverage.measure(2 if rounds > 1 else 1)
    return found, coverage.farthest(found), coverage.page(found, table)


def run_messy(folder, rounds):
    """`fit_table` beside boosting: three splits, or one with ``--quick``."""
    found = messy.measure(3 if rounds > 1 else 1)
    return found, messy.ratios(found), messy.page(found, table)


def run_unlabelled(folder, rounds):
    """Clusterers beside each other: ten seeds, or two with ``--quick``."""
    found = unlabelled.measure(10 if rounds > 1 else 2)
    return found, unlabelled.ratios(found), unlabelled.page(found, table)


def run_forms(folder, rounds):
    """How a form of US-ELM is chosen without a label."""
    found = forms.measure()
    return found, forms.ratios(found), forms.page(found, table)


def run_noise(folder, rounds):
    """Clusterers among noise: ten seeds, or three with ``--quick``."""
    found = among_noise.measure(10 if rounds > 1 else 3)
    return found, among_noise.ratios(found), among_noise.page(found, table)


def run_texts(folder, rounds):
    """A column of text, read in several ways: three splits, or one with ``--quick``."""
    found = texts.run(quick=rounds == 1)
    return found, {}, texts.page(found, table)


def run_folds(folder, rounds):
    """Leave-one-out and five folds where there is nothing to learn."""
    found = folds.measure()
    return found, {}, folds.page(found, table)


def run_serving(folder, rounds):
    """Requests of one row each, over HTTP."""
    found = serving.measure(quick=rounds == 1)
    return found, {}, serving.page(found, table)


def run_million(folder, rounds):
    """A million rows of Parquet by commands; minutes, so once."""
    found = million.measure(folder)
    return found, {}, million.page(found, table)


def run_geometry(folder, rounds):
    """What class scatter and the factorisation cost."""
    geometry.prepare(folder)
    best = race("benchmarks.geometry", geometry.CONTENDERS, folder, rounds)
    # One thread each: CPU seconds leave the neighbours of a shared machine out.
    seconds = {name: result["cpu_seconds"] for name, result in best.items()}
    ratios = {
        "GELM / ELM, C and λ given": seconds["gelm"] / seconds["elm"],
        "MELM / ELM, C and λ given": seconds["melm"] / seconds["elm"],
        "GELM / ELM, chosen": seconds["gelm_chosen"] / seconds["elm_chosen"],
        "MELM / ELM, chosen": seconds["melm_chosen"] / seconds["elm_chosen"],
        "multiplicative / coordinate descent": seconds["nmf_multiplicative"]
        / seconds["nmf_coordinate_descent"],
    }
    known = {"seconds", "cpu_seconds", "peak_mb"}
    rows = [
        (
            name.replace("_", " "),
            f"{result['cpu_seconds']:.3f}",
            ", ".join(f"{key} {value:.3g}" for key, value in result.items() if key not in known),
        )
        for name, result in best.items()
    ]
    title = "Yale B, 25 images, h = 200; control charts, h = 1000, 6 components"
    return best, ratios, table(title, ["contender", "CPU s", "check"], rows)


def run_units(folder, rounds):
    """Which hidden units suit a clustering."""
    found = units.measure()
    names = list(next(iter(found.values())))
    rows = [[name, *(f"{cells[name]:.1f}" for cells in found.values())] for name in names]
    return found, {}, table("Purity (%) by hidden units", ["clustering", *found], rows)


def run_classes(folder, rounds):
    """Leave-one-out with many classes."""
    names = {m: f"classes_{m}" for m in classes.CLASSES}
    best = race("benchmarks.classes", names.values(), folder, 1)
    few, many = (best[names[m]]["cpu_seconds"] for m in classes.CLASSES[1::2])
    growth = np.log(many / few) / np.log(classes.CLASSES[3] / classes.CLASSES[1])
    ratios = {f"CPU seconds grow with classes to the power, from {classes.CLASSES[1]}": growth}
    rows = [
        (m, f"{r['seconds']:.1f}", f"{r['cpu_seconds']:.1f}", f"{r['peak_mb']:.0f}")
        for m, r in ((m, best[name]) for m, name in names.items())
    ]
    title = "C chosen by leave-one-out, 20 000 rows, 1000 units, working_memory 1024 MB"
    return best, ratios, table(title, ["classes", "s", "CPU s", "peak MB"], rows)


def run_clusters(folder, rounds):
    """Clusters of many rows, free of the hidden layer and tied to it."""
    found = clusters.measure()
    rows = [[name, *(f"{cell:.1f}" for cell in cells)] for name, cells in found.items()]
    columns = ["clustering", "accuracy, given", "NMI, given", "accuracy, new", "NMI, new", "s"]
    title = (
        "Clusters (%) of MNIST without a label, 60 000 images given, 10 000 new, the graph at hand"
    )
    return found, {}, table(title, columns, rows)


def run_maps(folder, rounds):
    """Maps to look at, ours and those of three libraries."""
    found = maps.measure()
    return found, maps.ratios(found), "\n\n".join(table(*part) for part in maps.tables(found))


def run_scale(folder, rounds):
    """Against the number of rows and of units; covtype beside its rivals."""
    rows = scale.prepare(folder)
    by_rows = {n: f"map_{n}" for n in rows}
    middle = min(scale.MIDDLE, rows[-1])
    sources = [f"{kind}_{middle}" for kind in scale.SOURCES]
    by_units = {h: f"units_{h}" for h in scale.UNITS}
    covtype = scale.COVTYPE if scale.covtype_is_here() else []
    best = race("benchmarks.scale", [by_rows[n] for n in rows[:-1]] + sources, folder, rounds)
    # Minutes each, and long enough to say something at once.
    once = [by_rows[rows[-1]], *by_units.values(), *covtype]
    best |= race("benchmarks.scale", once, folder, 1)
    return best, _scale_ratios(best, by_rows, by_units, middle), _scale_page(best)


def _scale_page(best):
    known = {"seconds", "cpu_seconds", "peak_mb"}
    lines = [
        (
            name.replace("_", " "),
            f"{result['seconds']:.2f}",
            f"{result['cpu_seconds']:.2f}",
            f"{result['peak_mb']:.0f}",
            ", ".join(f"{key} {value:.3f}" for key, value in result.items() if key not in known),
        )
        for name, result in best.items()
    ]
    title = (
        f"Larger than memory: rows × {scale.COLUMNS} float32, {scale.HIDDEN} units; "
        f"{scale.UNIT_ROWS} rows for units; covtype, a fifth held out, loaded, fitted and predicted"
    )
    return table(title, ["contender", "s", "CPU s", "peak MB", "check"], lines)


def _scale_ratios(best, by_rows, by_units, middle):
    """How figures grow, and how a map compares with memory."""
    ratios, base = {}, best[min(by_rows.values(), key=lambda name: best[name]["peak_mb"])]
    for what in ("seconds", "cpu_seconds"):
        figures = {n: best[name][what] for n, name in by_rows.items() if n >= 10**5}
        words = what.replace("cpu_s", "CPU s")
        ratios[f"{words} grow with rows to the power"] = scale.growth(
            list(figures), list(figures.values())
        )
        for kind in ("map", *scale.SOURCES):
            if kind != "memory" and f"{kind}_{middle}" in best:
                ratios[f"{kind} / memory, {middle} rows ({words})"] = (
                    best[f"{kind}_{middle}"][what] / best[f"memory_{middle}"][what]
                )
        figures = {h: best[name][what] for h, name in by_units.items() if h >= 2000}
        ratios[f"{words} grow with units to the power"] = scale.growth(
            list(figures), list(figures.values())
        )
    ratios["peak MB of the largest map"] = best[list(by_rows.values())[-1]]["peak_mb"]
    h, name = list(by_units.items())[-1]
    above = best[name]["peak_mb"] - base["peak_mb"]
    ratios[f"memory above the smallest fit in h × h float64 matrices, h = {h}"] = (
        above * 2**20 / (8 * h**2)
    )
    (n, name), (rows, units) = list(by_rows.items())[-1], scale.LARGE
    seconds = best[name]["cpu_seconds"] * scale.work(rows, units) / scale.work(n, scale.HIDDEN)
    case = f"{rows} rows and {units} units, by arithmetic"
    ratios[f"CPU hours of {case}"] = seconds / 3600
    ratios[f"GB of three h × h matrices, {case}"] = 3 * 8 * units**2 / 1e9
    return ratios


def run_mnist(folder, rounds):
    """MNIST on this machine; minutes each, so once."""
    best = race("benchmarks.mnist", mnist.CONTENDERS, folder, 1)
    rows = [
        (
            name.replace("_", " "),
            f"{result['seconds']:.0f}",
            f"{result['cpu_seconds']:.0f}",
            f"{result['peak_mb']:.0f}",
            f"{result['C']:.3g}",
            f"{result['accuracy']:.4f}",
        )
        for name, result in best.items()
    ]
    columns = ["contender", "s", "CPU s", "peak MB", "C", "accuracy"]
    return best, {}, table("MNIST, C by leave-one-out, float32", columns, rows)


def run_labels(folder, rounds):
    """Few labels on ten data sets, beside the kinds alone and the peers.

    A single round takes the peers' errors from the results that are kept.
    """
    kept = HERE / "results" / "labels.json"
    before = json.loads(kept.read_text())["results"] if rounds == 1 and kept.exists() else None
    found = labels.measure(before)
    ratios, page = labels_page(found)
    return found, ratios, page


def run_blanks(folder, rounds):
    """Tables with few labels: SS-ELM beside the supervised ELM on the labelled rows."""
    found = labels.blanks()
    ratios = {
        f"points of SS-ELM above {who}, {name}": 100.0
        * float(np.mean(np.subtract(rates["SS-ELM"], rates[who])))
        for name, rates in found.items()
        for who in ("ELM", "without the layer")
    }
    title = "Tables with few labels (adult: 1 %, others: 100): rows without one that are right"
    return found, ratios, table(title, *_means_of(found, 4))


def labels_page(found):
    """Ratios and the table of errors."""
    peers = ["Ulmus", *labels.peers(), "1-NN"]
    means = {
        case: {name: float(np.mean(errors)) for name, errors in row.items()}
        for case, row in found.items()
    }
    ranks = {name: [] for name in peers}
    behind = {}
    for case, row in means.items():
        order = sorted((name for name in peers if name in row), key=row.get)
        for place, name in enumerate(order, 1):
            ranks[name].append(place)
        gap = row["Ulmus"] - min(row[kind] for kind in labels.KINDS)
        behind.setdefault(case.split(", ")[1], []).append(gap)
    ratios = {f"mean rank of {name}": float(np.mean(places)) for name, places in ranks.items()}
    ratios |= {f"most points behind a kind, {count}": max(gaps) for count, gaps in behind.items()}
    columns = [*peers[:1], *labels.KINDS, *peers[1:]]
    rows = [
        [case, *(f"{row[name]:.1f}" if name in row else "" for name in columns)]
        for case, row in means.items()
    ]
    title = "Few labels: error (%) on rows without one, up to 2000 rows, means of ten draws"
    return ratios, table(title, ["data, labels", *columns], rows)


def run_priors(folder, rounds):
    """Choices of the pool for few labels, each beside what it replaced."""
    found = priors.measure()
    title = f"Few labels: error (%), 2000 rows, means of {priors.DRAWS} draws"
    return found, _mean_over(found), table(title, *_means_of(found, 1))


def run_graphs(folder, rounds):
    """Few labels with a third graph."""
    found = priors.measure_graphs()
    title = (
        f"Numbers of neighbours: error (%), {priors.GRAPH_ROWS} rows, {priors.GRAPH_DRAWS} draws"
    )
    half = len(found) // 2
    parts = {"the first four sets": list(found)[:half], "the others": list(found)[half:]}
    ratios = {
        f"{what}, {name}": ratio
        for name, cases in parts.items()
        for what, ratio in _mean_over({case: found[case] for case in cases}).items()
    }
    return found, ratios, table(title, *_means_of(found, 1))


def run_values(folder, rounds):
    """SS-ELM for numbers beside the supervised ELM."""
    found = priors.measure_values()
    title = f"Few values: R² on rows without one, means of {priors.DRAWS} draws"
    return found, _mean_over(found), table(title, *_means_of(found, 3))


def _means_of(found, digits):
    """Columns and rows of a table of means over draws."""
    names = list(next(iter(found.values())))
    rows = [
        [case, *(f"{np.mean(row[name]):.{digits}f}" for name in names)]
        for case, row in found.items()
    ]
    return ["data", *names], rows


def _mean_over(found):
    """The mean over all cases and draws, by name."""
    names = next(iter(found.values()))
    return {
        f"mean, {name}": float(np.mean([np.mean(row[name]) for row in found.values()]))
        for name in names
    }


def run_label(folder, rounds):
    """The labelling page in Chromium, and the gain of its suggestions; once, for it is minutes.

    A single round leaves 60 000 rows out.
    """
    names = [name for name in label.CONTENDERS if rounds > 1 or name != "rows_60000"]
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


def run_relabel(folder, rounds):
    """Other labels on the same rows, beside the fit; one round, for a fit takes a minute."""
    best = race("benchmarks.relabel", relabel.CONTENDERS, folder, 1)
    rows, ratios = [], {}
    for name, result in best.items():
        fit_cpu, name = result["calls"]["fit"][1], name.replace("_", " ")
        for what, (_, cpu) in result["calls"].items():
            rows.append((name, what, f"{cpu:.2f}", f"{cpu / fit_cpu:.3f}"))
        ratios[f"one label / fit (CPU), {name}"] = result["calls"]["one label"][1] / fit_cpu
    columns = ["rows", "call", "CPU s", "/ that of the fit"]
    return best, ratios, table("Other labels on the same rows, a hundred given", columns, rows)


def run_hundred(folder, rounds):
    """A hundred labels among sixty thousand images; minutes each, so once."""
    hundred.prepare(folder)
    best = race("benchmarks.hundred", hundred.CONTENDERS, folder, 1)

    def mean(rates):
        return f"{np.mean(rates):.4f}"

    first = best["auto_2000"]
    rows = []
    for each in (10, 1):
        labels = f"{each} labels a digit" if each > 1 else "1 label a digit"
        rates = (mean(first[f"given_{each}"]), mean(first[f"new_{each}"]))
        rows += [
            (f"SS-ELM, 2000 units, {labels}, ten draws", *rates),
            (
                f"LabelSpreading on its graph, {labels}, ten draws",
                mean(first[f"spreading_{each}"]),
                "",
            ),
        ]
    names = {
        "auto_10000": "SS-ELM, 10 000 units, one draw",
        "tight_2000": "SS-ELM, tight, one draw",
        "labelled_alone": "ELM on the labelled rows, one draw",
    }
    rows += [
        (text, f"{best[name]['given']:.4f}", f"{best[name]['new']:.4f}")
        for name, text in names.items()
    ]
    rows += [
        (f"β fitted to: {name}, two draws", "", mean(rates))
        for name, rates in best["beta_targets"]["new"].items()
    ]
    noise, covtype = best["noise"], best["covtype"]
    rows += [
        (f"graph of noise, coupling {noise['coupling']}", "", f"{noise['new']:.4f}"),
        ("the same, ELM on the labelled rows", "", f"{noise['alone']:.4f}"),
        (f"covtype, 1 % labelled, coupling {covtype['coupling']}", f"{covtype['given']:.4f}", ""),
        ("the same, ELM on the labelled rows", f"{covtype['alone']:.4f}", ""),
    ]
    page = table("A hundred labels: the part that is right", ["what", "given", "new"], rows)
    costs = [
        (name.replace("_", " "), f"{best[name]['seconds']:.0f}", f"{best[name]['peak_mb']:.0f}")
        for name in ("auto_2000", "auto_10000", "tight_2000", "covtype")
    ]
    costs.append(("another label", f"{first['relabel_seconds']:.2f}", ""))
    page += "\n\n" + table("What it costs", ["what", "s", "peak MB"], costs)
    ratios = {
        "SS-ELM / LabelSpreading, 10 labels, given rows": np.mean(first["given_10"])
        / np.mean(first["spreading_10"]),
        "SS-ELM / LabelSpreading, 1 label, given rows": np.mean(first["given_1"])
        / np.mean(first["spreading_1"]),
    }
    return best, ratios, page


def run_known(folder, rounds):
    """Figures that are known, on the benchmark files; what is apart ends the run."""
    found = known.measure()
    apart = [
        name for name, (figure, expected, most) in found.items() if abs(figure - expected) > most
    ]
    rows = [(name, *(f"{value:.4g}" for value in values)) for name, values in found.items()]
    page = table("Known figures", ["what", "found", "known", "may be apart"], rows)
    if apart:
        raise SystemExit(f"{page}\n\nApart: {', '.join(apart)}")
    return found, {}, page


def run_streams(folder, rounds):
    """Streams beside a fit on the same rows; minutes, so once."""
    found = streams.measure()
    page = "\n\n".join(
        table(title, ["data", *next(iter(found[part].values()))], _scores(found[part]))
        for part, title in (
            (
                "against fit",
                "Streams by their first batch, and in fifties after it (California: 200)",
            ),
            ("row by row", "Streams row by row"),
        )
    )
    rows = [
        (data, model, f"{result['accuracy']:.3f}", f"{result['ms a row']:.1f}")
        for data, results in found["before learning"].items()
        for model, result in results.items()
    ]
    title = "Rows that are predicted before they are learned, one by one"
    page += "\n\n" + table(title, ["data", "model", "accuracy", "ms a row"], rows)
    rows = [(when, f"{milliseconds:.0f}") for when, milliseconds in found["updates"].items()]
    page += "\n\n" + table("An update by one row", ["when", "ms"], rows)
    apart = {
        f"farthest from `fit`, {part}": max(r["farthest from fit"] for r in found[part].values())
        for part in ("against fit", "row by row")
    }
    return found, apart, page


def run_ridges(folder, rounds):
    """MELM by its ridge; minutes, so once."""
    found = ridges.measure()
    parts = {"chosen by": "by which it was chosen", "held against": "that had no part in that"}
    page = "\n\n".join(
        table(f"MELM's ridge on data {parts[part]}", ["data", *cases["mean"]], _scores(cases))
        for part, cases in found.items()
    )
    return found, {}, page


def _scores(found):
    """Rows of a table of scores by data set."""
    return [
        (name, *(f"{v:.3f}" if isinstance(v, float) else v for v in result.values()))
        for name, result in found.items()
    ]


def run_onnx(folder, rounds):
    """A call of a model and of its ONNX graph."""
    found = latency.measure()
    rows, ratios = [], {}
    for name, result in found.items():
        rows.append(
            (
                name,
                f"{result['megabytes']:.2f}",
                *(f"{result[key]:.0f}" for key in result if " µs" in key),
                result["labels apart"],
                f"{result['probabilities apart']:.0e}",
            )
        )
        for size in latency.SIZES:
            ulmus, graph = (result[f"{who} µs, rows {size}"] for who in ("ulmus", "onnxruntime"))
            ratios[f"ulmus / onnxruntime, {name}, rows {size}"] = ulmus / graph
    times = [key for key in result if " µs" in key]
    columns = ["model", "MB", *times, "labels apart", "probabilities apart"]
    title = "`predict_proba` on digits, rows in float32, one thread"
    return found, ratios, table(title, columns, rows)


def _cases(found, title, digits=3):
    """A table of nested cases."""
    rows = []
    for choice, cases in found.items():
        for case, value in cases.items():
            values = value.items() if isinstance(value, dict) else [("", value)]
            rows += [(choice, f"{case} {name}".strip(), f"{v:.{digits}g}") for name, v in values]
    page = table(title, ["choice", "case", "figure"], rows)
    return found, {}, page


RUNS = {
    "fit": run_fit,
    "path": run_path,
    "layers": run_layers,
    "widths": run_widths,
    "sizes": run_sizes,
    "small": run_small,
    "kernel": run_kernel,
    "manifold": run_manifold,
    "hinge": run_hinge,
    "dask": run_dask,
    "dask_labels": run_dask_labels,
    "dask_scale": dask_scale.run,
    "neighbours": neighbours.run,
    "import": run_import,
    "files": run_files,
    "choices": run_choices,
    "readings": run_readings,
    "kernel_readings": run_kernel_readings,
    "known": run_known,
    "geometry": run_geometry,
    "units": run_units,
    "classes": run_classes,
    "clusters": run_clusters,
    "maps": run_maps,
    "scale": run_scale,
    "mnist": run_mnist,
    "hundred": run_hundred,
    "labels": run_labels,
    "blanks": run_blanks,
    "priors": run_priors,
    "graphs": run_graphs,
    "values": run_values,
    "label": run_label,
    "relabel": run_relabel,
    "onnx": run_onnx,
    "streams": run_streams,
    "rows": rows.run,
    "ridges": run_ridges,
    "tables": run_tables,
    "tabular": run_tabular,
    "messy": run_messy,
    "texts": run_texts,
    "folds": run_folds,
    "serving": run_serving,
    "million": run_million,
    "coverage": run_coverage,
    "unlabelled": run_unlabelled,
    "noise": run_noise,
    "forms": run_forms,
}


PICTURES = {"tabular": tabular.picture}
