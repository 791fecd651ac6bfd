"""What the server may know of what goes wrong at a site: never anything that could hold data.

An error's text may quote an entry of the data, a path, a name. So only errors that are made to be
told go out in words; of others their kind, and the rest stays in the site's own log.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fedmf.errors import FedMFError, FileFormatError, MissingDataError, NonFiniteError, RefusedError
from fedmf.network.frames import Frame
from fedmf.network.link import Caller

log = logging.getLogger("fedmf.site")


def what_to_say(error: Exception, *, begun: bool = True) -> dict[str, Any]:
    """Return what the server may know of an error: nothing that could hold data.

    With `again` the run waits for this site, or goes on without it: what its operator can put
    right, once a run has begun, is no reason to lose the run.
    """
    kind = type(error).__name__
    if isinstance(error, RefusedError):
        return {"error": str(error), "class": kind, "again": begun}
    if isinstance(error, NonFiniteError):
        return {"error": str(error), "class": kind}
    if isinstance(error, MissingDataError | FileFormatError):
        return {"error": "its stored state is missing or damaged", "class": kind, "again": True}
    if isinstance(error, OSError):
        return {"error": error.strerror or kind, "class": kind, "again": True}
    return {"error": f"{kind}, see the log at the site", "class": kind}


@contextmanager
def saying_why(caller: Caller) -> Iterator[None]:
    """Let the server know why a site ends by a mistake, as far as it may be known."""
    try:
        yield
    except FedMFError as error:
        why = (
            str(error)
            if isinstance(error, RefusedError)
            else f"{type(error).__name__}, see its log"
        )
        try:
            caller("leave", Frame({"why": why}), 5.0)
        except FedMFError as other:
            log.warning("the server could not be told of what follows: %s", other)
        raise
