"""
Concept drift with forgetting
=============================

The boundary between two classes rotates slowly. A model that weighs all rows alike falls behind. A
model whose old rows lose weight (``decay``) keeps up.
"""

import matplotlib.pyplot as plt
import numpy as np

from ulmus import ELMClassifier

rng = np.random.default_rng(0)
steady = ELMClassifier(n_hidden=100, C=1.0, random_state=0)
fading = ELMClassifier(n_hidden=100, C=1.0, random_state=0)
scores = {"all rows alike": [], "decay = 0.7": []}

for angle in np.linspace(0, np.pi, 40):
    X = rng.standard_normal((200, 2))
    y = X @ [np.cos(angle), np.sin(angle)] > 0
    if hasattr(steady, "beta_"):  # judged before it has seen the batch
        scores["all rows alike"].append(steady.score(X, y))
        scores["decay = 0.7"].append(fading.score(X, y))
    steady.partial_fit(X, y)
    fading.partial_fit(X, y, decay=0.7)

figure, axes = plt.subplots(layout="constrained")
for name, accuracy in scores.items():
    axes.plot(accuracy, label=name)
axes.set(xlabel="batch", ylabel="accuracy before learning the batch", ylim=(0.4, 1.02))
axes.legend()
plt.show()
