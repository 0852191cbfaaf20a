"""Model files as commands take them."""

from ulmus.exceptions import InvalidInputError
from ulmus.persistence import load
from ulmus.tables import TableModel

__all__ = ["load_model"]


def load_model(path):
    """The model in a file, if it is one that reads tables."""
    model = load(path)
    if not isinstance(model, TableModel):
        raise InvalidInputError(
            f"{path} holds a {type(model).__name__}, which reads no tables; the commands take what "
            "`ulmus fit` wrote, and ulmus.load in Python takes this."
        )
    return model
