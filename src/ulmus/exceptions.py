"""Every deliberate error and warning of Ulmus.

    UlmusError
    ├── InvalidInputError (ValueError)       the data cannot be used as given
    │   ├── InvalidParameterError            a constructor argument cannot be used
    │   ├── EntryTypeError (TypeError)       an entry of X is of a type that is not a number
    │   ├── RowsGoneError                    a method needs rows of which only sums are kept
    │   ├── BatchError                       one batch or block does not fit the others
    │   ├── GraphError                       a graph is not connected enough
    │   ├── CheckpointError                  a file of sums cannot be used for this fit
    │   └── TableError                       a file cannot be read as a table
    ├── ExportError (ValueError)             a model cannot be written in this format
    ├── ModelFileError (ValueError)          a file cannot be read as a model
    │   └── UnsupportedModelError            a model holds what a file may not
    └── MissingExtraError (ImportError)      an optional package is not installed

    UlmusWarning (UserWarning)
    ├── ConstantColumnWarning                a column varies too little for float64 to scale
    ├── CheckpointWarning                    a file of sums cannot be written; the fit continues
    ├── IllConditionedWarning                a slower and more stable solver was used
    ├── LowRankWarning                       a kernel matrix has a smaller rank than was asked for
    └── UnreachedRowsWarning                 a graph joins some rows to no labelled row

A message says what was wrong, then what to do.
"""


class UlmusError(Exception):
    """Root of every error Ulmus raises on purpose."""


class InvalidInputError(UlmusError, ValueError):
    """The data cannot be used as given."""


class InvalidParameterError(InvalidInputError):
    """A constructor argument cannot be used."""


class EntryTypeError(InvalidInputError, TypeError):
    """An entry of X is not a number but a dict, for instance."""


class RowsGoneError(InvalidInputError):
    """A method needs all rows at once, and of these only sums are kept."""


class BatchError(InvalidInputError):
    """One batch of a stream, or one block of a Dask collection, does not fit the others."""


class GraphError(InvalidInputError):
    """A graph has too many components, or too few edges, for the method."""


class CheckpointError(InvalidInputError):
    """A file of sums is damaged, or belongs to another fit."""


class TableError(InvalidInputError):
    """A file cannot be read as a table, or is not the table that was expected."""


class ExportError(UlmusError, ValueError):
    """A model cannot be written in this format."""


class ModelFileError(UlmusError, ValueError):
    """A file is damaged, not a model, of a newer version, or holds something forbidden."""


class UnsupportedModelError(ModelFileError):
    """A model holds what a file may not, so it is not saved."""


class MissingExtraError(UlmusError, ImportError):
    """An optional package is not installed."""


class UlmusWarning(UserWarning):
    """Root of every warning Ulmus gives on purpose."""


class CheckpointWarning(UlmusWarning):
    """A file of sums cannot be written, and the fit continues without it."""


class ConstantColumnWarning(UlmusWarning):
    """A column varies too little for float64 to scale it, and is treated as constant."""


class IllConditionedWarning(UlmusWarning):
    """A slower and more stable solver was used than the one asked for."""


class LowRankWarning(UlmusWarning):
    """A low-rank factor has fewer columns than were asked for: the matrix has no larger rank."""


class UnreachedRowsWarning(UlmusWarning):
    """A graph joins some rows to no label, or to few rows; they are predicted without it."""


__all__ = [name for name in dir() if name.endswith(("Error", "Warning"))]
