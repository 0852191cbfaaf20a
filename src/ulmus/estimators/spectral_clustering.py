"""US-ELM's clusters: k-means on its embedding."""

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn import config_context
from sklearn.base import ClusterMixin
from sklearn.cluster import KMeans
from sklearn.utils.validation import check_is_fitted

from ulmus.arguments import check_flag, check_known, check_number, check_whole
from ulmus.backends.namespace import from_numpy, gathered, is_collection, placed, take, to_numpy
from ulmus.distributed import BlockRows, by_blocks, computed
from ulmus.docstrings import documented
from ulmus.estimators.cluster_defaults import DefaultUnits, number_of_clusters
from ulmus.estimators.cluster_forms import (
    LAM,
    Choice,
    agreement_by_number,
    are_rules,
    choice_of_form,
)
from ulmus.estimators.embedding import DEFAULT_WIDTH, ELMEmbedding
from ulmus.estimators.row_graphs import COUPLINGS
from ulmus.exceptions import GraphError, UnreachedRowsWarning
from ulmus.features.hidden_layer import HiddenModel, dense, layer_of
from ulmus.fitted import OfRows, OnDevice, atomic, forget_fit
from ulmus.hidden import Hidden
from ulmus.methods.partitions import table_of
from ulmus.methods.unsupervised import ridge_by_some
from ulmus.problem import Problem
from ulmus.targets import ClassTargets, chosen
from ulmus.typing import Array, Rows, Seed
from ulmus.validation import valid_rows

# Columns for each cluster where the coupling is free: the first functions on a graph also separate
# small groups from the rest, so that clusters need more columns than there are of them.
_TIMES = 2
# Far rows are set aside where they are many, and forms agree by so much more without them, or
# where they are more than clean rows have (at most 9 % on twenty sets).
_MANY, _CLEARER, _MOST = 0.05, 0.1, 0.1
# C of the ridges to places and clusters is chosen on so many rows: all of them take two to three
# times as long, and gain at most .4 points on new rows (digits, letter; none on segment, USPST).
_ROWS_FOR_C = 1000


@documented
class ELMSpectralClustering(ClusterMixin, HiddenModel):
    """US-ELM clustering: k-means on an embedding of neighbours; predicts new rows.

    Parameters that are None or "auto" are chosen without labels, on at most 1500 rows. Forms with
    several graphs, both couplings, and different numbers of columns are compared (`candidates_`).
    The form is taken whose clusters agree well with those of all others and say most about the
    neighbours of a row; separate clusters come first. Outliers (`outliers_`) are set aside if there
    are many, and columns that depend on no other column are left out. On Dask collections, and with
    one cluster, nothing is compared and the published form is used.

    The embedding of rows on a device is found there; k-means is scikit-learn's and runs on the
    host.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number of clusters; "auto" takes the one from 2 to 12 on which forms agree most, and the
        smallest where they agree on several.
    features : feature map, transformer or None, default=None
        Feature map or transformer; None is ``RandomFeatures``, or up to three columns
        ``RBFFeatures(width="local")``, which follows bent shapes. It is cloned and fitted. None
        also weighs columns (``features_.column_weights``): a quarter of them or more that depend on
        no other weigh nothing, and components in falling order and words keep their own unit.
    n_components : int or None, default=None
        Number of columns of the embedding. None chooses among ``n_clusters - 1``, ``n_clusters``
        and twice as many; there are never more than the rank of the rows.
    n_hidden : int or None, default=None
        Number of units of the default map; None means 2000.
    graph : KNNGraph, Laplacian, sparse matrix, neighbours transformer or None, default=None
        The graph of neighbours; None chooses. Where none is compared it is ``KNNGraph(5)``, or
        ``KNNGraph(10, width="local")`` where the coupling is free.
    coupling : {"auto", "tight", "free"}, default="auto"
        Whether the embedding is that of the hidden layer, as published, or the graph's own; see
        `ELMEmbedding`. "auto" chooses, and is free from 10 000 rows and five rows a unit on.
    lam : float or None, default=None
        Strength of the graph's regularisation, where the coupling is tight; None is 10.
    row_normalize : bool or None, default=None
        Whether every row of the embedding is divided by its length first; None chooses, and is
        True where nothing is compared.
    n_init : int, default=10
        Number of k-means runs if nothing is compared; the one with the lowest inertia is kept.
        Otherwise k-means starts from the clusters that were compared.
    random_state : int, RandomState instance or None, default=None
        Seed of the default map and of k-means.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of every training row; by the graph's own embedding where the coupling is
        free, so that ``predict``, which asks the hidden layer, may differ for some.
    coupling_, coupling_reason_ : str
        The coupling that is used, and why.
    candidates_ : dict of ndarrays
        Where forms were compared: a row for each, the one in use first, with its kind (coupling),
        graph, λ, columns, unit rows or not, the mean adjusted Rand index with all others
        ("agreement"), the mutual information of the clusters of neighbours ("information"), and the
        least part of the weight of its edges that a cluster has to itself ("separation").
    outliers_ : ndarray of bool of shape (n_samples,)
        Where forms were compared: rows that are far from their neighbours, beside those of the same
        cluster. With 5 % of them or more the clusters may be found without them, and they are
        then given the cluster that ``predict`` gives.
    n_clusters_ : int
        Number of clusters.
    n_clusters_path_ : dict of ndarrays
        Where the number of clusters was chosen: those that were compared, and how far forms agree
        on each ("score").
    embedding_ : ELMEmbedding
        The fitted embedding.
    kmeans_ : KMeans
        The fitted k-means.
    features_, beta_, n_hidden_, C_ : transformer, ndarray, int, float
        Where the coupling is free: the fitted map, the output weights of the clusters (one column
        for two of them), the number of units, and the C of their ridge (chosen on 1000 rows).

    See Also
    --------
    ELMEmbedding : The embedding alone.
    SemiSupervisedELMClassifier : When a few rows have a label.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ulmus import ELMSpectralClustering
    >>> from ulmus.metrics import clustering_accuracy
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ELMSpectralClustering(3, random_state=0).fit(X)
    >>> bool(clustering_accuracy(y, model.labels_) > 0.8)
    True
    """

    embedding_: ELMEmbedding
    kmeans_: KMeans
    C_: float
    coupling_: str
    coupling_reason_: str
    candidates_: dict[str, np.ndarray]
    n_clusters_: int
    n_clusters_path_: dict[str, np.ndarray]
    selection_: str
    outliers_: OfRows[OnDevice[Array]]
    labels_: OfRows[OnDevice[Array]]

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        features: Any = None,
        n_components: int | None = None,
        n_hidden: int | None = None,
        graph: Any = None,
        coupling: str = "auto",
        lam: float | None = None,
        row_normalize: bool | None = None,
        n_init: int = 10,
        dtype: Any = None,
        random_state: Seed = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.features = features
        self.n_components = n_components
        self.n_hidden = n_hidden
        self.graph = graph
        self.coupling = coupling
        self.lam = lam
        self.row_normalize = row_normalize
        self.n_init = n_init
        self.dtype = dtype
        self.random_state = random_state

    @atomic
    def fit(self, X: Rows, y: Any = None, *, client: Any = None) -> Self:
        """Find clusters of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or Dask collection
            The rows. The embedding of a Dask collection, a few columns, is brought together.
        """
        forget_fit(self)
        blocks = is_collection(X)
        if blocks:
            rows = BlockRows(self, X, client=client)
            rows.survey(lambda *block: None)
        else:
            X = rows = gathered(valid_rows(self, X, reset=True, ensure_min_samples=2))
        self._check_parameters()
        every = blocks or self.features is not None
        units = DefaultUnits(rows.shape[1]) if every else DefaultUnits.of(X)
        compared = partial(agreement_by_number, units=units)
        self.n_clusters_ = number_of_clusters(self, rows, compared)
        choice = None if blocks else choice_of_form(self, X, self.n_clusters_, units)
        if choice is None:
            self.labels_ = self._fit_given(X, len(rows), client, units)
        else:
            self.labels_ = self._fit_compared(X, choice, units)
        return self

    def _fit_compared(self, X: Rows, choice: Choice, units: DefaultUnits) -> Array:
        """Fit the best form, without far rows where forms agree more without them; the clusters."""
        far = choice.outliers(X)
        self.outliers_ = placed(far, X)
        again = None
        if are_rules(choice.graphs) and far.mean() >= _MANY:
            near = take(X, np.flatnonzero(~far))
            again = choice_of_form(self, near, self.n_clusters_, units)
        if again is None or not (
            far.mean() >= _MOST
            or max(form.agreement for form in again.forms) >= choice.agreement_of(~far) + _CLEARER
        ):
            return self._fit_chosen(choice, X, units)
        found = self._fit_chosen(again, near, units)
        labels = np.empty(X.shape[0], dtype=np.int32)
        labels[~far] = to_numpy(found)
        labels[far] = to_numpy(self.predict(take(X, np.flatnonzero(far))))
        return placed(labels, found)

    def _fit_chosen(self, choice: Choice, X: Rows, units: DefaultUnits) -> Array:
        """Fit the best form that all rows can have, or the published one; the clusters."""
        for form in choice.forms:
            model = self._embedding(X.shape[0], units, **choice.parameters(form))
            columns = form.n_components
            try:
                with warnings.catch_warnings():
                    # Another graph would join parts of this one, and has worse clusters.
                    warnings.simplefilter("ignore", UnreachedRowsWarning)
                    model._fit_columns(X, None, columns, columns, fewer=True, some=_ROWS_FOR_C)
            except GraphError:
                continue
            self.candidates_ = table_of(choice.forms)
            return self._clustered(X, model, choice.why(form), partial(choice.centers, form))
        return self._fit_given(X, X.shape[0], None, units)

    def _fit_given(self, X: Rows, n_rows: int, client: Any, units: DefaultUnits) -> Array:
        """Fit the form that is given, the published one where it is not; the clusters."""
        columns = self.n_clusters_, _TIMES * self.n_clusters_
        if self.n_components is not None:
            columns = self.n_components, self.n_components
        # As many clusters as rows: no more columns than there are directions.
        tight, free = (min(wanted, n_rows - 1) for wanted in columns)
        model = self._embedding(
            n_rows,
            units,
            n_components=tight,
            graph=self.graph,
            coupling=self.coupling,
            lam=LAM if self.lam is None else self.lam,
            row_normalize=True if self.row_normalize is None else self.row_normalize,
        )
        model._fit_columns(X, client, tight, free, fewer=self.n_components is None)
        return self._clustered(X, model, model.coupling_reason_)

    def _clustered(
        self,
        X: Rows,
        model: ELMEmbedding,
        why: str,
        centers: Callable[[np.ndarray], np.ndarray] | None = None,
    ) -> Array:
        """The clusters in a fitted embedding, from these centres of its rows on."""
        # There may be fewer columns than were asked for.
        self.embedding_ = model.set_params(n_components=int(model.beta_.shape[1]))
        self.coupling_, self.coupling_reason_ = model.coupling_, why
        free = self.coupling_ == "free"
        E = dense(*computed(model.embedding_ if free else model.transform(X)))
        places, k = to_numpy(E), self.n_clusters_
        start = () if centers is None else centers(places)
        starts = {"init": start, "n_init": 1} if len(start) == k else {"n_init": self.n_init}
        means = KMeans(k, random_state=self.random_state, **starts)
        # The model may place rows that the graph does not reach far from all others.
        near = to_numpy(model.reached_) if free else np.full(len(places), True)
        near = near | (np.count_nonzero(near) < k)
        # Its rows are NumPy's, and that of scikit-learn 1.6 fails where others are allowed.
        with config_context(array_api_dispatch=False):
            self.kmeans_ = means.fit(places[near])
            labels = placed(means.predict(places), E)
        if free and k > 1:
            self._learn_clusters(X, labels)
        return labels

    def _embedding(self, n_rows: int, units: DefaultUnits, **parameters: Any) -> ELMEmbedding:
        """One that is not fitted, with the hidden layer of this model."""
        shared = {"dtype": self.dtype, "random_state": self.random_state}
        features, n_hidden = self.features, self.n_hidden
        if features is None:
            width = n_hidden or DEFAULT_WIDTH
            # Local units are rows.
            features = units(min(width, n_rows) if units.local else width, **shared)
            n_hidden = None
        return ELMEmbedding(features=features, n_hidden=n_hidden, **shared, **parameters)

    def _check_parameters(self) -> None:
        check_known("coupling", self.coupling, COUPLINGS)
        for name in ("n_components", "n_hidden"):
            if getattr(self, name) is not None:
                check_whole(name, getattr(self, name), least=1)
        if self.lam is not None:
            check_number("lam", self.lam, "a number that is zero or more, or None", zero=True)
        if self.row_normalize is not None:
            check_flag("row_normalize", self.row_normalize)

    def _learn_clusters(self, X: Rows, labels: Array) -> None:
        """β for the clusters as classes, which finds them again more often than Hβ's centres do."""
        self.features_ = self.embedding_.features_
        H = Hidden(layer_of(self.features_, X, self.dtype), X)
        clusters = ClassTargets(labels, self.n_clusters_).placed(H.X)
        solution = ridge_by_some(Problem(H, clusters), _ROWS_FOR_C)
        assert solution.path is not None  # C was chosen
        self.beta_, self.intercept_, self.C_ = solution.coef, solution.intercept, solution.C
        self.n_hidden_ = int(solution.coef.shape[0])
        self.selection_ = "loo" if solution.path.rows == len(H) else "loo-sample"

    @by_blocks
    def predict(self, X: Rows) -> Array:
        """The cluster of each row, seen before or not.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            The nearest cluster in the embedding, or where the coupling is free the one with the
            largest output.
        """
        check_is_fitted(self)
        X = valid_rows(self, X, reset=False)
        if hasattr(self, "beta_"):
            return chosen(self._map(X))
        E = to_numpy(dense(self.embedding_.transform(X)))
        # k-means takes rows in the precision of its centres alone.
        E = E.astype(self.kmeans_.cluster_centers_.dtype, copy=False)
        with config_context(array_api_dispatch=False):
            return from_numpy(self.kmeans_.predict(E), X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags = None
        return tags
