"""Arrays of other libraries, with scikit-learn's array API switched on."""

import shutil
from functools import partial

import array_api_strict
import pytest
import sklearn


def _strict(name):
    return partial(array_api_strict.asarray, device=array_api_strict.Device(name))


def _torch(device):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed (extra 'torch')")
    if device == "cuda" and not torch.cuda.is_available():
        pytest.skip("PyTorch sees no CUDA device")
    return partial(torch.asarray, device=device)


def _cupy():
    cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
    if not cupy.is_available():
        pytest.skip("CuPy sees no CUDA device")
    return cupy.asarray


LIBRARIES = {
    "array_api_strict": partial(_strict, "CPU_DEVICE"),
    # Its arrays refuse to be mixed with those of the host's own device, as a GPU's do.
    "array_api_strict, another device": partial(_strict, "device1"),
    "torch": partial(_torch, "cpu"),
}
if shutil.which("nvidia-smi"):
    LIBRARIES |= {"torch, cuda": partial(_torch, "cuda"), "cupy": _cupy}


@pytest.fixture(params=LIBRARIES)
def library(request):
    """Puts arrays into a library."""
    asarray = LIBRARIES[request.param]()
    with sklearn.config_context(array_api_dispatch=True):
        yield asarray
