"""Options that know which table of a configuration they fill, and help that is sorted by table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

TITLES = {
    "data": "Data",
    "problem": "Problem",
    "algorithm": "Algorithm",
    "run": "Run",
    "output": "Output",
}


class Setting(click.Option):
    """An option that fills one entry of a table; not given, it leaves the entry alone."""

    def __init__(self, *args: Any, table: str = "output", **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.table = table


class Sectioned(click.Command):
    """A command whose help has a section for each table."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options table by table."""
        for table, title in (*TITLES.items(), ("", "Others")):
            rows = [
                row
                for option in self.get_params(ctx)
                if isinstance(option, click.Option)
                and getattr(option, "table", "") == table
                and (row := option.get_help_record(ctx)) is not None
            ]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


def setting(table: str, *names: str, **settings: Any) -> Callable[[F], F]:
    """Return the decorator of an option of that table."""
    return click.option(*names, cls=Setting, table=table, default=None, **settings)


def given(ctx: click.Context, *tables: str) -> dict[str, dict[str, Any]]:
    """Return what was given on the command line, by table."""
    found: dict[str, dict[str, Any]] = {table: {} for table in tables}
    for option in ctx.command.params:
        value = ctx.params.get(option.name or "")
        if isinstance(option, Setting) and option.table in found and value is not None:
            found[option.table][str(option.name)] = value
    return found


def folder(path: str | Path) -> Path:
    """Return a path as the user means it."""
    return Path(path).expanduser()


def data_options(command: F) -> F:
    """Add the options that say what DATA is and how it is spread over sites."""
    for decorate in reversed(_DATA):
        command = decorate(command)
    return command


_DATA = (
    setting("data", "--sites", metavar="COLUMN|FILE", help="Which site each sample belongs to."),
    setting("data", "--labels", metavar="COLUMN|FILE",
            help="The true class of each sample; never used to fit."),
    setting("data", "--samples", metavar="COLUMN", help="The samples' names."),
    setting("data", "--drop", metavar="COLUMN,...", help="Columns that are no features either."),
    setting("data", "--partition", metavar="NAME[:KEY=VALUE,...]",
            help="Spread the samples over sites: iid, kmeans, dirichlet:alpha=0.3, ..."),
    setting("data", "--n-sites", metavar="P", type=int,
            help="How many sites to make  [default: 100 with --partition]"),
    setting("data", "--data-dir", metavar="FOLDER",
            help="Where the built-in data sets' files lie  [default: $FEDMF_DATA]"),
)  # fmt: skip
