"""The variant that the documentation builds up is one: scikit-learn's checks say so."""

import sys
import types
from pathlib import Path

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from ulmus import ELMRegressor

EXAMPLE = Path(__file__).parents[2] / "examples" / "plot_add_variant.py"
# All but the picture, as a module: pickles of the checks must find the class again.
module = sys.modules["plot_add_variant"] = types.ModuleType("plot_add_variant")
exec(EXAMPLE.read_text(encoding="utf-8").split("# %%")[0], module.__dict__)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks([module.RobustELMRegressor(n_hidden=30)])
def test_scikit_learn_check(estimator, check):
    check(estimator)


def test_rows_that_are_far_off_move_it_less():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(200, 1))
    y = np.where(rng.random(200) < 0.1, X[:, 0] + 5.0, X[:, 0])
    off = [
        np.abs(cls(n_hidden=50, C=1.0, random_state=0).fit(X, y).predict(X) - X[:, 0]).mean()
        for cls in (ELMRegressor, module.RobustELMRegressor)
    ]
    assert off[1] < 0.2 * off[0], off
