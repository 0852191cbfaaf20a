"""A fitted model's arrays moved to another device, or to the host."""

from collections.abc import Callable
from copy import copy
from dataclasses import fields, is_dataclass, replace
from typing import Any

from ulmus.backends.namespace import beside, is_array_api_obj, is_numpy, to_numpy
from ulmus.backends.streaming import torch_device
from ulmus.fitted import Mark, marked
from ulmus.typing import Array


def to_host(model: Any) -> Any:
    """A copy of a model in which all arrays are NumPy arrays.

    A model that was fitted on a GPU can then be stored, and predicts on a machine without one.

    Parameters
    ----------
    model : estimator, feature map, pipeline or array
        The fitted object, on any device; it is not changed.

    Returns
    -------
    model : the same kind of object
        The copy.

    See Also
    --------
    to_device : The inverse.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ulmus import ELMClassifier, to_host
    >>> X, y = load_iris(return_X_y=True)
    >>> model = to_host(ELMClassifier(n_hidden=50, random_state=0).fit(X, y))
    >>> type(model.beta_).__name__
    'ndarray'
    """
    return _moved(model, lambda x: x if is_numpy(x) else to_numpy(x), True)


def to_device(model: Any, device: Any) -> Any:
    """A copy of a model on another device.

    It has the output weights, and all else that is used with the rows, on that device. So rows
    there can be predicted, or added by ``partial_fit``, without copying the weights each time.
    Small arrays and arrays that are not numbers stay on the host, as in `fit`.

    Parameters
    ----------
    model : estimator, feature map or pipeline
        The fitted object, on any device; it is not changed.
    device : str, torch.device or array
        A device of PyTorch, such as "cuda"; or an array, for its library and device.

    Returns
    -------
    model : the same kind of object
        The copy.

    See Also
    --------
    to_host : The inverse.
    on_device : Rows in host memory that a device works on.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ulmus import ELMClassifier, to_device
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ELMClassifier(n_hidden=50, random_state=0).fit(X, y)
    >>> model = to_device(model, "cuda")  # doctest: +SKIP
    """
    like = device
    if not is_array_api_obj(device):
        torch, found = torch_device(device)
        like = torch.empty(0, device=found)
    return _moved(model, lambda x: beside(to_numpy(x), like), is_array_api_obj(model))


def _moved(x: Any, move: Callable[[Array], Array], every: bool) -> Any:
    """x with its arrays moved: every one, or those that its class declares `OnDevice`."""
    if every and is_array_api_obj(x):
        return move(x)
    there = marked(type(x), Mark.DEVICE)

    def part(name: Any, inside: Any) -> Any:
        return _moved(inside, move, every or name in there)

    if hasattr(x, "get_params") and not isinstance(x, type):
        model = copy(x)  # without what can be computed again
        vars(model).update({name: part(name, inside) for name, inside in vars(model).items()})
        return model
    if is_dataclass(x) and not isinstance(x, type):
        parts = {f.name: getattr(x, f.name) for f in fields(x)}
        fresh = {name: part(name, inside) for name, inside in parts.items()}
        return x if all(fresh[name] is parts[name] for name in parts) else replace(x, **fresh)
    if isinstance(x, dict):
        return type(x)({key: part(key, inside) for key, inside in x.items()})
    if type(x) in (list, tuple):
        return type(x)(part(i, inside) for i, inside in enumerate(x))
    return x
