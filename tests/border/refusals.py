"""What is expected of an error about what a user passed."""

import pytest

from fedmf.errors import FedMFError


def refused(what, kind=ValueError):
    """Return a context that expects a one-line error of fedmf's that also is of that kind."""
    return _Refused(what, kind)


class _Refused:
    def __init__(self, what, kind):
        self.kind, self.context = kind, pytest.raises(FedMFError, match=what)

    def __enter__(self):
        self.info = self.context.__enter__()

    def __exit__(self, *error):
        done = self.context.__exit__(*error)
        assert isinstance(self.info.value, self.kind)
        assert "\n" not in str(self.info.value)
        return done
