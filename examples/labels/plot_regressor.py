"""
Sigmoid and radial hidden units
===============================

One-dimensional regression with two kinds of hidden unit: additive sigmoids and radial functions.
The data have a gap, in which the two kinds predict differently.
"""

import matplotlib.pyplot as plt
import numpy as np

from ulmus import ELMRegressor, RandomFeatures, RBFFeatures

rng = np.random.default_rng(0)
x = np.sort(np.concatenate([rng.uniform(-3, -0.5, 60), rng.uniform(1, 3, 60)]))
y = np.sinc(x) + 0.08 * rng.standard_normal(len(x))
grid = np.linspace(-3.5, 3.5, 400)

figure, axes = plt.subplots(layout="constrained")
axes.plot(x, y, ".", color="grey", label="data")
for name, features in {"sigmoid units": RandomFeatures(), "radial units": RBFFeatures()}.items():
    model = ELMRegressor(features, random_state=0).fit(x[:, None], y)
    label = f"{name}: left-out R² {model.loo_score_:.2f}"
    axes.plot(grid, model.predict(grid[:, None]), label=label)
axes.plot(grid, np.sinc(grid), "k:", linewidth=1, label="truth")
axes.set(ylim=(-0.6, 1.3))
axes.legend()
plt.show()
