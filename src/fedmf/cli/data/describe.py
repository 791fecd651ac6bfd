"""Describe data and the federation that they make."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from fedmf.cli._options import Sectioned, data_options, given, setting


@click.command(cls=Sectioned)
@click.argument("source", metavar="DATA")
@data_options
@setting(
    "output",
    "--rank",
    metavar="K",
    type=int,
    help="K of the start at which gradients are compared  [default: classes, or 20]",
)
@setting("output", "--seed", type=int, help="Seed of everything random  [default: 0]")
@setting("output", "--picture", metavar="FILE", help="Also draw it: .svg, .png or .pdf")
@click.pass_context  # fmt: skip
def command(ctx: click.Context, /, source: str, **options: Any) -> None:
    """Describe a federation: sizes, classes, and how far the sites' gradients are apart.

    \b
    Examples
      fedmf data describe samples.csv --sites hospital --labels diagnosis
      fedmf data describe mnist --partition digits-two --picture sites.svg
    """
    from fedmf import datasets
    from fedmf.cli._data import spread
    from fedmf.cli._show import pairs, working
    from fedmf.partitions import check_picture, describe
    from fedmf.plugins import with_options

    if options["picture"] is not None:
        check_picture(Path(options["picture"]))
    name, _ = with_options(source, datasets.names())
    seed = 0 if options["seed"] is None else options["seed"]
    with working("reading the data"):
        sites = spread({"source": source, **given(ctx, "data")["data"]}, seed)
    with working("comparing the sites"):
        labels: Any = sites.table.labels
        found = describe(sites.X, sites.places, labels, options["rank"], seed)
    if name in datasets.names():
        card = datasets.describe(name)
        facts = ("title", "source", "licence", "notes")
        pairs(name, [(fact, getattr(card, fact)) for fact in facts if getattr(card, fact)])
    click.echo(str(found))
    if options["picture"] is not None:
        click.echo(f"picture    {found.picture(Path(options['picture']).expanduser())}")
