"""A proxy that counts: what really passes between sites and server, TLS and all, in bytes."""

from __future__ import annotations

import socket
from threading import Lock, Thread


class Proxy:
    """Listens on one port of this machine and hands every connection on to another.

    Attributes
    ----------
    up, down : bytes that passed towards the server and back.
    """

    def __init__(self, port: int, beyond: int) -> None:
        self.up, self.down, self._beyond, self._lock = 0, 0, beyond, Lock()
        self._door = socket.create_server(("127.0.0.1", port))
        Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._door.accept()
            except OSError:
                return  # the door was closed
            try:
                far = socket.create_connection(("127.0.0.1", self._beyond))
            except OSError:
                near.close()  # the server is not there yet
                continue
            Thread(target=self._pass_on, args=(near, far, True), daemon=True).start()
            Thread(target=self._pass_on, args=(far, near, False), daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket, upwards: bool) -> None:
        with source, target:
            try:
                while data := source.recv(2**18):
                    target.sendall(data)
                    with self._lock:
                        self.up += len(data) * upwards
                        self.down += len(data) * (not upwards)
            except OSError:
                return  # one of the two hung up

    def close(self) -> None:
        """Let nobody in any more."""
        self._door.close()
