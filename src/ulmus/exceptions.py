"""Every deliberate error and warning of Ulmus.

    UlmusError
    ├── InvalidInputError (ValueError)       the data cannot be used as given
    │   ├── InvalidParameterError            a constructor argument cannot be used
    │   ├── EntryTypeError (TypeError)       an entry of X is of a type that is no number
    │   ├── RowsGoneError                    a method needs rows of which only sums are kept
    │   ├── BatchError                       one batch or block does not fit the others
    │   ├── GraphError                       a graph does not tell what is asked of it
    │   ├── CheckpointError                  a file of sums is no use to this fit
    │   └── TableError                       a file is no table that can be read
    ├── ExportError (ValueError)             a model has no form in the format asked for
    ├── ModelFileError (ValueError)          a file is no model that can be read
    │   └── UnsupportedModelError            a model holds what no file may
    └── MissingExtraError (ImportError)      an optional package is not installed

    UlmusWarning (UserWarning)
    ├── ConstantColumnWarning                a column varies too little for float64 to scale
    ├── CheckpointWarning                    a file of sums cannot be written; the fit goes on
    ├── IllConditionedWarning                an answer was found, by a safer and slower way
    ├── LowRankWarning                       a kernel has fewer directions than were asked for
    └── UnreachedRowsWarning                 a graph does not tell of some rows

A message says what was wrong, then what to do.
"""

__all__ = [
    "BatchError",
    "CheckpointError",
    "CheckpointWarning",
    "ConstantColumnWarning",
    "EntryTypeError",
    "ExportError",
    "GraphError",
    "IllConditionedWarning",
    "InvalidInputError",
    "InvalidParameterError",
    "LowRankWarning",
    "MissingExtraError",
    "ModelFileError",
    "RowsGoneError",
    "TableError",
    "UlmusError",
    "UlmusWarning",
    "UnreachedRowsWarning",
    "UnsupportedModelError",
]


class UlmusError(Exception):
    """Root of every error Ulmus raises on purpose."""


class InvalidInputError(UlmusError, ValueError):
    """The data cannot be used as given."""


class InvalidParameterError(InvalidInputError):
    """A constructor argument cannot be used."""


class EntryTypeError(InvalidInputError, TypeError):
    """An entry of X is of a type that is no number, a dict for instance."""


class RowsGoneError(InvalidInputError):
    """A method needs all rows at once, and of these only sums are kept."""


class BatchError(InvalidInputError):
    """One batch of a stream, or one block of a Dask collection, does not fit the others."""


class GraphError(InvalidInputError):
    """A graph has too many parts, or too little else, to tell what is asked of it."""


class CheckpointError(InvalidInputError):
    """A file of sums is damaged, or belongs to another fit."""


class TableError(InvalidInputError):
    """A file is no table that can be read, or not the table that was expected."""


class ExportError(UlmusError, ValueError):
    """A model has no form in the format asked for."""


class ModelFileError(UlmusError, ValueError):
    """A file is damaged, no model, of a newer version, or holds what no file may."""


class UnsupportedModelError(ModelFileError):
    """A model holds what no file may, so it is not saved."""


class MissingExtraError(UlmusError, ImportError):
    """An optional package is not installed."""


class UlmusWarning(UserWarning):
    """Root of every warning Ulmus gives on purpose."""


class CheckpointWarning(UlmusWarning):
    """A file of sums cannot be written, and the fit goes on without it."""


class ConstantColumnWarning(UlmusWarning):
    """A column varies by too little for float64 to scale it, and counts as constant."""


class IllConditionedWarning(UlmusWarning):
    """An answer was found, but by a safer and slower way than asked."""


class LowRankWarning(UlmusWarning):
    """A low-rank factor has fewer columns than were asked for, for there are no more."""


class UnreachedRowsWarning(UlmusWarning):
    """A graph joins some rows to no label, or to few others; the model alone tells of them."""
