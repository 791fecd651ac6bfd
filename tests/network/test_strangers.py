"""Callers whom the server should not serve, and servers whom no site should trust.

Each is refused with a line at both ends.
"""

import logging
import shutil
from dataclasses import replace

import grpc
import pytest

import fedmf
from fedmf.errors import FileFormatError, MissingDataError, RefusedError
from fedmf.network.frames import Frame, pack
from fedmf.network.handshake import heard
from fedmf.network.kits import Authority, Kit, Plan, provision
from fedmf.network.link import LIMITS, SERVICE, Caller, UnreachableError, serve
from network.real import free_port, until
from network.wired import call, listening


@pytest.fixture(scope="module")
def wired(tmp_path_factory):
    """A server that waits for calls, with a site in its kits that it was not told of."""
    with listening(tmp_path_factory.mktemp("wired")) as found:
        yield found


@pytest.fixture(scope="module")
def others(wired, tmp_path_factory):
    """The kits of another federation with the same names, which dials this server."""
    folder = tmp_path_factory.mktemp("others") / "kits"
    port = wired.kit("north").port
    provision(Plan("other", ("north", "east"), "localhost", port=port), folder)
    return folder


def mixed(folder, own, *, taken, of):
    """Return a kit in which some files are another's, past the check of whoever starts it."""
    shutil.copytree(own.folder, folder)
    for name in taken:
        shutil.copy(of / name, folder / name)
    return replace(own, folder=folder)


def turned_away(caplog):
    return [line for line in caplog.messages if line.startswith("a caller was turned away")]


def test_who_belongs_is_served(wired):
    assert call(wired.kit("north")).header["kind"] == "nothing"
    assert set(wired.client.status()["sites"]) == {"north", "east", "south"}


def test_a_certificate_of_another_authority(wired, others, tmp_path, caplog):
    own = wired.kit("north")
    files = ("certificate.pem", "key.pem")
    stranger = mixed(tmp_path / "kit", own, taken=files, of=others / "north")
    with heard():
        with pytest.raises(UnreachableError, match="the server refuses this certificate"):
            call(stranger)
        until(lambda: turned_away(caplog))


def test_a_certificate_that_is_no_longer_valid(wired, tmp_path, caplog, monkeypatch):
    authority = Authority("test", 10)
    shutil.copytree(wired.kits, tmp_path / "kits")
    server = replace(wired.kit("server", "server"), folder=tmp_path / "server", port=free_port())
    shutil.copytree(wired.kits / "server", server.folder)
    certificate, key = authority.issue("server:server", ["localhost"], 10)
    expired, own_key = authority.issue("site:north", [], -0.5)
    site = replace(wired.kit("north"), folder=tmp_path / "kits" / "north", port=server.port)
    for folder, pair in ((server.folder, (certificate, key)), (site.folder, (expired, own_key))):
        (folder / "ca.pem").write_bytes(authority.public)
        (folder / "certificate.pem").write_bytes(pair[0])
        (folder / "key.pem").write_bytes(pair[1])
    with pytest.raises(RefusedError, match=r"certificate\.pem was valid until .*: new kits"):
        Kit.read(site.folder, "site")
    running = serve(server, {"poll": ("site", lambda *_: Frame({}))}, workers=2)
    try:
        with heard():
            with pytest.raises(UnreachableError, match="refuses this certificate"):
                call(site)
            until(lambda: any("expired" in line for line in turned_away(caplog)))
    finally:
        running.stop(0).wait()


def test_no_certificate_at_all(wired, caplog):
    kit = wired.kit("north")
    trusted = grpc.ssl_channel_credentials((kit.folder / "ca.pem").read_bytes())
    address = f"{kit.host}:{kit.port}"
    for open_channel in (
        lambda: grpc.secure_channel(address, trusted, LIMITS),
        lambda: grpc.insecure_channel(address, LIMITS),
    ):
        caplog.clear()
        with heard(), open_channel() as channel:
            method = channel.unary_unary(f"/{SERVICE}/poll")
            with pytest.raises(grpc.RpcError) as refused:
                method(pack(Frame({"name": "north"})), timeout=5)
            assert refused.value.code() is grpc.StatusCode.UNAVAILABLE
            until(lambda: turned_away(caplog))


def test_a_server_of_another_authority_is_not_trusted(wired, others):
    with pytest.raises(UnreachableError, match="the server's certificate is refused here"):
        call(Kit.read(others / "north", "site"))


def test_a_site_that_plays_the_server_is_not_trusted(wired, tmp_path):
    """Its certificate is of the right authority, and not a server's."""
    port = free_port()
    false = replace(wired.kit("east"), port=port, listen="127.0.0.1", sites=("north",))
    running = serve(false, {"poll": ("site", lambda *_: Frame({"kind": "nothing"}))}, workers=2)
    try:
        with pytest.raises(UnreachableError, match="the server's certificate is refused here"):
            call(replace(wired.kit("north"), port=port))
    finally:
        running.stop(0).wait()


@pytest.mark.parametrize(
    ("name", "role", "method"),
    [
        *(("north", "site", method) for method in
          ("submit", "status", "stop", "log", "result", "history")),
        *(("coordinator", "user", method) for method in ("poll", "answer", "leave")),
        ("server", "server", "poll"),
    ],
)  # fmt: skip
def test_nobody_calls_what_is_for_others(name, role, method, wired, caplog, tmp_path):
    kit = wired.kit(name, role)
    if role == "server":  # its certificate is not one for callers: TLS says so
        with pytest.raises(UnreachableError, match="refuses this certificate"):
            call(kit, method)
        return
    with pytest.raises(RefusedError, match="may not call"):
        call(kit, method)
    assert f"{role} '{name}' may not call '{method}'" in caplog.text


def test_a_method_that_there_is_not(wired):
    with pytest.raises(RefusedError, match="Method not found"):
        call(wired.kit("north"), "execute")


def test_a_site_that_the_server_was_not_told_of(wired, tmp_path, caplog):
    """A kit that the authority made, but which the server's kit does not name (any more)."""
    server = wired.kit("server", "server")
    port = free_port()
    handlers = {"poll": ("site", lambda *_: Frame({}))}
    running = serve(replace(server, port=port, sites=("north",)), handlers, workers=2)
    try:
        call(replace(wired.kit("north"), port=port))
        with pytest.raises(RefusedError, match="site 'east' may not call 'poll'"):
            call(replace(wired.kit("east"), port=port))
    finally:
        running.stop(0).wait()
    assert "site 'east' may not call 'poll'" in caplog.text


def test_a_site_with_the_certificate_of_another(wired, tmp_path, caplog):
    files = ("certificate.pem", "key.pem")
    kit = mixed(tmp_path / "kit", wired.kit("north"), taken=files, of=wired.kits / "east")
    with pytest.raises(RefusedError, match=r"is the certificate of 'site:east', and this is"):
        Kit.read(kit.folder, "site")
    with pytest.raises(RefusedError, match="the certificate is that of 'east', the caller says"):
        call(kit)
    assert "site east at" in caplog.text
    assert "the caller says it is 'north'" in caplog.text


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("key.pem", r"key\.pem is not the key of"),
        ("ca.pem", r"was not made by the authority in"),
    ],
)
def test_a_kit_that_does_not_fit_together(name, text, wired, others, tmp_path):
    kit = mixed(tmp_path / "kit", wired.kit("north"), taken=(name,), of=others / "north")
    with pytest.raises(RefusedError, match=text):
        Kit.read(kit.folder, "site")
    (kit.folder / name).write_text("nothing of the kind")
    with pytest.raises(FileFormatError, match=f"{name}: not a "):
        Kit.read(kit.folder, "site")
    (kit.folder / name).unlink()
    with pytest.raises(MissingDataError, match=f"{name} is missing: the kit is not complete"):
        Kit.read(kit.folder, "site")


def test_a_kit_that_is_in_use_twice(wired, caplog):
    """The newer process has the place; the older one, which is not gone, is told."""
    caplog.set_level(logging.INFO)
    older, newer = Caller(wired.kit("south")), Caller(wired.kit("south"))
    try:
        for caller in (older, newer, newer):
            caller("poll", Frame({"hold": 0.01}))
        assert "a new process calls in place of the one before" in caplog.text
        with pytest.raises(RefusedError, match="its kit is in use twice"):
            older("poll", Frame({"hold": 0.01}))
        assert "its kit is in use twice" in caplog.text
    finally:
        older.close()
        newer.close()


@pytest.mark.parametrize("version", ["0.0.1", None])
def test_another_version(version, wired, caplog):
    with pytest.raises(RefusedError, match="install the same version everywhere"):
        call(wired.kit("north"), version=version)
    with pytest.raises(RefusedError, match="install the same version everywhere"):
        call(wired.kit("coordinator", "user"), "status", version=version)
    assert f"this is fedmf {version}" in caplog.text


def test_an_answer_to_what_was_not_asked(wired, caplog):
    with pytest.raises(RefusedError, match="this server knows no run 'no-such-run'"):
        call(wired.kit("north"), "answer", run="no-such-run", seq=2)
    with pytest.raises(RefusedError, match="an answer names its run and its request"):
        call(wired.kit("north"), "answer", run=["x"], seq="2")
    assert "this server knows no run" in caplog.text


def test_a_run_that_there_is_not(wired):
    for method in (wired.client.stop, wired.client.log, wired.client.result, wired.client.history):
        with pytest.raises(RefusedError, match="there is no run 'x'"):
            method("x")


@pytest.mark.parametrize(
    ("tables", "text"),
    [
        ({"algorithm": {"name": "my_module.Mine"}}, "algorithm must be one of"),
        ({"problem": {"rank": 3, "loss": "os.system"}}, "loss must be one of"),
        ({"run": {"init": "../../start.py"}}, "init must be one of"),
        ({"code": {"text": "print()"}}, "is none of the tables of a job"),
        ({"run": {"on_round": "print()"}}, "has no entry 'on_round'"),
    ],
)
def test_a_job_with_code_of_its_own(tables, text, wired):
    """From the coordinator's command, and past it."""
    tables = {"problem": {"rank": 3}, **tables}
    with pytest.raises(fedmf.FedMFError, match=text):
        wired.client.submit(tables)
    with pytest.raises(RefusedError, match=text):
        call(wired.kit("coordinator", "user"), "submit", job=tables)


@pytest.mark.parametrize(
    "data", [b"", b"\xff" * 9, b"\0\0\0\2[]", b"\0\0\0\x04" + b"nope", b"\0\0\0\1" + b"x" * 5]
)
def test_what_is_no_message(data, wired):
    kit = wired.kit("north")
    credentials = grpc.ssl_channel_credentials(*kit.secrets)
    with (
        grpc.secure_channel(f"{kit.host}:{kit.port}", credentials) as channel,
        pytest.raises(grpc.RpcError) as refused,
    ):
        channel.unary_unary(f"/{SERVICE}/poll")(data, timeout=5)
    assert refused.value.code() is grpc.StatusCode.FAILED_PRECONDITION
    assert "is not a message of this software" in refused.value.details()
