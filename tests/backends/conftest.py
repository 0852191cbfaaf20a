"""Arrays of other libraries, with scikit-learn's array API switched on."""

import array_api_strict
import pytest
import sklearn

# What does not run on the host's own device in array_api_strict refuses to be mixed with what
# does, as arrays of a GPU do.
LIBRARIES = ["array_api_strict", "array_api_strict, another device", "torch"]


@pytest.fixture(params=LIBRARIES)
def library(request):
    """Puts arrays into a library."""
    if request.param == "torch":
        torch = pytest.importorskip("torch", reason="PyTorch is not installed (extra 'torch')")
        asarray = torch.asarray
    else:
        name = "CPU_DEVICE" if request.param == "array_api_strict" else "device1"

        def asarray(x):
            return array_api_strict.asarray(x, device=array_api_strict.Device(name))

    with sklearn.config_context(array_api_dispatch=True):
        yield asarray
