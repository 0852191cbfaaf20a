"""
A world that changes
====================

Labels whose rule turns slowly. A model that keeps every row alike falls behind; one that lets the
past fade follows.
"""

import matplotlib.pyplot as plt
import numpy as np

from ulmus import ELMClassifier

rng = np.random.default_rng(0)
steady = ELMClassifier(n_hidden=100, C=1.0, random_state=0)
fading = ELMClassifier(n_hidden=100, C=1.0, random_state=0)
scores = {"every row alike": [], "decay = 0.7": []}

for angle in np.linspace(0, np.pi, 40):
    X = rng.standard_normal((200, 2))
    y = X @ [np.cos(angle), np.sin(angle)] > 0
    if hasattr(steady, "beta_"):  # judged before it has seen the batch
        scores["every row alike"].append(steady.score(X, y))
        scores["decay = 0.7"].append(fading.score(X, y))
    steady.partial_fit(X, y)
    fading.partial_fit(X, y, decay=0.7)

figure, axes = plt.subplots(layout="constrained")
for name, accuracy in scores.items():
    axes.plot(accuracy, label=name)
axes.set(xlabel="batch", ylabel="right, before learning it", ylim=(0.4, 1.02))
axes.legend()
plt.show()
