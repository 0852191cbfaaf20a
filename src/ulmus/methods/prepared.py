"""What candidates for few labels start from: it depends on the rows and their graphs alone.

It is made when it is first asked for, and serves all labels that come later. Of labelled rows it
keeps those of the last call, because most are labelled in the next one too.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components

from ulmus.backends.linalg import Cholesky, matmul
from ulmus.backends.namespace import (
    doubles,
    from_numpy,
    is_away,
    is_cupy,
    is_torch,
    namespace,
    to_numpy,
)
from ulmus.graphs import Laplacian
from ulmus.hidden import Hidden
from ulmus.methods.labelled_rows import LabelledRows
from ulmus.methods.manifold_basis import ManifoldBasis, manifold_basis
from ulmus.methods.pseudo_ridge import PseudoRidge, SampledRows
from ulmus.sources.hidden_rows import HiddenBlocks
from ulmus.sources.source import calibration_rows
from ulmus.typing import Array

# Candidates have this many units at most: more cost time and change no choice.
_UNITS = 1000
# Labelled rows by which candidates are compared, and the most entries of the graph's kernel, all
# rows times these.
_MOST_JUDGED, _LEAST_JUDGED, _ENTRIES = 500, 50, 6_000_000
# Rows up to which a fit keeps hidden rows for other labels, about 20 kB for each, and units, or
# rows, up to which it makes their factor.
_KEPT = 5000
# Entries of that kernel which other labels on the same rows may add at once, for a person waits for
# them, and the least number of rows that are compared all the same.
_FRESH_ENTRIES, _LEAST_KEPT = 240_000, 16


class Prepared:
    """What depends on the rows and their graphs alone, made when it is first asked for.

    ``every`` are the hidden rows, ``further`` the same rows in other layers; ``bases`` are those of
    the graphs where they are known.
    """

    def __init__(
        self,
        every: Hidden | HiddenBlocks,
        laplacians: Sequence[Laplacian],
        bases: tuple[ManifoldBasis, ...] = (),
        watch: Any = None,
        further: tuple[Hidden | HiddenBlocks, ...] = (),
    ) -> None:
        self.every, self._laplacians, self._bases, self._watch = every, laplacians, bases, watch
        self._further = further
        self._root: tuple[Cholesky | None] | None = None
        self._labelled: dict[tuple[str, int], LabelledRows] = {}

    @cached_property
    def _made(self) -> list[Hidden | HiddenBlocks]:
        every = (self.every, *self._further)
        return [H if H.width <= _UNITS else H.units(slice(0, _UNITS)) for H in every]

    @cached_property
    def layers(self) -> list[Hidden | HiddenBlocks]:
        """The rows in few units of every layer."""
        return list(self._made)

    def root(self, ridge: PseudoRidge) -> Cholesky | None:
        """The factor of the last ridge, made once: rows and C stay the same for other labels."""
        if self._root is None and not isinstance(self.every, HiddenBlocks):
            self._root = (ridge.factor(self.every),)
        return self._root[0] if self._root else None

    def all_of(self, layer: int) -> Hidden | HiddenBlocks:
        """Those of one layer, kept where they fit: few layers are ever needed for all rows."""
        if self.layers[layer] is self._made[layer]:
            self.layers[layer] = self._made[layer].kept()
        return self.layers[layer]

    def hidden(self, layer: int, numbers: np.ndarray) -> np.ndarray:
        """Labelled rows in one layer."""
        rows = self._labelled.setdefault(("hidden", layer), LabelledRows())
        return rows.of(numbers, lambda some: host(self.layers[layer].take(some)))

    def projected(self, graph: int, numbers: np.ndarray) -> np.ndarray:
        """The same in the coordinates of one graph's penalty."""
        V, rows = self.bases[graph].basis, self.hidden(0, numbers)
        before = self._labelled.setdefault(("projected", graph), LabelledRows())

        def project(some: np.ndarray) -> np.ndarray:
            return to_numpy(matmul(from_numpy(rows[np.searchsorted(numbers, some)], V), V))

        return before.of(numbers, project)

    def settle(self, ridge: PseudoRidge) -> None:
        """Make what other labels will need, and let many hidden rows go, which take most memory.

        Of 60 000 images and 2000 units it takes 0.4 s.
        """
        if min(len(self.every), self.every.width) <= _KEPT:
            self.root(ridge)
        _ = self.components
        if len(self.every) > _KEPT:
            self.layers = list(self._made)

    @cached_property
    def bases(self) -> tuple[ManifoldBasis, ...]:
        """The coordinates of every graph's penalty."""
        return self._bases or tuple(
            manifold_basis(self.all_of(0), each, self._watch) for each in self._laplacians
        )

    @cached_property
    def laplacians(self) -> list[Laplacian]:
        """The graphs in single precision."""
        return [replace(each, matrix=each.matrix.astype(np.float32)) for each in self._laplacians]

    @cached_property
    def operators(self) -> list[Laplacian]:
        """The same where the rows live, if that is a device whose library has sparse matrices."""
        X = self.every.X
        if not (is_away(X) and (is_torch(X) or is_cupy(X))):
            return self.laplacians
        return [each.placed(X, namespace(X).float32) for each in self._laplacians]

    @cached_property
    def components(self) -> list[np.ndarray]:
        """The number of every row's component, in every graph."""
        return [connected_components(each.matrix, False)[1] for each in self.laplacians]

    @cached_property
    def samples(self) -> list[SampledRows]:
        """Some of the rows in every layer."""
        return [SampledRows(each) for each in self.layers]

    @cached_property
    def calibration(self) -> tuple[np.ndarray, Array]:
        """The numbers of some rows, for a temperature, and these rows in all units."""
        rows = calibration_rows(len(self.every), 0)
        return rows, doubles(self.every.take(rows).all())

    @cached_property
    def _order(self) -> np.ndarray:
        return np.random.default_rng(0).permutation(len(self.every))

    def compared(self, rows: np.ndarray, before: np.ndarray | None = None) -> np.ndarray:
        """Places of the labelled rows that candidates are compared by, at most some hundred.

        Further labels leave those that are chosen where they are, or take the place of few. Where
        many labels came at once on many rows, most of those compared ``before`` stay.
        """
        order, n = np.argsort(self._order[rows]), len(self.every)
        most = int(np.clip(_ENTRIES // n, _LEAST_JUDGED, _MOST_JUDGED))
        if before is not None:
            known = np.isin(rows[order], before)
            allowed = max(_FRESH_ENTRIES // n, _LEAST_KEPT - int(known.sum()))
            if np.count_nonzero(~known[:most]) > allowed:
                order = order[known | (np.cumsum(~known) <= allowed)]
        return np.sort(order[:most])


def host(H: Hidden) -> np.ndarray:
    """Hidden rows in double precision, where NumPy works."""
    return to_numpy(doubles(H.all()))
