"""Run a federation's server until it is stopped."""

from __future__ import annotations

from pathlib import Path
from threading import Event

import click

from fedmf.cli._daemon import child_option


@click.command()
@click.argument("kit", metavar="KIT")
@child_option
def command(kit: str, child: bool) -> int:
    """Run the server of a federation: sites call it, and the coordinator's jobs come in.

    It runs until it is stopped (Ctrl-C or SIGTERM) and starts again by itself after a crash; a run
    that was going on goes on from its last complete round. Its log is KIT/server.log.

    \b
    Example
      fedmf server kits/server
    """
    from fedmf.cli._daemon import daemon
    from fedmf.network.kits import Kit

    own = Kit.read(kit, "server")

    def work(stop: Event) -> bool:
        from fedmf.network.handshake import heard
        from fedmf.network.server import Server

        with heard():
            server = Server(own, stop.set)
            server.start()
            stop.wait()
            server.close()
        return not server.is_broken

    return daemon("server", Path(own.folder), child, work)
