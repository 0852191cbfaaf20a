"""How good predictions are, beside what could be had without a model."""

import numpy as np

from ulmus.exceptions import InvalidInputError

__all__ = ["judge_labels", "judge_numbers"]


def judge_labels(truth, found, classes):
    """Accuracy, precision and recall of each class, and the confusion matrix, as plain data.

    All are lists of text. Classes of the truth that are not among ``classes`` come last, and are
    listed under "unknown" too.
    """
    unknown = sorted(set(truth) - set(classes))
    if len(unknown) == len(set(truth)):
        raise InvalidInputError(
            f"None of the file's classes ({', '.join(unknown[:3])}) is one that the model knows "
            f"({', '.join(classes[:3])}); they are not of the same data."
        )
    names = [*classes, *unknown]
    place = {name: k for k, name in enumerate(names)}
    square = np.zeros((len(names), len(names)), dtype=np.int64)
    np.add.at(square, ([place[t] for t in truth], [place[f] for f in found]), 1)
    of_class, said = square.sum(axis=1), square.sum(axis=0)
    hits = np.diag(square)
    recall, precision = _share(hits, of_class), _share(hits, said)
    f1 = _share(2 * hits, of_class + said)
    present = of_class > 0
    return {
        "accuracy": float(hits.sum() / len(truth)),
        "balanced_accuracy": float(recall[present].mean()),
        "baseline": {"accuracy": float(of_class.max() / len(truth))},
        "classes": {
            name: {
                "rows": int(of_class[k]),
                "precision": float(precision[k]),
                "recall": float(recall[k]),
                "f1": float(f1[k]),
            }
            for name, k in place.items()
        },
        "confusion": square.tolist(),
        "unknown": unknown,
    }


def judge_numbers(truth, found):
    """R², mean absolute and root mean squared error, as plain data; the baseline is the mean."""
    error, spread = truth - found, truth - truth.mean()
    total = float(np.mean(spread**2))
    return {
        "r2": 1.0 - float(np.mean(error**2)) / total if total else float(not error.any()),
        "mae": float(np.mean(np.abs(error))),
        "rmse": float(np.sqrt(np.mean(error**2))),
        "baseline": {"mae": float(np.mean(np.abs(spread))), "rmse": float(np.sqrt(total))},
    }


def _share(part, whole):
    """part / whole, and 0 where there is nothing to share."""
    return np.where(whole > 0, part / np.maximum(whole, 1), 0.0)
