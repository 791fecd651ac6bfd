"""New certificates for all, machine by machine: while both authorities are trusted nobody waits."""

import shutil
from contextlib import contextmanager

import pytest

from fedmf.network.frames import Frame
from fedmf.network.kits import Kit, Plan, provision
from fedmf.network.link import Caller, UnreachableError, serve
from network.real import free_port

OWN = ("certificate.pem", "key.pem")


@pytest.fixture
def kits(tmp_path):
    """Old kits in use, which trust both authorities, and new ones from the same plan."""
    plan = Plan("test", ("north", "east"), "localhost", port=free_port(), hosts=("127.0.0.1",))
    old, new = tmp_path / "old", tmp_path / "new"
    for folder in (old, new):
        provision(plan, folder)
    for name in ("server", "north", "east"):
        with (old / name / "ca.pem").open("ab") as file:
            file.write((new / name / "ca.pem").read_bytes())
    return old, new


def renew(kits, name, files=OWN):
    old, new = kits
    for file in files:
        shutil.copy(new / name / file, old / name / file)


@contextmanager
def listening(kits):
    handlers = {"poll": ("site", lambda *_: Frame({"kind": "nothing"}))}
    server = serve(Kit.read(kits[0] / "server", "server"), handlers, workers=2)
    try:
        yield
    finally:
        server.stop(0).wait()


def call(kits, name):
    caller = Caller(Kit.read(kits[0] / name, "site"))
    try:
        return caller("poll", Frame({"hold": 0.01}), 10.0).header["kind"]
    finally:
        caller.close()


def test_machines_take_their_new_certificates_in_any_order(kits):
    with listening(kits):
        assert call(kits, "north") == "nothing"
        renew(kits, "north")
        assert call(kits, "north") == "nothing"
    renew(kits, "server")
    with listening(kits):
        assert call(kits, "north") == "nothing"
        assert call(kits, "east") == "nothing"


def test_old_certificates_are_worth_nothing_in_the_end(kits):
    for name in ("server", "north"):
        renew(kits, name, (*OWN, "ca.pem"))
    with listening(kits):
        assert call(kits, "north") == "nothing"
        with pytest.raises(UnreachableError):
            call(kits, "east")
