"""US-ELM: a map of the rows when none has a label."""

from functools import partial
from typing import Any, Self

from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from ulmus.arguments import check_flag, check_known, check_number, check_whole
from ulmus.backends.namespace import (
    gathered,
    is_collection,
)
from ulmus.backends.neighbors import different_rows
from ulmus.distributed import BlockRows, by_blocks
from ulmus.docstrings import documented
from ulmus.estimators.row_graphs import COUPLINGS, GRAPHS, coupling_for, laplacians
from ulmus.exceptions import GraphError, InvalidInputError, InvalidParameterError
from ulmus.features.base import column_statistics, merged
from ulmus.features.hidden_layer import (
    HiddenModel,
    comparable_rows,
    fitted_map,
    layer_of,
    scaled_rows,
)
from ulmus.fitted import OfRows, OnDevice, atomic, forget_fit
from ulmus.graphs import Laplacian, as_laplacian
from ulmus.hidden import Hidden
from ulmus.methods.unsupervised import Free, Tight, of_unit_length
from ulmus.sources.hidden_rows import HiddenBlocks
from ulmus.typing import Array, Rows, Seed
from ulmus.validation import valid_rows

# Units of the default map.
DEFAULT_WIDTH = 2000


@documented
class ELMEmbedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, HiddenModel):
    """US-ELM: an embedding that keeps neighbours together and transforms new rows.

    The columns of the embedding Hβ are orthonormal over the training rows and minimise
    ‖β‖² + λ tr (Hβ)ᵀΛ(Hβ): they solve (I + λHᵀΛH) v = γ HᵀH v for the smallest γ, of which the
    first is all but constant and is left out. With many more rows than units Hβ cannot follow
    the graph; the rows are then placed by the graph alone, and β is fitted to that.

    Parameters
    ----------
    n_components : int, default=2
        Number of columns of the embedding.
    n_hidden : int or None, default=None
        Number of units of the default map; None means 2000.
    graph : KNNGraph, Laplacian, sparse matrix, neighbours transformer or None, default=None
        The graph of neighbours; None is ``KNNGraph(5)``, or ``KNNGraph(10, width="local")`` where
        the coupling is free. Rows are compared as the map scales them; where the coupling is
        free and the columns share a unit, as pixels do, in that unit.
    coupling : {"auto", "tight", "free"}, default="auto"
        "tight" is the published form: every place is Hβ. "free" places the training rows by the
        smoothest functions on the graph, and fits β and an intercept to them by leave-one-out for
        new rows. "auto" is tight below 10 000 rows or five rows a unit, and free past that unless
        most of the graph lies in small parts.
    lam : float, default=10.0
        Strength of the graph's regularisation, where the coupling is tight.
    row_normalize : bool, default=False
        Whether every row of the embedding is divided by its length.
    random_state : int, RandomState instance or None, default=None
        Seed of the default map.

    Attributes
    ----------
    beta_ : ndarray of shape (n_hidden, n_components)
        The output weights β. Each column's largest entry is positive, or that of ``embedding_``
        where there is one.
    eigenvalues_ : ndarray of shape (n_components,)
        γ of each column, ascending; of the Laplacian itself where the coupling is free.
    coupling_, coupling_reason_ : str
        The coupling that is used, and why.
    embedding_ : ndarray of shape (n_samples, n_components)
        Where the coupling is free: the training rows' places on the graph, which ``fit_transform``
        gives and ``transform`` comes near to.
    reached_ : ndarray of bool of shape (n_samples,)
        Where the coupling is free: the rows that the graph places. The others lie in small parts of
        it, and the model alone places them.
    intercept_ : ndarray of shape (n_components,)
        What is added to Hβ; zero where the coupling is tight.
    C_, loo_score_ : float
        Where the coupling is free: C of the ridge from H to the graph's places, and its R² on
        rows left out.

    See Also
    --------
    ELMSpectralClustering : k-means on this embedding.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ulmus import ELMEmbedding
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ELMEmbedding(random_state=0).fit(X[::2])
    >>> model.transform(X[1::2]).shape
    (75, 2)
    """

    coupling_: str
    coupling_reason_: str
    C_: float
    selection_: str
    loo_score_: float
    eigenvalues_: OnDevice[Array]
    embedding_: OfRows[OnDevice[Array]]
    reached_: OfRows[OnDevice[Array]]

    def __init__(
        self,
        n_components: int = 2,
        *,
        features: Any = None,
        n_hidden: int | None = None,
        graph: Any = None,
        coupling: str = "auto",
        lam: Any = 10.0,
        row_normalize: bool = False,
        dtype: Any = None,
        random_state: Seed = None,
    ) -> None:
        self.features = features
        self.n_components = n_components
        self.n_hidden = n_hidden
        self.graph = graph
        self.coupling = coupling
        self.lam = lam
        self.row_normalize = row_normalize
        self.dtype = dtype
        self.random_state = random_state

    def fit(self, X: Rows, y: Any = None, *, client: Any = None) -> Self:
        """Find the embedding of X."""
        return self._fit_columns(X, client, self.n_components, self.n_components)

    @atomic
    def _fit_columns(
        self,
        X: Rows,
        client: Any,
        tight: int,
        free: int,
        fewer: bool = False,
        some: int | None = None,
    ) -> Self:
        """Fit so many columns, according to the coupling, or as many as the rows differ in.

        Where the coupling is free, ``some`` rows choose C, or all.
        """
        forget_fit(self)
        self._check_parameters()
        H = self._blocks(X, client) if is_collection(X) else self._rows(X)
        most = min(len(H), H.width) - 1
        if tight > most:
            raise InvalidInputError(
                f"n_components={tight} is too many: {len(H)} rows and {H.width} hidden units give "
                f"at most {most}."
            )
        laplacian = self._laplacian(H)
        method = Tight(float(self.lam), tight, fewer)
        try:
            way: Any = Free(free, self.row_normalize, some) if self.coupling_ == "free" else method
            found = way.fit(H, laplacian)
        except GraphError as error:
            if self.coupling == "free":
                raise
            self.coupling_, self.coupling_reason_ = "tight", str(error)
            found = method.fit(H, laplacian)
        self.beta_, self.intercept_ = found.coef, found.intercept
        self.eigenvalues_, self.n_hidden_ = found.values, int(found.coef.shape[0])
        for name, value in found.fitted.items():
            setattr(self, name, value)
        return self

    def _rows(self, X: Rows) -> Hidden:
        X = gathered(valid_rows(self, X, reset=True, ensure_min_samples=2))
        self.features_ = fitted_map(self, X, default_width=DEFAULT_WIDTH)
        H = Hidden(layer_of(self.features_, X, self.dtype), X)
        self.coupling_, self.coupling_reason_ = self.coupling, "asked for"
        if self.coupling == "auto":
            self.coupling_, self.coupling_reason_ = coupling_for(len(H), H.width)
        return H

    def _blocks(self, X: Rows, client: Any) -> HiddenBlocks:
        if self.coupling == "free":
            raise InvalidParameterError(
                "coupling='free' needs all rows at once, not a Dask collection; use 'tight'."
            )
        self.coupling_, self.coupling_reason_ = "tight", "the rows lie in blocks"
        rows = BlockRows(self, X, client=client)
        columns = merged(rows.survey(column_statistics))
        self.features_ = fitted_map(self, rows, default_width=DEFAULT_WIDTH, columns=columns)
        return HiddenBlocks(rows, self.features_, self.dtype)

    def _laplacian(self, H: Hidden | HiddenBlocks) -> Laplacian:
        compare = scaled_rows if self.coupling_ == "tight" else comparable_rows
        if isinstance(H, HiddenBlocks):
            return laplacians(self.graph, "published", H.rows, partial(compare, self.features_))[0]
        rows = compare(self.features_, H.X)
        if different_rows(rows, 2) < 2:  # their graph is chance, and so would places on it be
            raise InvalidInputError(
                "The rows of X are all the same, so there is nothing to embed; give rows that "
                "differ."
            )
        return as_laplacian(GRAPHS[self.coupling_] if self.graph is None else self.graph, rows)

    def fit_transform(self, X: Rows, y: Any = None) -> Array:
        """Find the embedding of X and return it.

        Returns
        -------
        E : ndarray of shape (n_samples, n_components)
            The embedding; the graph's own, ``embedding_``, where the coupling is free.
        """
        self.fit(X)
        return self.embedding_ if self.coupling_ == "free" else self.transform(X)

    @by_blocks
    def transform(self, X: Rows) -> Array:
        """The embedding of rows, seen before or not: one product with the output weights.

        Returns
        -------
        E : ndarray of shape (n_samples, n_components)
            The embedding.
        """
        E = self._outputs(X)
        return of_unit_length(E) if self.row_normalize else E

    def _check_parameters(self) -> None:
        check_whole("n_components", self.n_components, least=1)
        check_number("lam", self.lam, "a number that is zero or more", zero=True)
        check_known("coupling", self.coupling, COUPLINGS)
        check_flag("row_normalize", self.row_normalize)

    @property
    def _n_features_out(self) -> int:
        return self.beta_.shape[1]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"] if self.dtype is None else []
        return tags
