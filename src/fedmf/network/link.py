"""The way: gRPC with mutual TLS. Bytes go in and out; whose they are, the certificate says."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from typing import Any, NamedTuple

import grpc

from fedmf.errors import FedMFError, RefusedError
from fedmf.network.frames import Frame, pack, unpack
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
        trusted, key, own = map(kit.secret, ("ca.pem", "key.pem", "certificate.pem"))
        credentials = grpc.ssl_channel_credentials(trusted, key, own)
        self.address = f"{kit.host}:{kit.port}"
        self._channel = grpc.secure_channel(self.address, credentials, LIMITS + RECONNECT)

    def __call__(self, method: str, frame: Frame, timeout: float = 30.0) -> Frame:
        """Return the server's answer."""
        header = {"version": version("fedmf"), "protocol": PROTOCOL, **frame.header}
        call = self._channel.unary_unary(f"/{SERVICE}/{method}")
        try:
            return unpack(call(pack(Frame(header, frame.body)), timeout=timeout))
        except grpc.RpcError as error:
            raise _told(error, self.address) from None

    def close(self) -> None:
        """Hang up."""
        self._channel.close()


def _told(error: Any, address: str) -> FedMFError:
    """Return the error in one line."""
    said = " ".join(str(error.details()).split())
    if error.code() in REFUSALS:
        return RefusedError(said)
    return UnreachableError(f"{address} cannot be reached: {said}")


def serve(kit: Kit, handlers: Mapping[str, tuple[str, Handler]], workers: int) -> Any:
    """Start a server with these methods, each for peers of one role; return it."""
    trusted, key, own = map(kit.secret, ("ca.pem", "key.pem", "certificate.pem"))
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
                raise _NotAllowedError(f"{peer.role} {peer.name!r} may not call {method!r}")
            frame = unpack(data)
            _same_version(frame.header)
            found = handler(peer, frame)
            return found if isinstance(found, bytes) else pack(found)
        except FedMFError as error:
            log.warning("%s %s, %s: refused: %s", peer.role, peer.name, method, error)
            denied = isinstance(error, _NotAllowedError)
            code = grpc.StatusCode.PERMISSION_DENIED if denied else REFUSALS[1]
            context.abort(code, str(error))
            raise  # not reached: abort raises

    return answer


class _NotAllowedError(RefusedError):
    """The certificate is not one for this."""


def _peer(context: Any) -> Peer:
    """Return whom the certificate names; TLS has checked it."""
    names = context.auth_context().get("x509_common_name", [b""])
    role, _, name = names[0].decode(errors="replace").partition(":")
    return Peer(role, name)


def _same_version(header: dict[str, Any]) -> None:
    own = version("fedmf")
    if header.get("version") != own or header.get("protocol") != PROTOCOL:
        raise RefusedError(
            f"the server has fedmf {own} (protocol {PROTOCOL}), this is fedmf "
            f"{header.get('version')} (protocol {header.get('protocol')}): install the same "
            "version everywhere"
        )
