"""The errors that a user can meet: one tree, every message one line.

FedMFError
├── InputError (ValueError)            data or a parameter has a value that cannot be used
│   ├── DataError                      data, with the site and the place in it
│   │   └── SiteMismatchError          sites that do not fit together
│   └── ParameterError                 a setting: its name, what is allowed, what came
├── InputTypeError (TypeError)         an object of the wrong kind
├── MissingDataError (FileNotFoundError)  a file that is not there, and where to get it
├── NotFittedError                     a model is used before it was fitted
├── FileFormatError (ValueError)       a file that cannot be read: which, where, why
├── NonFiniteError (ArithmeticError)   a run left the finite numbers: round and site
└── RefusedError (PermissionError)     a site or a server does not take part in it, and why
"""


class FedMFError(Exception):
    """Anything that fedmf itself refuses; its text is one line for the user."""


class InputError(FedMFError, ValueError):
    """A value that cannot be used."""


class DataError(InputError):
    """Data that cannot be used: the message names the site and the place."""


class SiteMismatchError(DataError):
    """Sites whose data do not fit together."""


class ParameterError(InputError):
    """A setting outside what is allowed."""


class InputTypeError(FedMFError, TypeError):
    """An object of a kind that cannot be used."""


class MissingDataError(FedMFError, FileNotFoundError):
    """A file that is not there; the message says where to get it."""


class NotFittedError(FedMFError, ValueError, AttributeError):
    """A model that was not fitted yet."""


class FileFormatError(FedMFError, ValueError):
    """A file that cannot be read; the message names the file and the place."""


class NonFiniteError(FedMFError, ArithmeticError):
    """A run that left the finite numbers; the message names round and site."""


class RefusedError(FedMFError, PermissionError):
    """What a site or a server of a federation refuses; the message tells nothing of its data."""
