"""
The kernel of infinitely many units
===================================

As a random layer of erf units gets wider, the inner products of its rows converge to the arcsine
kernel. The predictions converge to those of the kernel ELM.
"""

import matplotlib.pyplot as plt
import numpy as np

from ulmus import ELMRegressor, KernelELMRegressor, RandomFeatures
from ulmus.kernels import Arcsine

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(-3, 3, 60))[:, None]
y = np.sin(2 * x[:, 0]) + 0.1 * rng.standard_normal(60)
line = np.linspace(-4, 4, 300)[:, None]

# Units erf(vx + b) with standard normal v and b: HHᵀ/h tends to the kernel, so C is C/h.
kernel = KernelELMRegressor(Arcsine(gamma=1.0, coef0=1.0), C=1e3, fit_intercept=False).fit(x, y)
figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
axes[0].plot(x, y, "k.", alpha=0.5)
widths, errors = [10, 30, 100, 300, 1000, 3000], []
for h in widths:
    outputs = []
    for seed in range(10):
        units = RandomFeatures(
            h, activation="erf", weights="normal", scaling=None, random_state=seed
        )
        model = ELMRegressor(units, C=1e3 / h, fit_intercept=False).fit(x, y)
        outputs.append(model.predict(line))
    gap = np.sqrt(np.mean((np.array(outputs) - kernel.predict(line)) ** 2))
    errors.append(gap)
    if h in (30, 3000):
        axes[0].plot(line, outputs[0], label=f"{h} units")
axes[0].plot(line, kernel.predict(line), "k--", label="infinitely many")
axes[0].set(ylim=(-2, 2), xlabel="x")
axes[0].legend()
axes[1].loglog(widths, errors, "o-")
axes[1].loglog(widths, errors[0] * np.sqrt(widths[0] / np.array(widths)), "k:", label="1/√h")
axes[1].set(xlabel="units h", ylabel="distance from the infinite network")
axes[1].legend()
plt.show()
