"""
Rank of a low-rank kernel
=========================

Randomly pivoted Cholesky reads a few columns of the kernel matrix and knows at every step how much
of the trace is missing. Left: the missing part against the number of columns, beside uniformly
drawn landmarks and the optimum. Right: the rows that were chosen as landmarks.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

from ulmus import KernelELMClassifier, KernelFeatures, LowRank
from ulmus.plotting import KernelSpectrumDisplay

# Two moons, one of them crowded.
X, y = make_moons((1500, 150), noise=0.08, random_state=0)

figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for method, name in (
    ("nystrom", "uniform landmarks"),
    ("rpcholesky", "randomly pivoted Cholesky"),
    ("eig", "eigenvectors"),
):
    phi = KernelFeatures(rank=60, gamma=5.0, method=method, random_state=0).fit(X)
    KernelSpectrumDisplay(phi.approximation_path_, name=name).plot(axes[0])

model = KernelELMClassifier("rbf", gamma=5.0, method=LowRank(tol=1e-2), random_state=0).fit(X, y)
landmarks = model.landmarks_ / model.scaling_.factor + model.scaling_.center
axes[1].scatter(*X.T, c=y, s=4, cmap="coolwarm", alpha=0.4)
axes[1].scatter(*landmarks.T, s=40, facecolors="none", edgecolors="black")
axes[1].set_title(f"{model.rank_} landmarks leave 1 % of the trace out")
plt.show()
