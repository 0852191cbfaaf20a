"""
Plots of fitted models
======================

Six plots, each from one line: the leave-one-out path, the rank of a kernel, the weights of
candidates, the surface over C and λ, a map with labels and certainty, and clusters against classes.
They are Displays as in scikit-learn: ``from_estimator`` draws a fitted model, ``ax=`` says where,
and ``ax_``, ``figure_`` and the artists can be changed afterwards.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from ulmus import (
    ELMClassifier,
    ELMEmbedding,
    ELMSpectralClustering,
    KernelELMClassifier,
    LowRank,
    SemiSupervisedELMClassifier,
)
from ulmus.plotting import (
    CandidatesDisplay,
    ClusterConfusionDisplay,
    EmbeddingDisplay,
    KernelSpectrumDisplay,
    LOOPathDisplay,
    SurfaceDisplay,
)

X, y = load_digits(return_X_y=True)
few = np.full(len(y), -1)
known = np.random.default_rng(0).choice(len(y), 60, replace=False)
few[known] = y[known]

# %%
# How C was chosen
# ----------------
#
# The error on left-out rows for every C that was tried. Two models on the same axes, the second
# with a kernel.

model = ELMClassifier(n_hidden=500, random_state=0).fit(X, y)
kernel = KernelELMClassifier("rbf", method=LowRank(tol=1e-2), random_state=0).fit(X, y)
display = LOOPathDisplay.from_estimator(model, name="ELM")
LOOPathDisplay.from_estimator(kernel, name="kernel ELM", ax=display.ax_)
plt.show()

# %%
# How many columns the kernel needed
# ----------------------------------
#
# The missing fraction of the kernel's trace, the tolerance, and the chosen rank.

KernelSpectrumDisplay.from_estimator(kernel)
plt.show()

# %%
# The weights of the candidates
# -----------------------------
#
# The default averages models of four kinds by how well they predict left-out labels.

semi = SemiSupervisedELMClassifier(n_hidden=500, random_state=0).fit(X, few)
CandidatesDisplay.from_estimator(semi)
plt.show()

# %%
# How the published form chooses C and λ
# --------------------------------------

published = SemiSupervisedELMClassifier(n_hidden=500, coupling="published", random_state=0).fit(
    X, few
)
SurfaceDisplay.from_estimator(published)
plt.show()

# %%
# A map of the rows, and the certainty of their labels
# -----------------------------------------------------
#
# Left: the sixty labels on a map that was made without them. Right: the labels that the model gave
# to all rows; a hollow marker is an uncertain label.

embedding = ELMEmbedding(n_hidden=500, random_state=0).fit(X)
figure, axes = plt.subplots(1, 2, figsize=(12, 5), layout="constrained")
EmbeddingDisplay.from_estimator(embedding, X, few, ax=axes[0])
EmbeddingDisplay.from_estimator(embedding, X, classifier=semi, ax=axes[1])
plt.show()

# %%
# Which cluster is which digit
# ----------------------------

clusters = ELMSpectralClustering(10, n_hidden=500, random_state=0).fit(X)
ClusterConfusionDisplay.from_estimator(clusters, X, y)
plt.show()
