"""Run a site of a federation on its own data until it is stopped."""

from __future__ import annotations

from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

import click

from fedmf.cli._daemon import child_option

if TYPE_CHECKING:
    from fedmf.network.site import Data


@click.command()
@click.argument("kit", metavar="KIT")
@click.option("--data", metavar="FILE", required=True,
              help="This site's samples, one in each row.")  # fmt: skip
@click.option("--samples", metavar="COLUMN", help="The samples' names, for clusters.csv.")
@click.option("--leave-out", metavar="COLUMN", help="A column that is no feature: classes, say.")
@click.option("--device", metavar="NAME", help="Where it computes: cuda, cuda:1, ... (torch).")
@child_option
def command(
    kit: str,
    data: str,
    samples: str | None,
    leave_out: str | None,
    device: str | None,
    child: bool,
) -> int:
    """Take part in a federation with this site's data, which never leave this process.

    FILE is .npy, .npz, .csv, .parquet, .h5ad, ... as for `fedmf fit`. The site calls the server and
    does what is asked, within KIT/policy.toml. It runs until it is stopped (Ctrl-C or SIGTERM) and
    starts again by itself after a crash. Its log is KIT/site.log; what left it is in
    KIT/egress.jsonl; its own H is in KIT/results at the end of a run.

    \b
    Example
      fedmf site kits/north --data north.csv
    """
    from fedmf.cli._daemon import daemon
    from fedmf.network.kits import Kit

    own = Kit.read(kit, "site")

    def work(stop: Event) -> bool:
        from threading import Thread

        from fedmf.devices import find
        from fedmf.network.link import Caller
        from fedmf.network.site import Site
        from fedmf.network.told import saying_why

        caller = Caller(own)

        def hang_up() -> None:
            stop.wait()
            caller.close()  # it may be waiting for work

        with saying_why(caller):
            there = None if device is None else find(device)
            site = Site(own, _read(data, samples, leave_out), there)
            Thread(target=hang_up, daemon=True).start()
            site.run(caller, stop)
        return True

    return daemon("site", Path(own.folder), child, work)


def _read(path: str, samples: str | None, leave_out: str | None) -> Data:
    """Return the site's data, checked."""
    from fedmf.border import as_rows
    from fedmf.cli._data import read
    from fedmf.network.site import Data

    table = read({"source": path, "samples": samples, "labels": leave_out})
    return Data(as_rows(table.X, path), table.features, table.samples)
