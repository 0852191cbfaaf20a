"""How good predictions are, beside those of a baseline."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.metrics import confusion_matrix, precision_recall_fscore_support

from ulmus.exceptions import InvalidInputError


def judge_labels(
    truth: Sequence[str], found: Sequence[str], classes: Sequence[str]
) -> dict[str, Any]:
    """Accuracy, precision and recall of each class, and the confusion matrix, as plain data.

    Classes of the truth that are not among ``classes`` come last, and are listed under "unknown"
    too. The baseline is the majority class.
    """
    unknown = sorted(set(truth) - set(classes))
    if len(unknown) == len(set(truth)):
        raise InvalidInputError(
            f"None of the file's classes ({', '.join(unknown[:3])}) is one that the model knows "
            f"({', '.join(classes[:3])}); they are not of the same data."
        )
    names = [*classes, *unknown]
    square = confusion_matrix(truth, found, labels=names)
    precision, recall, f1, rows = precision_recall_fscore_support(
        truth, found, labels=names, zero_division=0
    )
    columns = {"rows": rows, "precision": precision, "recall": recall, "f1": f1}
    return {
        "accuracy": float(np.trace(square) / len(truth)),
        "balanced_accuracy": float(recall[rows > 0].mean()),
        "baseline": {"accuracy": float(rows.max() / len(truth))},
        "classes": {
            name: {measure: values[k].item() for measure, values in columns.items()}
            for k, name in enumerate(names)
        },
        "confusion": square.tolist(),
        "unknown": unknown,
    }


def mistakes(scores: dict[str, Any], most: int) -> list[tuple[str, str, int]]:
    """The most frequent pairs of a true and another predicted class; none of numbers."""
    names, counts = list(scores.get("classes", ())), np.array(scores.get("confusion", [[]]))
    np.fill_diagonal(counts, 0)
    order = np.argsort(-counts, axis=None, kind="stable")[:most]
    pairs = [divmod(int(place), len(names)) for place in order if counts.flat[place]]
    return [(names[i], names[j], int(counts[i, j])) for i, j in pairs]


def judge_numbers(truth: np.ndarray, found: np.ndarray) -> dict[str, Any]:
    """R², mean absolute and root mean squared error, as plain data; the baseline is the mean."""
    error, spread = truth - found, truth - truth.mean()
    total = float(np.mean(spread**2))
    return {
        "r2": 1.0 - float(np.mean(error**2)) / total if total else float(not error.any()),
        "mae": float(np.mean(np.abs(error))),
        "rmse": float(np.sqrt(np.mean(error**2))),
        "baseline": {"mae": float(np.mean(np.abs(spread))), "rmse": float(np.sqrt(total))},
    }


def score_words(summary: dict[str, Any]) -> tuple[str, str]:
    """How the rows of a model's score were left out, and the score beside the baseline's.

    Examples
    --------
    >>> score_words({"folds_score": 0.91, "loo_measure": "accuracy", "baseline": 0.5})
    ('five folds', 'accuracy 91.0% on left-out rows; the majority class has 50.0%')
    """
    how, score = "five folds", summary["folds_score"]
    if score is None:
        how, score = "leave-one-out", summary["loo_score"]
    if score is None:
        return how, "not known"
    if summary["loo_measure"] == "accuracy":
        majority = f"{summary['baseline']:.1%}"
        return how, f"accuracy {score:.1%} on left-out rows; the majority class has {majority}"
    return how, f"R² = {score:.3f} on left-out rows; the mean has 0"
