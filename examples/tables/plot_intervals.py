"""
Prediction intervals for a table
================================

A regression table with ten columns. Each prediction has a 90 % interval, made from models that
leave out one row each, without any refit and without a calibration set. The intervals hold about
nine of ten new rows.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

from ulmus import ELMRegressor

X, y = load_diabetes(return_X_y=True)
X, X_new, y, y_new = train_test_split(X, y, test_size=0.3, random_state=0)
model = ELMRegressor(random_state=0).fit(X, y)
low, high = model.predict_interval(X_new, coverage=0.9).T
held = (low <= y_new) & (y_new <= high)

order = np.argsort(model.predict(X_new))
place = np.arange(len(y_new))
figure, axes = plt.subplots(figsize=(10, 4.5), layout="constrained")
axes.fill_between(place, low[order], high[order], color="#0072B2", alpha=0.2, label="90 % interval")
axes.plot(place, model.predict(X_new)[order], color="#0072B2", label="prediction")
for inside, colour, name in ((True, "#1b2a1f", "true value"), (False, "#D55E00", "outside")):
    rows = held[order] == inside
    axes.plot(place[rows], y_new[order][rows], ".", color=colour, label=name)
axes.set(xlabel="new rows, by their prediction", ylabel="disease progression")
axes.set_title(f"{held.mean():.0%} of {len(y_new)} new rows lie in their interval")
axes.legend(loc="upper left", ncols=4)
plt.show()
