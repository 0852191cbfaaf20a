"""A graph of ONNX nodes, written as formulas: ``(x - center) * factor @ weights``."""

from importlib import import_module
from typing import Any

import numpy as np

from ulmus.exceptions import MissingExtraError

__all__ = ["IR_VERSION", "OPSETS", "Graph", "Value", "onnx_module"]

# Of onnx 1.13, so that runtimes which are not new read it too.
OPSETS = {"": 18, "ai.onnx.ml": 3}
IR_VERSION = 8


def onnx_module(name="onnx"):
    """The package onnx, or a module of it; an error that says how to get it where it is missing."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            "Writing a model as ONNX needs the package onnx, which is not installed; try: "
            "pip install 'ulmus[onnx]'"
        ) from error


class Value:
    """What one node, constant or input of a graph gives. Arithmetic on it adds nodes."""

    # An array on the left leaves the arithmetic to the value on the right.
    __array_ufunc__ = None

    def __init__(self, graph, name):
        self.graph = graph
        self.name = name

    def op(self, kind, *others, **attributes):
        """A node of this kind, whose first input is this value."""
        return self.graph.op(kind, self, *others, **attributes)

    def __add__(self, other):
        return self.op("Add", other)

    __radd__ = __add__

    def __sub__(self, other):
        return self.op("Sub", other)

    def __rsub__(self, other):
        return self.graph.op("Sub", other, self)

    def __mul__(self, other):
        return self.op("Mul", other)

    __rmul__ = __mul__

    def __truediv__(self, other):
        return self.op("Div", other)

    def __rtruediv__(self, other):
        return self.graph.op("Div", other, self)

    def __matmul__(self, other):
        return self.op("MatMul", other)

    def __neg__(self):
        return self.op("Neg")

    def sum(self):
        """The sum of each row, as a column."""
        return self.op("ReduceSum", np.array([1]), keepdims=1)

    def cast(self, dtype):
        """The same numbers in another type."""
        to = onnx_module("onnx.helper").np_dtype_to_tensor_dtype(np.dtype(dtype))
        return self.op("Cast", to=to)

    def column(self, index):
        """One column, as a vector."""
        return self.op("Gather", np.array(index), axis=1)

    def columns(self, indices):
        """Some of the columns."""
        return self.op("Gather", np.asarray(indices, dtype=np.int64), axis=1)


class Graph:
    """Nodes and constants, in the order in which they were asked for.

    Inputs and outputs have any name that is not taken; what is between them is named by numbers.
    """

    def __init__(self, taken=()):
        self._helper = onnx_module("onnx.helper")
        self._types = onnx_module("onnx").TensorProto
        self._constants = []
        self._inputs = []
        self._outputs = []
        self._taken = frozenset(taken)
        self._count = 0
        # The innermost list belongs to the loop that is being written.
        self._nodes: list[list[Any]] = [[]]

    def op(self, kind, *inputs, outputs=1, domain="", **attributes):
        """A node; what it gives, or a list where it gives several values."""
        names = [self.value(x).name for x in inputs]
        found = [Value(self, self._named(kind.lower())) for _ in range(outputs)]
        self._nodes[-1].append(
            self._helper.make_node(
                kind, names, [value.name for value in found], domain=domain, **attributes
            )
        )
        return found[0] if outputs == 1 else found

    def value(self, x):
        """A value as it is; a number or an array as a constant, numbers with a point as double."""
        if isinstance(x, Value):
            return x
        x = np.array(x, order="C")
        x = x.astype(np.float64) if x.dtype.kind == "f" else x
        constant = Value(self, self._named("constant"))
        self._constants.append(onnx_module("onnx.numpy_helper").from_array(x, constant.name))
        return constant

    def input(self, name, dtype, columns):
        """An input: any number of rows, with so many columns."""
        self._inputs.append(self._described(name, dtype, columns))
        return Value(self, name)

    def output(self, name, value, dtype, columns):
        """Give a value as an output; without columns it has one entry for each row."""
        self._nodes[0].append(self._helper.make_node("Identity", [value.name], [name]))
        self._outputs.append(self._described(name, dtype, columns))

    def loop(self, most, body, *start):
        """Values after at most so many steps of ``body(step, *values)``.

        It gives whether to go on, and the values as they are then, all in double precision.
        """
        step, go_on = (Value(self, self._named(word)) for word in ("step", "go_on"))
        before = [Value(self, self._named("carried")) for _ in start]
        self._nodes.append([])
        proceed, *after = body(step, *before)
        results = [self.op("Identity", value) for value in (proceed, *after)]
        describe = self._helper.make_tensor_value_info
        inside = self._helper.make_graph(
            self._nodes.pop(),
            self._named("steps"),
            [
                describe(step.name, self._types.INT64, []),
                describe(go_on.name, self._types.BOOL, []),
                *(describe(value.name, self._types.DOUBLE, None) for value in before),
            ],
            [
                describe(results[0].name, self._types.BOOL, []),
                *(describe(value.name, self._types.DOUBLE, None) for value in results[1:]),
            ],
        )
        return self.op("Loop", most, True, *start, outputs=len(start), body=inside)

    def model(self, **about):
        """The whole as a ModelProto."""
        domains = {node.domain for node in self._nodes[0]} | {""}
        opsets = [self._helper.make_opsetid(name, OPSETS[name]) for name in sorted(domains)]
        graph = self._helper.make_graph(
            self._nodes[0], "ulmus", self._inputs, self._outputs, initializer=self._constants
        )
        return self._helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION, **about)

    def _described(self, name, dtype, columns):
        kind = self._helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        shape = ["rows"] if columns is None else ["rows", columns]
        return self._helper.make_tensor_value_info(name, kind, shape)

    def _named(self, word):
        self._count += 1
        name = f"{word}_{self._count}"
        return name if name not in self._taken else self._named(word)
