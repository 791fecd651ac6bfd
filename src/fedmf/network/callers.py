"""Which process calls with which certificate: a kit that is in use twice shows at both of them.

A process that is started anew takes the place of the one before, which is gone. If that one calls
again, it was not gone, and somebody has copied the kit.
"""

from __future__ import annotations

import logging
from collections import deque
from threading import Lock

from fedmf.network.link import NotAllowedError

REMEMBERED = 100  # former processes of a site
log = logging.getLogger("fedmf.server")


class Callers:
    """The processes that call, by the name in their certificate."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._now: dict[str, str] = {}
        self._former: dict[str, deque[str]] = {}

    def check(self, name: str, process: str) -> None:
        """Take notice of a call; refuse one of a process whose place was taken."""
        with self._lock:
            now, former = (
                self._now.get(name),
                self._former.setdefault(name, deque(maxlen=REMEMBERED)),
            )
            if process in former:
                raise NotAllowedError(
                    f"another process has called with the certificate of {name!r} since: its kit "
                    "is in use twice"
                )
            if now is not None and now != process:
                former.append(now)
                log.info("site %s: a new process calls in place of the one before", name)
            self._now[name] = process
