"""matplotlib is wanted when something is drawn, and not before."""

import inspect
import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest

import ulmus.plotting
from ulmus.exceptions import MissingExtraError
from ulmus.plotting import (
    CandidatesDisplay,
    ClusterConfusionDisplay,
    ClusterNumberDisplay,
    EmbeddingDisplay,
    KernelSpectrumDisplay,
    LOOPathDisplay,
    SurfaceDisplay,
)

DISPLAYS = [
    LOOPathDisplay([1.0, 10.0], [0.2, 0.1], chosen=1),
    SurfaceDisplay([0.1, 1.0], [1.0, 10.0], np.full((2, 2), 0.5), chosen=(0.1, 1.0)),
    EmbeddingDisplay(np.eye(2), [0, 1], certainty=[0.2, 0.9]),
    KernelSpectrumDisplay([0.5, 0.1], rank=2, tol=0.1),
    ClusterConfusionDisplay(np.eye(2, dtype=int)),
    ClusterNumberDisplay([2, 3], [0.5, 0.9], 3),
    CandidatesDisplay(["alone", "free"], [0.2, 0.1], [0.3, 0.7]),
]


@pytest.mark.parametrize("display", DISPLAYS, ids=lambda d: type(d).__name__)
def test_without_axes_a_figure_is_made_and_not_shown(display, monkeypatch):
    monkeypatch.setattr(plt, "show", lambda: pytest.fail("show was called"))
    assert display.plot() is display
    assert plt.gcf() is display.figure_
    assert display.ax_.get_xlabel()
    assert display.ax_.get_ylabel()


@pytest.mark.parametrize("style", ["default", "dark_background"])
@pytest.mark.parametrize("display", DISPLAYS, ids=lambda d: type(d).__name__)
def test_every_style_can_be_drawn(display, style):
    with plt.style.context(style):
        display.plot().figure_.canvas.draw()


@pytest.mark.parametrize("display", DISPLAYS, ids=lambda d: type(d).__name__)
def test_without_matplotlib_the_error_names_the_extra(display, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'ulmus\[plot\]'"):
        display.plot()


def test_importing_leaves_matplotlib_alone():
    code = "import sys, ulmus.plotting; print('matplotlib' in sys.modules)"
    seen = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert seen.stdout.strip() == "False", seen.stderr


def test_every_display_is_public_and_documents_its_parameters():
    assert set(ulmus.plotting.__all__) == {type(display).__name__ for display in DISPLAYS}
    for cls in map(type, DISPLAYS):
        for name in list(inspect.signature(cls).parameters):
            assert f"\n{name} : " in inspect.getdoc(cls), f"{cls.__name__} misses {name}"
