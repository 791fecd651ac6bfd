"""Why the two ends do not come together, in words: gRPC tells it in a way that few can read.

`refusal` is for a caller: it shakes hands once more, by itself, and reads what the server says of
its certificate. `heard` is for the server: gRPC writes of a caller whom it turned away to the
process's error stream, and nowhere else; here these lines become lines of the log.
"""

from __future__ import annotations

import logging
import os
import re
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Thread
from time import monotonic

from fedmf.network.kits import Kit

SECONDS = 3.0  # for the handshake
CLOSED = "the server refuses this certificate, or is going down: its log says which"
TELL_EVERY = 60.0  # seconds before the same is told of a caller again
TURNED_AWAY = re.compile(r"Handshake failed with (?:fatal )?error (.*)")
NOISE = re.compile(r"SSL_ERROR_SSL: |error:[0-9a-f]+:|OPENSSL_internal:")
log = logging.getLogger("fedmf.network")


def refusal(kit: Kit) -> str | None:
    """Return who refuses whose certificate and why; None where nobody does."""
    context = ssl.create_default_context(cafile=kit.folder / "ca.pem")
    context.load_cert_chain(kit.folder / "certificate.pem", kit.folder / "key.pem")
    context.set_alpn_protocols(["h2"])
    met = False
    try:
        with (
            socket.create_connection((kit.host, kit.port), SECONDS) as plain,
            context.wrap_socket(plain, server_hostname=kit.host) as both,
        ):
            met = True  # the server's certificate is good; a server that takes ours speaks first
            return None if both.recv(1) else CLOSED
    except ssl.SSLCertVerificationError as error:
        return f"the server's certificate is refused here: {error.verify_message}"
    except TimeoutError:
        return None
    except OSError as error:
        if met:
            return CLOSED
        reason = getattr(error, "reason", None)  # of TLS; without, there is no connection at all
        return f"no secure connection: {reason.lower().replace('_', ' ')}" if reason else None


@contextmanager
def heard() -> Iterator[None]:
    """Read this process's error stream meanwhile; pass on all but what gRPC says of callers."""
    read, write = os.pipe()
    shown = os.dup(2)
    os.dup2(write, 2)
    os.close(write)
    reader = Thread(target=_pass_on, args=(read, shown), daemon=True)
    reader.start()
    try:
        yield
    finally:
        os.dup2(shown, 2)  # what comes now, a traceback perhaps, goes its own way
        reader.join(1.0)
        os.close(shown)


def _pass_on(read: int, shown: int) -> None:
    told: dict[str, float] = {}
    with os.fdopen(read, "rb") as stream:
        for line in stream:
            found = TURNED_AWAY.search(line.decode(errors="replace"))
            if found is None:
                with suppress(OSError):  # nobody reads it any more
                    os.write(shown, line)
                continue
            said = " ".join(NOISE.sub("", found[1]).replace(":", ": ").split())
            if monotonic() - told.get(said, -TELL_EVERY) >= TELL_EVERY:
                told[said] = monotonic()
                log.warning("a caller was turned away, its certificate is no good here: %s", said)
