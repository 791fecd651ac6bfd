"""The page, served on this machine's loopback and to those who know its address.

The address holds a key, made anew at each start, so that other users of the machine do not see it.
A request is read only: it can change nothing, here or at the server. It must name this machine in
its Host header: a name that was made to point here (DNS rebinding) is refused. The browser is told
to load nothing from elsewhere and to let nobody else read or frame the page.
"""

from __future__ import annotations

import re
import secrets
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qs, urlsplit

from fedmf.errors import ParameterError
from fedmf.monitor.page import page
from fedmf.monitor.scene import Watcher

ADDRESS = "127.0.0.1"
NAMES = re.compile(r"(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?", re.ASCII)
AGE = 0.5  # seconds for which what was seen is shown again, however many look
HTML = "text/html; charset=utf-8"
TEXT = "text/plain; charset=utf-8"
FILES = {"page.css": "text/css; charset=utf-8", "page.js": "text/javascript; charset=utf-8"}
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
        "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}


class Web(ThreadingHTTPServer):
    """Serves the page."""

    daemon_threads = True

    def __init__(self, watcher: Watcher, port: int) -> None:
        self.watcher, self.key = watcher, secrets.token_urlsafe(16)
        try:
            super().__init__((ADDRESS, port), _Request)
        except OSError as error:
            raise ParameterError(f"port {port}: {error.strerror}; name another --port") from None

    @property
    def address(self) -> str:
        """Where the page is."""
        return f"http://{ADDRESS}:{self.server_port}/{self.key}/"

    def found(self, target: str) -> tuple[str, bytes] | None:
        """Return what lies at a path, with its kind."""
        parts = urlsplit(target)
        _, _, rest = parts.path.partition("/")
        key, slash, name = rest.partition("/")
        if not slash or not secrets.compare_digest(key.encode(), self.key.encode()):
            return None
        if name in FILES:
            return FILES[name], files("fedmf.monitor").joinpath(name).read_bytes()
        if name:
            return None
        run = parse_qs(parts.query).get("run", [None])[0]
        return HTML, page(self.watcher.look(run, AGE)).encode()


class _Request(BaseHTTPRequestHandler):
    """One request."""

    server: Web
    server_version, sys_version = "fedmf", ""
    timeout = 10.0  # seconds for a client to say what it wants

    def do_GET(self) -> None:
        """Answer with what is there."""
        if not self._is_for_us():
            self._send(HTTPStatus.FORBIDDEN, TEXT, b"this is not the name of this machine\n")
            return
        found = self.server.found(self.path)
        if found is None:
            said = b"there is nothing here: the address that `fedmf monitor` printed has a key\n"
            self._send(HTTPStatus.NOT_FOUND, TEXT, said)
            return
        self._send(HTTPStatus.OK, *found)

    def do_POST(self) -> None:
        """Refuse: nothing can be changed here."""
        self._send(HTTPStatus.METHOD_NOT_ALLOWED, TEXT, b"this page can only be read\n")

    do_HEAD = do_GET
    do_PUT = do_DELETE = do_PATCH = do_OPTIONS = do_POST

    def _is_for_us(self) -> bool:
        """Whether the request names this machine, and no other."""
        hosts = self.headers.get_all("Host", [])
        return len(hosts) == 1 and NAMES.fullmatch(hosts[0]) is not None

    def _send(self, status: HTTPStatus, kind: str, body: bytes) -> None:
        self.send_response(status)
        for name, value in {**HEADERS, "Content-Type": kind}.items():
            self.send_header(name, value)
        if status == HTTPStatus.METHOD_NOT_ALLOWED:
            self.send_header("Allow", "GET, HEAD")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing: the address has the key in it."""
