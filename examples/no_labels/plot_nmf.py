"""
Non-negative factorisation of the hidden layer
==============================================

ELM NMF writes each hidden row as a sum of non-negative parts, two for each cluster. The plot shows
how much of each part the digits have, and the mean image of every cluster.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from ulmus import ELMNMF
from ulmus.metrics import purity

X, y = load_digits(return_X_y=True)
model = ELMNMF(10, random_state=0).fit(X)
B = model.transform(X)
order = np.lexsort((model.labels_, y))

figure = plt.figure(figsize=(11, 5), layout="constrained")
left, right = figure.subfigures(1, 2, width_ratios=(3, 2))
axes = left.subplots()
axes.imshow((B / B.max(axis=0))[order].T, aspect="auto", cmap="Greys", interpolation="nearest")
axes.set(xlabel="digits, in order of their class", ylabel="part")
axes.set_title(f"purity {purity(y, model.labels_):.0%}")
axes.set_xticks(np.searchsorted(y[order], np.arange(10)), range(10))
for cluster, ax in enumerate(right.subplots(2, 5).ravel()):
    ax.imshow(X[model.labels_ == cluster].mean(axis=0).reshape(8, 8), cmap="Greys")
    ax.set(xticks=[], yticks=[])
right.suptitle("the clusters' mean images")
plt.show()
