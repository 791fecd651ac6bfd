"""The commands, one file each: a file here is a command of its name, found by listing the folder.

A command's module has a docstring, whose first line is its line in `fedmf --help`, and a click
command called `command`. It is imported when it is called and not before, and imports what is slow
inside its functions, so that help comes at once. Files that begin with an underscore are shared
parts.
"""

from __future__ import annotations

from fedmf.cli._group import Commands, version_option

__all__ = ["main"]

main = Commands(
    "fedmf",
    __name__,
    help="""Federated matrix factorisation: sites that keep their data find one shared W together.

    \b
    Begin with
      fedmf demo
      fedmf fit samples.csv --rank 10 --sites hospital --participants 5 --out run
    """,
    params=[version_option()],
)
