"""Fitted models as ONNX graphs, for programs that have neither Ulmus nor Python.

Every stage one map, kernel and kind of output states its formula once more, as a graph's nodes.
Whatever type the rows come in, a graph computes in double precision: output weights can be large
and of either sign, and single precision would then leave few digits of their sum.
"""
