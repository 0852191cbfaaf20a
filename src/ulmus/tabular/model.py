"""A fitted model together with the columns it reads."""

from ulmus.exceptions import InvalidInputError

__all__ = ["TableModel"]


class TableModel:
    """What `fit_table` found: from a table to predictions.

    Parameters
    ----------
    encoder : TableEncoder
        Columns into numbers.
    view : View
        The numbers as the estimator sees them.
    estimator : estimator
        A fitted classifier or regressor.
    target : str
        The column that was learnt.
    task : {"classification", "regression"}
        What it was taken for.
    summary : dict
        Rows, seconds, what was chosen, the leave-one-out score, versions and notes: plain data.

    Examples
    --------
    >>> import numpy as np
    >>> from ulmus.tables import Table
    >>> from ulmus.tabular import fit_table
    >>> size = np.arange(40.0)
    >>> kind = np.where(size < 20, "small", "large").astype(object)
    >>> model = fit_table(Table(("size", "kind"), {"size": size % 23, "kind": kind}), "kind")
    >>> model.classes.tolist()
    ['large', 'small']
    >>> model.predict(Table(("size",), {"size": np.array([22.0])})).shape
    (1,)
    """

    def __init__(self, encoder, view, estimator, target, task, summary):
        self.encoder = encoder
        self.view = view
        self.estimator = estimator
        self.target = target
        self.task = task
        self.summary = summary

    @property
    def classes(self):
        """The labels, or None where numbers are predicted."""
        return getattr(self.estimator, "classes_", None)

    def predict(self, table):
        """Predictions for the rows of a table, in their order.

        Parameters
        ----------
        table : Table
            The columns that the model was fitted to, in any order; others are passed over.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Labels or numbers.
        """
        return self.estimator.predict(self.matrix(table))

    def predict_proba(self, table):
        """Probabilities of the classes.

        Parameters
        ----------
        table : Table
            As in `predict`.

        Returns
        -------
        P : ndarray of shape (n_samples, n_classes)
            A column for each of ``classes``.
        """
        if self.classes is None:
            raise InvalidInputError(
                f"The model predicts numbers ({self.target!r}), which have no probabilities."
            )
        return self.estimator.predict_proba(self.matrix(table))

    def matrix(self, table):
        """The rows as the estimator takes them.

        Parameters
        ----------
        table : Table
            As in `predict`.

        Returns
        -------
        X : ndarray or CSR array of shape (n_samples, n_features)
            Encoded columns, and steps if there are any.
        """
        if self.target in table.names and self.target not in self.encoder.names:
            table = table.without(self.target)
        if not len(table):
            raise InvalidInputError("The table has no rows.")
        return self.view.transform(self.encoder.transform(table))
