"""B of H ≈ BW for new rows H: scikit-learn's steps of the factorisation, as loops.

Its rule for when to stop looks at all rows together, and so does the graph's: a row's place can
differ in the digits beyond ``tol`` by which rows come with it, in both alike.
"""

from typing import Any

import numpy as np

from ulmus.exporting.onnx_graph import Value

_EPSILON = float(np.finfo(np.float32).eps)
# Multiplicative updates are checked once in so many steps.
_ROUND = 10


def factor_rows(nmf: Any, H: Value) -> Value:
    """The rows of B, by the solver that found W."""
    W = np.asarray(nmf.components_, dtype=float)
    solve = _coordinate_descent if nmf.solver == "cd" else _multiplicative_updates
    return solve(nmf, H, H @ W.T, W)


def _coordinate_descent(nmf: Any, H: Value, cross: Value, W: np.ndarray) -> Value:
    """One coordinate of every row at a time, until the gradient is ``tol`` of what it was."""
    graph, k, gram = H.graph, len(W), W @ W.T
    curvature = np.diag(gram)
    inverse = np.divide(1.0, curvature, out=np.zeros(k), where=curvature != 0)

    def coordinate(t: Value, B: Value, violation: Value) -> tuple[Any, ...]:
        own = graph.op("Gather", np.eye(k), t)
        before = (B * own).sum()
        slope = B @ graph.op("Gather", gram, t, axis=1).op("Unsqueeze", np.array([1]))
        slope = slope - (cross * own).sum()
        # At zero a coordinate can only grow.
        pull = graph.op("Where", before.op("Equal", 0.0), slope.op("Min", 0.0), slope)
        after = (before - slope * graph.op("Gather", inverse, t)).op("Max", 0.0)
        violation = violation + pull.op("Abs").op("ReduceSum", keepdims=0)
        return True, B + (after - before) * own, violation

    def sweep(step: Value, B: Value, first: Value, _: Value) -> tuple[Any, ...]:
        B, violation = graph.loop(k, coordinate, B, 0.0)
        first = graph.op("Where", step.op("Equal", 0), violation, first)
        return violation.op("Greater", first * nmf.tol), B, first, violation

    return graph.loop(int(nmf.max_iter), sweep, cross * 0.0, 0.0, 0.0)[0]


def _multiplicative_updates(nmf: Any, H: Value, cross: Value, W: np.ndarray) -> Value:
    """All coordinates times a factor, until ten steps gain less than ``tol`` of the first error."""
    graph, k, gram = H.graph, len(W), W @ W.T

    def update(step: Value, B: Value) -> tuple[Any, ...]:
        norm = B @ gram
        return True, B * cross / graph.op("Where", norm.op("Equal", 0.0), _EPSILON, norm)

    def error(B: Value) -> Value:
        apart = H - B @ W
        return (apart * apart).op("ReduceSum", keepdims=0).op("Sqrt")

    def round_(step: Value, B: Value, last: Value) -> tuple[Any, ...]:
        left = int(nmf.max_iter) - step * _ROUND
        B = graph.loop(left.op("Min", _ROUND), update, B)
        now = error(B)
        gains = (last - now).op("GreaterOrEqual", nmf.tol * first) if nmf.tol > 0 else True
        return gains, B, now

    start = cross * 0.0 + (H.op("ReduceMean", keepdims=0) / float(k)).op("Sqrt")
    first = error(start)
    rounds = -(-int(nmf.max_iter) // _ROUND)
    return graph.loop(rounds, round_, start, first)[0]
