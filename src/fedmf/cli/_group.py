"""A group of commands that are imported when they are called, and what becomes of their errors.

A mistake of the user's is one line on the error stream and exit status 2; Ctrl-C is 130, as in a
shell; anything unexpected keeps its traceback.
"""

from __future__ import annotations

import ast
import pkgutil
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from fedmf.errors import FedMFError

MISTAKE, INTERRUPTED = 2, 130


class Commands(click.Group):
    """The commands in the modules of a package."""

    def __init__(self, name: str, package: str, **settings: Any) -> None:
        super().__init__(name, context_settings={"max_content_width": 100}, **settings)
        self._package = package

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the package's modules."""
        found = (module.name for module in pkgutil.iter_modules([str(self._folder)]))
        return sorted(name for name in found if not name.startswith("_"))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in self.list_commands(ctx):
            return None
        command: click.Command = import_module(f"{self._package}.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands with the first lines of their modules, none of them imported."""
        rows = [(name, self._summary(name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run, and leave the process with the status."""
        if not standalone_mode:
            return super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        try:
            outcome = super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        except (FedMFError, click.ClickException, click.Abort, OSError) as error:
            outcome = _refuse(error)
        sys.exit(outcome if isinstance(outcome, int) else 0)

    @property
    def _folder(self) -> Path:
        spec = find_spec(self._package)
        if spec is None or spec.origin is None:
            raise ImportError(f"{self._package} has no folder")
        return Path(spec.origin).parent

    def _summary(self, name: str) -> str:
        path = self._folder / f"{name}.py"
        path = path if path.exists() else self._folder / name / "__init__.py"
        text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        return text.partition("\n")[0].rstrip(".")


def _refuse(error: Exception) -> int:
    """Tell a user's mistake in one line and return the status; raise what is none."""
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        error.show()
        return MISTAKE
    if isinstance(error, click.Abort):
        return complain("stopped by the user", INTERRUPTED)
    if isinstance(error, click.UsageError) and error.ctx is not None:
        said = error.format_message().rstrip(".")
        return complain(f"{said} (see {error.ctx.command_path} --help)")
    if isinstance(error, click.ClickException):
        return complain(error.format_message())
    if isinstance(error, OSError) and not isinstance(error, FedMFError):
        said = error.strerror or str(error)
        return complain(said if error.filename is None else f"{error.filename}: {said}")
    return complain(str(error))


def complain(text: str, status: int = MISTAKE) -> int:
    """Write one line to the error stream; return the status."""
    click.echo(f"error: {' '.join(text.split())}", err=True)
    return status


def version_option() -> click.Option:
    """Return --version, which looks the version up only when asked."""

    def show(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
        if wanted and not ctx.resilient_parsing:
            from importlib.metadata import version

            click.echo(f"fedmf {version('fedmf')}")
            ctx.exit()

    return click.Option(
        ["--version"], is_flag=True, is_eager=True, expose_value=False, callback=show,
        help="Show the version and exit.",
    )  # fmt: skip
