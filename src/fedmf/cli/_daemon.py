"""What `fedmf server` and `fedmf site` share: a supervisor, a log in the kit, a clean end."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from logging.handlers import RotatingFileHandler
from pathlib import Path
from threading import Event
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])
LOG_BYTES, LOG_FILES = 10 * 2**20, 3
log = logging.getLogger("fedmf")

child_option: Callable[[F], F] = click.option(
    "--child", is_flag=True, hidden=True, help="Run as the supervisor's child."
)


def daemon(name: str, folder: Path, child: bool, work: Callable[[Event], bool]) -> int:
    """Supervise this very command, or do its work in the child; return the exit status.

    `work` says whether it ended well. A mistake of the user's ends it for good; anything else, a
    full disk among it, is tried again by the supervisor.
    """
    from fedmf.errors import FedMFError
    from fedmf.network.supervisor import (
        DONE,
        FAILED,
        MISTAKE,
        alone,
        end_with_parent,
        stopping,
        supervise,
    )

    if not child:
        _log_to_stream()
        return supervise([sys.executable, "-m", "fedmf", *sys.argv[1:], "--child"])
    stop = stopping()
    end_with_parent(stop)
    with alone(folder, name):
        _log_to_file(folder / f"{name}.log")
        try:
            return DONE if work(stop) else FAILED
        except FedMFError as error:
            log.error("%s", error)  # noqa: TRY400 - a line, as for every mistake
            return MISTAKE
        except Exception:
            log.exception("a failure")
            return FAILED


def _log_to_stream() -> None:
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    log.addHandler(handler)


def _log_to_file(path: Path) -> None:
    """Write the log into the kit, and what matters to the error stream as well."""
    log.setLevel(logging.INFO)
    kept = RotatingFileHandler(path, maxBytes=LOG_BYTES, backupCount=LOG_FILES, encoding="utf-8")
    shown = logging.StreamHandler()
    for handler in (kept, shown):
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
        log.addHandler(handler)
