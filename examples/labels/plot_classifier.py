"""
Choosing C by leave-one-out
===========================

By default a classifier chooses C by exact leave-one-out. One eigendecomposition serves all 25
values of C. The plot shows the whole curve, and how much accuracy a wrong C costs.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from ulmus import ELMClassifier
from ulmus.plotting import LOOPathDisplay

X, X_test, y, y_test = train_test_split(
    *load_digits(return_X_y=True), test_size=0.5, random_state=0
)
model = ELMClassifier(random_state=0).fit(X, y)

# %%
# Beside it, what the test rows say: each C refitted, which the curve did not need.

C = model.loo_path_["C"]
test = [1 - ELMClassifier(C=float(c), random_state=0).fit(X, y).score(X_test, y_test) for c in C]

figure, axes = plt.subplots(layout="constrained")
axes.semilogx(C, test, "--", color="C1", label="test rows, a refit for each")
LOOPathDisplay.from_estimator(model, name="left-out rows, one solve", ax=axes)
axes.set_ylabel("wrong")
plt.show()
