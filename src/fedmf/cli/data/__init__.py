"""List the data sets, describe a federation, prepare data for it."""

from __future__ import annotations

from fedmf.cli._group import Commands

__all__ = ["command"]

command = Commands(
    "data",
    __name__,
    help="""List the data sets, describe a federation, prepare data for it.

    \b
    Example
      fedmf data describe samples.csv --sites hospital
    """,
)
