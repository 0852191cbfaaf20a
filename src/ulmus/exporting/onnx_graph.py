"""A graph of ONNX nodes, written as formulas: ``(x - center) * factor @ weights``."""

from collections.abc import Callable, Collection
from functools import cache
from typing import Any, TypeAlias

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.polynomial import Chebyshev, Polynomial
from scipy.special import erfcx

from ulmus.backends.namespace import extra

# Versions of onnx 1.13, so that older runtimes can read it.
OPSETS = {"": 18, "ai.onnx.ml": 3}
IR_VERSION = 8
# Of a classifier, a regressor, a clusterer and a transformer.
OUTPUT_NAMES = ("label", "probabilities", "scores", "variable", "transformed")
_OPERATORS = {
    np.add: "Add", np.subtract: "Sub", np.multiply: "Mul", np.true_divide: "Div",
    np.matmul: "MatMul", np.negative: "Neg",
}  # fmt: skip
# Degree and a of a polynomial in 1 − 2a / (z + a) that is within 1e-13 of erfcx for z ≥ 0.
_ERF_DEGREE, _ERF_CENTER = 16, 3.0


def onnx_module(name: str) -> Any:
    """A module of the package onnx."""
    return extra(name, "onnx", "Writing a model as ONNX")


class Value(NDArrayOperatorsMixin):
    """The output of a node, a constant or an input of a graph. Arithmetic on it adds nodes."""

    def __init__(self, graph: "Graph", name: str) -> None:
        self.graph = graph
        self.name = name

    def __array_ufunc__(self, ufunc: np.ufunc, _: str, *inputs: "Node", **__: Any) -> Any:
        return self.graph.op(_OPERATORS[ufunc], *inputs)

    def op(self, kind: str, *others: "Node", **attributes: Any) -> "Value":
        """A node of this kind, whose first input is this value."""
        found: Value = self.graph.op(kind, self, *others, **attributes)
        return found

    def sum(self) -> "Value":
        """The sum of each row, as a column."""
        return self.op("ReduceSum", np.array([1]), keepdims=1)

    def cast(self, dtype: Any) -> "Value":
        """The same numbers in another type."""
        to = onnx_module("onnx.helper").np_dtype_to_tensor_dtype(np.dtype(dtype))
        return self.op("Cast", to=to)

    def column(self, index: int) -> "Value":
        """One column, as a vector."""
        return self.op("Gather", np.array(index), axis=1)

    def columns(self, indices: Any) -> "Value":
        """Some of the columns."""
        return self.op("Gather", np.asarray(indices, dtype=np.int64), axis=1)

    def scaled(self, center: Any, factor: Any) -> "Value":
        """(x − center) · factor, without nodes for zeros and ones."""
        x = self - center if np.any(center) else self
        return x if np.all(factor == 1.0) else x * factor

    def length(self) -> "Value":
        """The Euclidean length of each row, as a column."""
        return (self * self).sum().op("Sqrt")

    def clipped(self, least: "Node", most: "Node") -> "Value":
        """The numbers, those outside of the limits replaced by the limits."""
        return self.op("Max", least).op("Min", most)

    def unit_rows(self, length: "Value") -> "Value":
        """Rows divided by their length, a column; those of length zero as they are."""
        return self / self.graph.op("Where", length.op("Equal", 0.0), 1.0, length)

    def squared_distances(self, Z: Any, rates: Any = 1.0) -> "Value":
        """rates · ‖x − z‖² for every pair, from products; never below zero."""
        Z = np.asarray(Z, dtype=float)
        rates = np.broadcast_to(np.asarray(rates, dtype=float), (len(Z),))
        D = self @ (-2.0 * rates * Z.T) + (self * self).sum() * rates
        return (D + rates * np.sum(Z**2, axis=1)).op("Max", 0.0)

    def nearest(self, centers: Any) -> "Value":
        """The number of the nearest centre."""
        centers = np.asarray(centers, dtype=float)
        # ‖x‖² is the same for all of them.
        D = self @ (-2.0 * centers.T) + np.sum(centers**2, axis=1)
        return D.op("ArgMin", axis=1, keepdims=0)

    # ------------------------------- functions that runtimes lack, or lack in double precision
    def error_function(self) -> "Value":
        """erf(z) = ±(1 − exp(−z²) erfcx|z|), the last by a polynomial."""
        u = 1.0 - 2.0 * _ERF_CENTER / (self.op("Abs") + _ERF_CENTER)
        *rest, total = _erfcx_coefficients()
        while rest:  # by Horner's rule
            total = total * u + rest.pop()
        return self.op("Sign") * (1.0 - (-(self * self)).op("Exp") * total)

    def cosine(self) -> "Value":
        """cos z by the sine, because older runtimes have no cosine in double precision."""
        return (self + np.pi / 2).op("Sin")

    def arcsine(self) -> "Value":
        """The angle from −π/2 to π/2 with this sine."""
        return self._angle(((1.0 - self) * (1.0 + self)).op("Max", 0.0).op("Sqrt"))

    def arctangent(self) -> "Value":
        """The angle from −π/2 to π/2 with this tangent."""
        c = (self * self + 1.0).op("Sqrt").op("Reciprocal")
        return (self * c)._angle(c)

    def _angle(self, c: "Value") -> "Value":
        """The angle with this sine and cosine c: in single precision, plus a correction."""
        near = self.cast(np.float32).op("Asin").cast(np.float64)
        return near + (self * near.cosine() - c * near.op("Sin"))


# An input of a node: a value, or a constant.
Node: TypeAlias = Value | np.ndarray | float | bool | str


@cache
def _erfcx_coefficients() -> list[Any]:
    """The coefficients of the polynomial for erfcx, the constant first."""

    def of(u: np.ndarray) -> Any:
        with np.errstate(divide="ignore"):
            return erfcx(_ERF_CENTER * (1.0 + u) / (1.0 - u))

    return list(Chebyshev.interpolate(of, _ERF_DEGREE).convert(kind=Polynomial).coef)


class Graph:
    """Nodes and constants, in the order of their creation.

    Inputs and outputs have given names; all other values are named by numbers, except for names
    that are ``taken``.
    """

    def __init__(self, taken: Collection[str] = ()) -> None:
        self._helper = onnx_module("onnx.helper")
        self._types = onnx_module("onnx").TensorProto
        self._constants: list[Any] = []
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []
        self._taken = frozenset(taken)
        self._count = 0
        # The innermost list belongs to the loop that is being written.
        self._nodes: list[list[Any]] = [[]]

    def op(
        self, kind: str, *inputs: Node, outputs: int = 1, domain: str = "", **attributes: Any
    ) -> Any:
        """Add a node; returns its output, or a list of several outputs."""
        names = [self.value(x).name for x in inputs]
        found = [Value(self, self._named(kind.lower())) for _ in range(outputs)]
        self._nodes[-1].append(
            self._helper.make_node(
                kind, names, [value.name for value in found], domain=domain, **attributes
            )
        )
        return found[0] if outputs == 1 else found

    def value(self, x: Node) -> Value:
        """A value as it is; a number or an array as a constant, floats in double precision."""
        if isinstance(x, Value):
            return x
        x = np.array(x, order="C")
        x = x.astype(np.float64) if x.dtype.kind == "f" else x
        constant = Value(self, self._named("constant"))
        self._constants.append(onnx_module("onnx.numpy_helper").from_array(x, constant.name))
        return constant

    def input(self, name: str, dtype: Any, columns: int) -> Value:
        """An input of any number of rows, with this number of columns."""
        self._inputs.append(self._described(name, dtype, columns))
        return Value(self, name)

    def output(self, name: str, value: Value, dtype: Any, columns: int | None = None) -> None:
        """Add an output; without columns it has one entry for each row."""
        value = value if np.dtype(dtype).kind == "O" else value.cast(dtype)
        self._nodes[0].append(self._helper.make_node("Identity", [value.name], [name]))
        self._outputs.append(self._described(name, dtype, columns))

    def loop(self, most: Node, body: Callable[..., tuple[Any, ...]], *start: Node) -> Any:
        """The values after at most so many steps of ``body(step, *values)``.

        The body returns whether to continue, and the new values, all in double precision.
        """
        step, go_on = (Value(self, self._named(word)) for word in ("step", "go_on"))
        before = [Value(self, self._named("carried")) for _ in start]
        self._nodes.append([])
        results = [self.op("Identity", value) for value in body(step, *before)]
        describe, types = self._helper.make_tensor_value_info, self._types
        carried = [describe(value.name, types.DOUBLE, None) for value in before]
        inside = self._helper.make_graph(
            self._nodes.pop(),
            self._named("steps"),
            [describe(step.name, types.INT64, []), describe(go_on.name, types.BOOL, []), *carried],
            [
                describe(results[0].name, types.BOOL, []),
                *(describe(value.name, types.DOUBLE, None) for value in results[1:]),
            ],
        )
        return self.op("Loop", most, True, *start, outputs=len(start), body=inside)

    def model(self, **about: Any) -> Any:
        """The whole as a ModelProto."""
        domains = {node.domain for node in self._nodes[0]} | {""}
        opsets = [self._helper.make_opsetid(name, OPSETS[name]) for name in sorted(domains)]
        graph = self._helper.make_graph(
            self._nodes[0], "ulmus", self._inputs, self._outputs, initializer=self._constants
        )
        return self._helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION, **about)

    def _described(self, name: str, dtype: Any, columns: int | None) -> Any:
        kind = self._helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        shape = ["rows"] if columns is None else ["rows", columns]
        return self._helper.make_tensor_value_info(name, kind, shape)

    def _named(self, word: str) -> str:
        self._count += 1
        name = f"{word}_{self._count}"
        return name if name not in self._taken else self._named(word)
