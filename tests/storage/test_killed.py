"""A kill at any moment leaves the run before or the run after, never half of each."""

import os
from pkgutil import resolve_name

import pytest

import cases
import fedmf
from fedmf.errors import MissingDataError

LAST = 5


class Killed(BaseException):
    """The power went off."""


@pytest.mark.parametrize("name", ["fedmgs m=2", "fedmavg pcc exact", "fedpalm m=3"])
@pytest.mark.parametrize("moment", ["fedmf.files.os.fsync", "fedmf.files.Path.replace"])
@pytest.mark.parametrize("place", range(5))
def test_killed_at_any_file_over_an_older_save(place, moment, name, folder, sites, monkeypatch):
    """Each file is complete under a temporary name, and then the power goes."""
    algorithm = cases.RUNS[name]
    whole = cases.play(sites, algorithm, LAST)
    cases.play(sites, algorithm, 2).save(folder)
    left, real = iter(range(place, -1, -1)), resolve_name(moment)

    def die(*args):
        if next(left) == 0:
            raise Killed
        return real(*args)

    monkeypatch.setattr(moment, die)
    newer = cases.play(sites, algorithm, 4)
    with pytest.raises(Killed):
        newer.save(folder)
    monkeypatch.undo()
    found = fedmf.load(folder)
    kept = 2 if place == 0 else 4  # the model is the first file, and the whole run
    assert found.position.round == len(found.rows) == kept
    assert found.ledger.frame()["round"].max() == kept
    cases.same(fedmf.resume(found, sites, rounds=LAST, tol=0), whole)


@pytest.mark.parametrize("place", range(5))
def test_killed_while_another_run_is_saved_over_one(place, folder, sites, monkeypatch):
    """A new run into an old run's folder: what loads is one of the two, never half of each."""
    old = cases.play(sites, fedmf.FedMGS(q1=2), 4)
    old.save(folder)
    left, real = iter(range(place, -1, -1)), resolve_name("fedmf.files.os.fsync")

    def die(*args):
        if next(left) == 0:
            raise Killed
        return real(*args)

    monkeypatch.setattr("fedmf.files.os.fsync", die)
    new = cases.play(sites, fedmf.FedMGS(q1=3), 3)
    with pytest.raises(Killed):
        new.save(folder)
    monkeypatch.undo()
    found, wanted = fedmf.load(folder), old if place == 0 else new
    assert found.algorithm == wanted.algorithm
    cases.same(found, wanted)


def test_half_a_temporary_file_does_no_harm(folder, sites):
    run = cases.play(sites, fedmf.FedMGS(), 2)
    run.save(folder)
    half = (folder / "model.safetensors").read_bytes()[:100]
    for name in (".123-456-model.safetensors", f".{os.getpid()}-456-page.html", ".hidden"):
        (folder / name).write_bytes(half)
    cases.same(fedmf.load(folder), run)
    run.save(folder)  # takes away what another process left, and nothing else
    kept = {path.name for path in folder.iterdir() if path.name.startswith(".")}
    assert kept == {f".{os.getpid()}-456-page.html", ".hidden"}


def test_killed_at_the_first_save_there_is_no_run(folder, sites, monkeypatch):
    def fsync(number):
        raise Killed

    monkeypatch.setattr("fedmf.files.os.fsync", fsync)
    with pytest.raises(Killed):
        cases.play(sites, fedmf.FedMGS(), 2).save(folder)
    assert not list(folder.iterdir())
    with pytest.raises(MissingDataError, match=r"is missing: is .* the folder of a run"):
        fedmf.load(folder)


def test_an_error_in_the_middle_of_a_run_leaves_its_checkpoint(folder, sites):
    def fail(position):
        if position.round == 3:
            raise ZeroDivisionError

    options = {"checkpoint": folder, "checkpoint_seconds": 0.0}
    with pytest.raises(ZeroDivisionError):
        cases.play(sites, fedmf.FedMGS(participants=2), LAST, callback=fail, **options)
    found = fedmf.load(folder)
    assert found.position.round == 3
    assert found.status == "saved in round 3 while it was running; resume goes on"
    whole = cases.play(sites, fedmf.FedMGS(participants=2), LAST)
    cases.same(fedmf.resume(found, sites, rounds=LAST, tol=0), whole)


def test_a_checkpoint_is_written_at_the_end(folder, sites):
    run = cases.play(sites, fedmf.FedMGS(), 2, checkpoint=folder)
    cases.same(fedmf.load(folder), run)
    assert fedmf.load(folder).status == run.status == "stopped at the limit of 2 rounds"
