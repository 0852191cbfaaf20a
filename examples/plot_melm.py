"""
The shape of each class
=======================

MELM keeps neighbours of a class together and pushes class means apart. As printed, its system has
negative eigenvalues, so that it minimises nothing; with the positive part alone it is an ordinary
fit. Here are both on handwritten digits, five rows of each class, over the strength C.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from ulmus import ManifoldELMClassifier
from ulmus.exceptions import IndefiniteWarning

X, y = load_digits(return_X_y=True)
rng = np.random.default_rng(0)
train = np.concatenate([rng.permutation(np.flatnonzero(y == k))[:5] for k in range(10)])
test = np.setdiff1d(np.arange(len(y)), train)
C = np.logspace(-6, 4, 11)
scores, negative = {"positive": [], "printed": []}, []
for c in C:
    for form, values in scores.items():
        model = ManifoldELMClassifier(form=form, C=float(c), lam=0.0, random_state=0)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always", IndefiniteWarning)
            model.fit(X[train], y[train])
        values.append(100 * model.score(X[test], y[test]))
    negative.append(int(str(seen[0].message).split()[4]) if seen else 0)
chosen = ManifoldELMClassifier(lam=0.0, random_state=0).fit(X[train], y[train])

figure, axes = plt.subplots(layout="constrained")
for form, values in scores.items():
    axes.semilogx(C, values, "o-", label=form)
for c, count, value in zip(C, negative, scores["printed"], strict=True):
    if count:
        axes.annotate(f"{count} < 0", (c, value), xytext=(0, 8), textcoords="offset points")
axes.axvline(chosen.C_, color="grey", linewidth=1)
axes.set(
    xlabel="C",
    ylabel="right (%)",
    title=f"chosen by rows held out: C = {chosen.C_:.3g}",
)
axes.legend(title="form")
plt.show()
