"""Fitted models as ONNX graphs, for programs that have neither Ulmus nor Python.

Every feature map, kernel and kind of output has its formula as nodes of a graph. A graph computes
in double precision for rows of any type: output weights can be large and of either sign, and single
precision would leave few digits of their sum.
"""
