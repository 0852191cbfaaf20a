"""Arrays of other libraries, with scikit-learn's array API switched on.

The strict library has the standard and nothing more, so that what holds there holds in general.
PyTorch adds rules of its own for dtypes, its own linear algebra and memory that views share: those
cases are marked, and `make torch` runs them.
"""

import shutil
from functools import partial
from importlib import import_module
from importlib.util import find_spec

import array_api_strict
import pytest
import sklearn


def _strict(name):
    return partial(array_api_strict.asarray, device=array_api_strict.Device(name))


def _torch(device):
    return partial(import_module("torch").asarray, device=device)


def _cupy():
    return import_module("cupy").asarray


def _gpu_libraries():
    """The libraries that see a GPU here."""
    if not shutil.which("nvidia-smi"):
        return {}
    found = {}
    if find_spec("torch") and import_module("torch").cuda.is_available():
        found["torch, cuda"] = partial(_torch, "cuda")
    if find_spec("cupy") and import_module("cupy").is_available():
        found["cupy"] = _cupy
    return found


LIBRARIES = {
    # A device whose arrays refuse to be mixed with those of the host, as a GPU's do. Arrays of the
    # strict library on the host itself are in scikit-learn's checks, in tests/contract.
    "array_api_strict": partial(_strict, "device1"),
    "torch": partial(_torch, "cpu"),
    **_gpu_libraries(),
}


def _marked(name):
    return pytest.param(name, marks=[pytest.mark.torch] if name.startswith("torch") else [])


@pytest.fixture(params=map(_marked, LIBRARIES))
def library(request):
    """Puts arrays into a library."""
    asarray = LIBRARIES[request.param]()
    with sklearn.config_context(array_api_dispatch=True):
        yield asarray
