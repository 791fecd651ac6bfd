"""Make a self-contained page of one run or of several."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option("--out", metavar="FILE", help="The page  [default: report.html, in RUN if it is one]")
@click.option(
    "--map",
    "kind",
    type=click.Choice(["tsne", "pca"]),
    default="tsne",
    show_default=True,
    help="How samples are placed on the maps: t-SNE, or PCA, which takes no time.",
)
def command(runs: tuple[str, ...], out: str | None, kind: str) -> None:
    """Write a page of runs: convergence, communication, sites, clusters, settings, versions.

    The page is one file that needs no network. Several runs stand side by side.

    \b
    Example
      fedmf report run-mgs run-avg --out comparison.html
    """
    from fedmf.cli._folders import PAGE
    from fedmf.cli._show import working
    from fedmf.report import write_page

    folders = [Path(run).expanduser() for run in runs]
    alone = folders[0] / PAGE if len(folders) == 1 else Path(PAGE)
    with working("drawing"):
        target = write_page(folders, alone if out is None else Path(out).expanduser(), kind)
    click.echo(target)
