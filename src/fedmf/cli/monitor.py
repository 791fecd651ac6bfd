"""Show a federation on a page of this machine."""

from __future__ import annotations

import click


@click.command()
@click.argument("kit", metavar="KIT")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8470,
    show_default=True,
    help="Where the page is served, on this machine alone; 0: any that is free.",
)
def command(kit: str, port: int) -> None:
    """Serve a page that shows a federation and its runs, as the coordinator whose KIT this is.

    It can only be read, brings itself up to date, and needs nothing but this machine. Open the
    address that is printed: the key in it keeps other users of this machine out. It runs until it
    is stopped (Ctrl-C or SIGTERM).

    \b
    Example
      fedmf monitor kits/coordinator
    """
    from threading import Thread

    from fedmf.monitor.scene import Watcher
    from fedmf.monitor.web import Web
    from fedmf.network.client import Federation
    from fedmf.network.supervisor import stopping

    stop = stopping()
    with Web(Watcher(Federation(kit)), port) as web:
        click.echo(f"{web.address}\nCtrl-C ends it")
        Thread(target=web.serve_forever, daemon=True).start()
        stop.wait()
        web.shutdown()
