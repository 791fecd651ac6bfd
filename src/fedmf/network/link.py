"""The way: gRPC with mutual TLS. Bytes go in and out; whose they are, the certificate says.

Every call says who makes it, with which version, and by which process: a kit that was copied to a
second machine shows, since two processes call with one certificate.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from typing import Any, NamedTuple

import grpc

from fedmf.errors import FedMFError, RefusedError
from fedmf.network.frames import Frame, pack, unpack
from fedmf.network.handshake import refusal
from fedmf.network.kits import Kit

SERVICE = "fedmf.Federation"
PROTOCOL = 1
MOST_BYTES = 2**30  # of one message
PING = 20_000  # ms between two signs of life on a quiet connection
REFUSALS = (
    grpc.StatusCode.PERMISSION_DENIED,
    grpc.StatusCode.FAILED_PRECONDITION,
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.UNIMPLEMENTED,
)
LIMITS = [
    ("grpc.max_receive_message_length", MOST_BYTES),
    ("grpc.max_send_message_length", MOST_BYTES),
    ("grpc.keepalive_time_ms", PING),
    ("grpc.keepalive_permit_without_calls", 1),
]
RECONNECT = [("grpc.initial_reconnect_backoff_ms", 100), ("grpc.max_reconnect_backoff_ms", 2000)]
LISTEN = [("grpc.so_reuseport", 0), ("grpc.http2.min_ping_interval_without_data_ms", PING // 2)]

Handler = Callable[["Peer", Frame], Frame | bytes]
log = logging.getLogger("fedmf.network")


class Peer(NamedTuple):
    """Who is at the other end, by the certificate."""

    role: str
    name: str


class UnreachableError(FedMFError, ConnectionError):
    """The server cannot be reached now; later perhaps."""


class Caller:
    """A client's end: calls the server's methods."""

    def __init__(self, kit: Kit) -> None:
        credentials = grpc.ssl_channel_credentials(*kit.secrets)
        self.address, self._kit, self._is_closed = f"{kit.host}:{kit.port}", kit, False
        self._about = {"version": version("fedmf"), "protocol": PROTOCOL, "name": kit.name,
                       "process": secrets.token_hex(8)}  # fmt: skip
        self._channel = grpc.secure_channel(self.address, credentials, LIMITS + RECONNECT)

    def __call__(self, method: str, frame: Frame, timeout: float = 30.0) -> Frame:
        """Return the server's answer."""
        header = {**self._about, **frame.header}
        call = self._channel.unary_unary(f"/{SERVICE}/{method}")
        try:
            return unpack(call(pack(Frame(header, frame.body)), timeout=timeout))
        except grpc.RpcError as error:
            raise self._told(error) from None
        except ValueError:  # gRPC's word for a channel that is closed
            if not self._is_closed:
                raise
            raise UnreachableError(f"the connection to {self.address} is closed") from None

    def _told(self, error: Any) -> FedMFError:
        """Return the error in one line."""
        said = " ".join(str(error.details()).split())
        if error.code() in REFUSALS:
            return RefusedError(said)
        reason = refusal(self._kit) if error.code() is grpc.StatusCode.UNAVAILABLE else None
        return UnreachableError(f"{self.address} cannot be reached: {reason or said}")

    def close(self) -> None:
        """Hang up."""
        self._is_closed = True
        self._channel.close()


def serve(kit: Kit, handlers: Mapping[str, tuple[str, Handler]], workers: int) -> Any:
    """Start a server with these methods, each for peers of one role; return it."""
    trusted, key, own = kit.secrets
    credentials = grpc.ssl_server_credentials(
        [(key, own)], root_certificates=trusted, require_client_auth=True
    )
    pool = ThreadPoolExecutor(workers, thread_name_prefix="call")
    server = grpc.server(pool, options=LIMITS + LISTEN)
    known = {"site": kit.sites, "user": kit.users}
    calls = {
        name: grpc.unary_unary_rpc_method_handler(_guarded(name, role, known[role], handler))
        for name, (role, handler) in handlers.items()
    }
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, calls),))
    address = f"{kit.listen}:{kit.port}"
    try:
        server.add_secure_port(address, credentials)
    except RuntimeError as error:
        raise RefusedError(f"cannot listen on {address}: {error}") from None
    server.start()
    return server


def _guarded(
    method: str, role: str, known: tuple[str, ...], handler: Handler
) -> Callable[[bytes, Any], bytes]:
    """Return the handler behind the questions who is there and with which version."""

    def answer(data: bytes, context: Any) -> bytes:
        peer = _peer(context)
        try:
            if peer.role != role or peer.name not in known:
                raise NotAllowedError(f"{peer.role} {peer.name!r} may not call {method!r}")
            frame = unpack(data)
            _same_name(peer, frame.header)
            _same_version(frame.header)
            found = handler(peer, frame)
            return found if isinstance(found, bytes) else pack(found)
        except FedMFError as error:
            who = f"{peer.role} {peer.name} at {context.peer()}"
            log.warning("%s, %s: refused: %s", who, method, error)
            denied = isinstance(error, NotAllowedError)
            code = grpc.StatusCode.PERMISSION_DENIED if denied else REFUSALS[1]
            context.abort(code, str(error))
            raise  # not reached: abort raises

    return answer


class NotAllowedError(RefusedError):
    """The certificate is not one for this."""


def _peer(context: Any) -> Peer:
    """Return whom the certificate names; TLS has checked it."""
    names = context.auth_context().get("x509_common_name", [b""])
    role, _, name = names[0].decode(errors="replace").partition(":")
    return Peer(role, name)


def _same_name(peer: Peer, header: dict[str, Any]) -> None:
    if header.get("name") != peer.name:
        said = str(header.get("name"))[:80]
        raise NotAllowedError(
            f"the certificate is that of {peer.name!r}, the caller says it is {said!r}"
        )


def _same_version(header: dict[str, Any]) -> None:
    own = version("fedmf")
    if header.get("version") != own or header.get("protocol") != PROTOCOL:
        raise RefusedError(
            f"the server has fedmf {own} (protocol {PROTOCOL}), this is fedmf "
            f"{header.get('version')} (protocol {header.get('protocol')}): install the same "
            "version everywhere"
        )
