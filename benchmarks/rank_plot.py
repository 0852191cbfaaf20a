"""A critical-difference plot: mean ranks, and bars over models that cannot be told apart.

Two models differ where their mean ranks do by more than Nemenyi's critical difference at five per
cent, q √(k (k + 1) / 6N) for k models on N sets (Demšar, 2006).
"""

import matplotlib as mpl
import numpy as np
from scipy.stats import studentized_range

mpl.use("Agg")
import matplotlib.pyplot as plt

LEVEL = 0.05


def critical_difference(models, sets):
    """How far apart two mean ranks must be."""
    q = studentized_range.ppf(1.0 - LEVEL, models, np.inf) / np.sqrt(2.0)
    return float(q * np.sqrt(models * (models + 1) / (6.0 * sets)))


def alike(ranks, difference):
    """Runs of models, from first to last, that are within the difference and in no longer run."""
    ranks, runs = np.sort(ranks), []
    for first, rank in enumerate(ranks):
        last = int(np.searchsorted(ranks, rank + difference, side="right")) - 1
        if last > first and (not runs or last > runs[-1][1]):
            runs.append((first, last))
    return runs


def draw(ranks, sets, path):
    """The plot of mean ranks by model, best first, as a file."""
    names, mean = list(ranks), np.array(list(ranks.values()))
    difference = critical_difference(len(names), sets)
    # The same file for the same figures.
    with mpl.rc_context({"svg.hashsalt": "ranks", "svg.fonttype": "none", "font.size": 10}):
        figure, axes = plt.subplots(figsize=(7.2, 0.6 + 0.3 * len(names)), facecolor="white")
        heights = -np.arange(len(names))
        axes.hlines(heights, 1.0, mean, color="#d0d0d0", linewidth=1)
        axes.plot(mean, heights, "o", color="#1f5fa8")
        for name, rank, height in zip(names, mean, heights, strict=True):
            axes.text(rank + 0.12, height, f"{name}  {rank:.2f}", va="center")
        for place, (first, last) in enumerate(alike(mean, difference)):
            x = len(names) + 0.4 + 0.25 * place
            axes.plot([x, x], [-first + 0.2, -last - 0.2], color="#b0413e", linewidth=3)
        axes.set(xlim=(1.0, len(names) + 2.0), xlabel="mean rank (1 is best)", yticks=[])
        axes.set_xticks(range(1, len(names) + 1))
        axes.set_title(
            f"{sets} sets; models joined by a bar differ by less than {difference:.2f}", fontsize=10
        )
        axes.spines[["top", "right", "left"]].set_visible(False)
        figure.savefig(path, bbox_inches="tight", metadata={"Date": None})
        plt.close(figure)
