"""
An extreme learning machine, step by step
=========================================

One input, one output, and a network whose hidden weights are never trained. The four plots belong
to the ten-minute guide: the data, the random hidden units, the closed-form fit, and the
regularisation strength C.
"""

import matplotlib.pyplot as plt
import numpy as np

from ulmus import ELMRegressor, RandomFeatures

rng = np.random.default_rng(1)
x = np.sort(rng.uniform(-3, 3, 60))
y = np.sin(2 * x) + 0.3 * x + 0.25 * rng.standard_normal(60)
grid = np.linspace(-3, 3, 300)

# %%
# Random hidden units: each is a sigmoid of a random slope and a random shift.
layer = RandomFeatures(8, gain=4.0, random_state=3).fit(x[:, None])
figure, axes = plt.subplots(figsize=(8, 3.2), layout="constrained")
axes.plot(grid, layer.transform(grid[:, None]))
axes.set(xlabel="input x", ylabel="output of a hidden unit")
axes.set_title("Eight hidden units, drawn at random and never trained")
plt.show()

# %%
# The output is a weighted sum of the units. With more units it can follow more shapes.
figure, axes = plt.subplots(1, 3, figsize=(10, 3.2), layout="constrained", sharey=True)
for ax, units in zip(axes, (2, 8, 200), strict=True):
    model = ELMRegressor(RandomFeatures(units, gain=4.0, random_state=3)).fit(x[:, None], y)
    ax.plot(x, y, ".", color="grey")
    ax.plot(grid, model.predict(grid[:, None]), color="#0072B2", linewidth=2)
    ax.set(title=f"{units} units", xlabel="input x")
figure.suptitle("The weighted sum that fits best, found by one solve")
plt.show()

# %%
# C decides how closely the sum follows the data.
figure, axes = plt.subplots(1, 3, figsize=(10, 3.2), layout="constrained", sharey=True)
layer = RandomFeatures(200, gain=40.0, random_state=3)
for ax, C in zip(axes, (1e-4, "loo", 1e8), strict=True):
    model = ELMRegressor(layer, C=C).fit(x[:, None], y)
    ax.plot(x, y, ".", color="grey")
    ax.plot(grid, model.predict(grid[:, None]), color="#D55E00", linewidth=2)
    title = f"C = {model.C_:.3g}" + (" (chosen)" if C == "loo" else "")
    ax.set(title=title, xlabel="input x", ylim=(-2.6, 2.6))
figure.suptitle("200 units: too smooth, chosen by leave-one-out, and overfitted")
plt.show()

# %%
# Leave-one-out error for every C, from one eigendecomposition.
chosen = ELMRegressor(layer).fit(x[:, None], y)
figure, axes = plt.subplots(figsize=(8, 3.2), layout="constrained")
axes.loglog(chosen.loo_path_["C"], chosen.loo_path_["squared_error"], "o-", color="#009E73")
axes.axvline(chosen.C_, color="grey", linestyle=":")
axes.set(xlabel="C", ylabel="squared error of rows left out")
axes.set_title("Every row is left out once, for every C")
plt.show()
