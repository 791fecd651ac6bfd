"""Server and sites that are killed: the run ends as if nothing had been, bit for bit."""

import numpy as np
import pytest

from fedmf.errors import FileFormatError
from fedmf.network import checkpoints, states, twice
from network.real import samples
from network.rig import Rig, job

JOBS = {
    "fedmgs": job({"name": "fedmgs", "q1": 3, "q2": 5, "participants": 2}),
    "fedmavg": job({"name": "fedmavg", "q1": 3, "q2": 4, "participants": 2}),
    "sncp": job({"name": "fedmgs", "q1": 3, "q2": 5}, cluster=True, init="linkage"),
}


class KilledError(BaseException):
    """Stands for SIGKILL: nothing catches it."""


def finished(folder, wanted):
    """Go on until the run ends; return it and the sites' H."""
    with Rig(folder, samples()).at_work() as rig:
        run, runtime = rig.play(wanted)
        return run, [private.H for private in rig.private(runtime)]


def same(found, wanted):
    np.testing.assert_array_equal(found[0].W, wanted[0].W)
    for own, other in zip(found[1], wanted[1], strict=True):
        np.testing.assert_array_equal(own, other)
    for name in ("objective", "change", "rho", "uplink_bytes"):
        np.testing.assert_array_equal(found[0].history[name], wanted[0].history[name])
    assert found[0].ledger.frame().equals(wanted[0].ledger.frame())


@pytest.fixture(scope="module", params=JOBS)
def undisturbed(request, tmp_path_factory):
    wanted = JOBS[request.param]
    return wanted, finished(tmp_path_factory.mktemp("undisturbed"), wanted)


def killed_at(folder, wanted, monkeypatch, place, name, count):
    """Play until a function is called for the so-manieth time; both ends then begin anew."""
    calls = iter(range(count))
    real = getattr(place, name)

    def deadly(*args, **kwargs):
        if next(calls, None) is None:
            raise KilledError
        return real(*args, **kwargs)

    with monkeypatch.context() as patch, Rig(folder, samples()).at_work() as rig:
        patch.setattr(place, name, deadly)
        with pytest.raises(KilledError):
            rig.play(wanted)


@pytest.mark.parametrize("count", [0, 1, 4])
@pytest.mark.parametrize(
    ("place", "name"),
    [
        (checkpoints, "pack"),  # the round's line is there, its checkpoint is not
        (checkpoints.Checkpoints, "_add"),  # at times one journal has the line, its copy has not
        (checkpoints.Checkpoints, "save"),  # the sites are ahead of the server
        (checkpoints, "_plain"),
    ],
)
def test_a_server_that_is_killed(count, place, name, undisturbed, tmp_path, monkeypatch):
    wanted, plain = undisturbed
    killed_at(tmp_path, wanted, monkeypatch, place, name, count)
    same(finished(tmp_path, wanted), plain)


def test_a_server_killed_again_and_again(undisturbed, tmp_path, monkeypatch):
    wanted, plain = undisturbed
    for count in (2, 1, 3, 0):
        killed_at(tmp_path, wanted, monkeypatch, checkpoints.Checkpoints, "save", count)
    same(finished(tmp_path, wanted), plain)


def test_sites_that_forget_everything_but_their_folder(undisturbed, tmp_path):
    wanted, plain = undisturbed
    with Rig(tmp_path, samples()).at_work() as rig:

        def forget(row):
            rig.sites[:] = [rig.site(name) for name in rig.names]

        run, runtime = rig.play(wanted, show=forget)
        same((run, [private.H for private in rig.private(runtime)]), plain)


def test_a_request_that_comes_twice_gets_the_same_answer(tmp_path):
    asked = {}
    with Rig(tmp_path, samples()).at_work() as rig:
        first = rig.sites[0]
        answer = first.answer

        def keep(frame):
            asked[frame.header["seq"]] = (frame, answer(frame))
            return asked[frame.header["seq"]][1]

        first.answer = keep
        rig.play(JOBS["fedmavg"])
    frame, before = asked[max(asked)]
    assert rig.site("north").answer(frame) == before


def test_a_full_disk_at_a_site_is_waited_for(undisturbed, tmp_path, monkeypatch):
    wanted, plain = undisturbed
    real, full = twice.write, iter([True] * 2)
    calls = iter(range(8))

    def write(path, data):
        if path.suffix == states.ENDING and next(calls, None) is None and next(full, False):
            raise OSError(28, "No space left on device")
        real(path, data)

    monkeypatch.setattr(states.twice, "write", write)
    with Rig(tmp_path, samples()).at_work() as rig:
        run, runtime = rig.play(wanted)
        same((run, [private.H for private in rig.private(runtime)]), plain)
    assert any("cannot answer: No space left on device" in line for line in rig.said)


def spoil(path):
    """Turn a bit over in the middle of a file."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def stopped_after(number, folder, wanted):
    """Play so many rounds, then lose both ends."""

    class EnoughError(Exception):
        pass

    def stop(row):
        if row["round"] == number:
            raise EnoughError

    with pytest.raises(EnoughError), Rig(folder, samples()).at_work() as rig:
        rig.play(wanted, show=stop)


@pytest.mark.parametrize("place", ["main", "copy"])
def test_a_damaged_file_is_put_right_from_the_other(place, tmp_path, undisturbed):
    wanted, plain = undisturbed
    stopped_after(3, tmp_path, wanted)
    folders = [tmp_path / "run", *(tmp_path / "north" / "state").iterdir()]
    for folder in folders:
        for path in list((folder if place == "main" else folder / "copy").glob("*.*")):
            if path.suffix in (".state", ".jsonl"):
                spoil(path)
    same(finished(tmp_path, wanted), plain)


def test_a_state_damaged_twice_is_not_used_and_the_run_waits(tmp_path, monkeypatch):
    monkeypatch.setattr("fedmf.network.runtime.TELL_EVERY", 0.1)
    stopped_after(3, tmp_path, JOBS["sncp"])
    for path in (tmp_path / "north" / "state").rglob("*.state"):
        spoil(path)
    with Rig(tmp_path, samples()).at_work() as rig:

        def gave_up():
            return any(
                "waiting for north (its stored state is missing" in line for line in rig.said
            )

        run, _ = rig.play(JOBS["sncp"], stopped=gave_up)
    assert len(run.history) == 3
    assert any("north cannot answer: its stored state is missing or damaged" in line
               for line in rig.said)  # fmt: skip


@pytest.mark.parametrize("name", [checkpoints.CHECKPOINT, checkpoints.ROUNDS])
def test_a_checkpoint_damaged_twice_is_refused(name, tmp_path):
    stopped_after(3, tmp_path, JOBS["fedmgs"])
    for path in (tmp_path / "run").rglob(name):
        spoil(path)
    with pytest.raises(FileFormatError, match=f"{name} is damaged, and so is its copy"):
        checkpoints.Checkpoints(tmp_path / "run").load()


def test_old_states_are_dropped(tmp_path):
    with Rig(tmp_path, samples()).at_work() as rig:
        rig.play(JOBS["fedmgs"])
    for name in rig.names:
        assert len(list((tmp_path / name / "state").glob("*/*.state"))) <= 3


def test_what_a_kill_left_behind_a_line_of_the_journal_is_cut_off(tmp_path, undisturbed):
    wanted, plain = undisturbed
    stopped_after(3, tmp_path, wanted)
    with (tmp_path / "run" / checkpoints.ROUNDS).open("ab") as file:
        file.write(b'{"row": {"round": 4, "obj')
    same(finished(tmp_path, wanted), plain)
