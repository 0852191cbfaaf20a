"""Ratios that a benchmark should reach, and which of those measured miss theirs."""

from dataclasses import dataclass

# The part by which a ratio may miss its goal: two runs on one machine differ by less.
SLACK = 0.15


@dataclass(frozen=True)
class Goal:
    """A ratio of a run that is to be at most, or at least, a number."""

    run: str
    ratio: str
    number: float
    least: bool = False

    @property
    def words(self):
        """The goal as it is printed."""
        return f"{'≥' if self.least else '≤'} {self.number:g}"

    def missed(self, measured):
        """Whether it is missed by more than the slack; what is not a number misses."""
        bound = self.number * (1 - SLACK if self.least else 1 + SLACK)
        return not (measured >= bound if self.least else measured <= bound)


def _goals(run, most=None, least=None):
    below = [Goal(run, ratio, number) for ratio, number in (most or {}).items()]
    return below + [Goal(run, ratio, number, True) for ratio, number in (least or {}).items()]


GOALS = [
    *_goals(
        "fit",
        {
            "float32 / its floor": 1.25,
            "float64 / its floor": 1.25,
            "float32 / naive float64": 0.6,
            "C='loo' / one C (seconds)": 1.6,
        },
    ),
    *_goals(
        "path",
        {"largest relative difference of the errors, float64": 1e-10},
        {
            "RidgeCV float64 / float64 (seconds)": 8.0,
            "RidgeCV float32 / float32 (seconds)": 8.0,
        },
    ),
    *_goals(
        "layers",
        {
            "units from rows / random units, 50 000 × 100 (CPU)": 1.5,
            "units from rows / random units, images (CPU)": 2.0,
        },
    ),
    *_goals(
        "kernel",
        {
            "rank 1000, one C / Nystroem + Ridge (CPU seconds)": 0.75,
            "rank 1000, C='loo' / Nystroem + Ridge (CPU seconds)": 1.0,
            "rank 2000, one C / Nystroem + Ridge (CPU seconds)": 0.75,
            "rank 2000, C='loo' / Nystroem + Ridge (CPU seconds)": 1.0,
        },
        {"Algorithm 3 / rpcholesky, fit, rank 1000 (seconds)": 4.0},
    ),
    *_goals(
        "manifold",
        {"peak MB of a fit on 70 000 rows, 2000 units": 1000.0},
        {
            "a solve per point / one eigendecomposition": 10.0,
            "eigh(subset) / Lanczos, 10 vectors": 2.0,
            "eigh(subset) / Lanczos, 40 vectors": 1.0,
        },
    ),
    *_goals(
        "geometry",
        {
            "GELM / ELM, C and λ given": 1.25,
            "GELM / ELM, chosen": 3.0,
            "MELM / ELM, chosen": 3.0,
        },
        {"multiplicative / coordinate descent": 3.0},
    ),
    *_goals(
        "dask",
        {
            "two workers / one process, float32 (CPU seconds)": 1.2,
            "two workers / one process, float64 (CPU seconds)": 1.2,
        },
    ),
    *_goals("import", {"seconds more than scikit-learn": 0.15}),
    *_goals("files", {"ulmus / pickle, synced (seconds)": 2.0, "file / arrays (bytes)": 0.6}),
    *_goals(
        "rows",
        {
            "CPU ms to add a row": 3.0,
            "CPU ms to predict and add a row, past the kept rows": 10.0,
            "largest relative difference of outputs from a solve of all sums, C = 1": 1e-8,
        },
    ),
]
# What goals hold on other machines: sixteen cores, one GPU.
ELSEWHERE = [
    *_goals(
        "cores",
        {
            "float32 / its floor, 16 threads": 1.25,
            "float64 / its floor, 16 threads": 1.25,
            "float32, C='loo' / one C, 16 threads": 1.6,
            "float64, C='loo' / one C, 16 threads": 1.6,
        },
    ),
    *_goals(
        "gpu",
        {
            "SS-ELM on MNIST, seconds": 2.0,
            "ELMEmbedding on MNIST, seconds": 2.0,
            "ELMSpectralClustering on MNIST, seconds": 3.0,
        },
        {"plain PyTorch / ulmus, 1 000 000 × 784, 10 000 units": 4.0},
    ),
]
# The runs of ``make bench``: 15 minutes on two cores, two rounds each.
BRIEF = list(dict.fromkeys(goal.run for goal in GOALS))


def judged(measured):
    """Lines of a table of all goals of the runs that were measured, and those that are missed.

    ``measured`` has the ratios of each run by name. A goal whose ratio a run does not have is
    missed: a benchmark that lost its figure should be seen.
    """
    lines, missed = [], []
    for goal in (*GOALS, *ELSEWHERE):
        if goal.run not in measured:
            continue
        ratio = measured[goal.run].get(goal.ratio, float("nan"))
        late = goal.missed(ratio)
        missed += [goal] if late else []
        lines.append((goal.run, goal.ratio, f"{ratio:.3g}", goal.words, "missed" if late else ""))
    return lines, missed
