"""Scores of a clustering against true classes."""

from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics.cluster import contingency_matrix
from sklearn.utils.validation import check_consistent_length, column_or_1d

__all__ = ["clustering_accuracy", "purity"]


def clustering_accuracy(labels_true: Any, labels_pred: Any) -> float:
    """Accuracy under the best one-to-one matching of clusters and classes.

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        The classes.
    labels_pred : array-like of shape (n_samples,)
        The clusters. There may be more or fewer of them than classes.

    Returns
    -------
    accuracy : float
        Between 0 and 1. The Hungarian method finds the matching.

    Examples
    --------
    >>> from ulmus.metrics import clustering_accuracy
    >>> clustering_accuracy([0, 0, 1, 1], ["b", "b", "a", "b"])
    0.75
    """
    counts = _counts(labels_true, labels_pred)
    return float(counts[matched(counts)].sum() / counts.sum())


def purity(labels_true: Any, labels_pred: Any) -> float:
    """Share of the rows that belong to the most frequent class of their cluster.

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        The classes.
    labels_pred : array-like of shape (n_samples,)
        The clusters.

    Returns
    -------
    purity : float
        Between 0 and 1; more clusters never lower it.

    Examples
    --------
    >>> from ulmus.metrics import purity
    >>> purity([0, 0, 1, 1], [0, 0, 0, 1])
    0.75
    """
    counts = _counts(labels_true, labels_pred)
    return float(counts.max(axis=0).sum() / counts.sum())


def matched(counts: np.ndarray) -> Any:
    """The cells, as rows and columns, that the best one-to-one naming joins."""
    return linear_sum_assignment(counts, maximize=True)


def _counts(labels_true: Any, labels_pred: Any) -> np.ndarray:
    """Rows in each class (down) and cluster (across)."""
    labels_true, labels_pred = column_or_1d(labels_true), column_or_1d(labels_pred)
    check_consistent_length(labels_true, labels_pred)
    if not len(labels_true):
        raise ValueError("There are no labels to compare; both arrays are empty.")
    return np.asarray(contingency_matrix(labels_true, labels_pred))
