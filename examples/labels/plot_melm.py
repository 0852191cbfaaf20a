"""
Class manifolds (MELM)
======================

MELM keeps neighbours of a class together and pushes class means apart. Its scatter matrix S has a
negative eigenvalue for almost every class mean, so S itself cannot be minimised. There are two
remedies: the positive part of S, and a smaller weight of the class means. Both are shown on
handwritten digits, five rows of each class, over the strength C.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from ulmus import ManifoldELMClassifier

X, y = load_digits(return_X_y=True)
rng = np.random.default_rng(0)
train = np.concatenate([rng.permutation(np.flatnonzero(y == k))[:5] for k in range(10)])
test = np.setdiff1d(np.arange(len(y)), train)
C = np.logspace(-6, 4, 11)
chosen = ManifoldELMClassifier(lam=0.0, random_state=0).fit(X[train], y[train])

figure, axes = plt.subplots(layout="constrained")
for form in ("positive", "bounded"):
    models = [ManifoldELMClassifier(form=form, C=float(c), lam=0.0, random_state=0) for c in C]
    scores = [100 * model.fit(X[train], y[train]).score(X[test], y[test]) for model in models]
    axes.semilogx(C, scores, "o-", label=form)
axes.axvline(chosen.C_, color="grey", linewidth=1)
axes.set(
    xlabel="C",
    ylabel="right (%)",
    title=f"{chosen.n_negative_} negative eigenvalues; chosen: C = {chosen.C_:.3g}",
)
axes.legend(title="form")
plt.show()
