"""Every deliberate error of ``papers``; each is an `UlmusError`.

DatasetError                         a data set cannot be had
├── UnknownDatasetError (ValueError) no data set has this name
├── MissingDatasetError (OSError)    it is not on this machine and cannot be fetched
└── CorruptFileError (ValueError)    a file is not what its name promises
ReproductionError                    the papers' tables cannot be run as asked
└── UnknownTableError (ValueError)   no table or figure has this name
"""

from ulmus.exceptions import UlmusError


class DatasetError(UlmusError):
    """A data set cannot be had."""


class UnknownDatasetError(DatasetError, ValueError):
    """No data set has this name."""


class MissingDatasetError(DatasetError, OSError):
    """A data set is not on this machine and cannot be fetched."""


class CorruptFileError(DatasetError, ValueError):
    """A file is not what its name promises."""


class ReproductionError(UlmusError):
    """The papers' tables cannot be run as asked."""


class UnknownTableError(ReproductionError, ValueError):
    """No table or figure has this name."""
