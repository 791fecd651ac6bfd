"""Servers, coordinators and programs that mean harm to a site: what leaves is what was declared.

Each is refused with a line at the site and one at the server.
"""

import json
import logging
import re
import shutil
import subprocess
import sys
import warnings
from hashlib import sha256
from typing import NamedTuple

import numpy as np
import pytest
from click.testing import CliRunner

import fedmf
from fedmf import hosts, wire
from fedmf.algorithms import fedmgs
from fedmf.algorithms.base import Begin, random_H
from fedmf.cli import main
from fedmf.errors import FileFormatError, RefusedError
from fedmf.network import site as site_module
from fedmf.network.egress import HEAD, NAME, Egress, verify
from fedmf.network.frames import Frame
from fedmf.network.policy import Policy
from fedmf.network.told import what_to_say
from fedmf.sites import Cohort
from network import real
from network.real import samples
from network.rig import Rig, job
from network.wired import listening

MGS = {"name": "fedmgs", "q1": 2, "q2": 2}


def lines(kit):
    """Return a site's record of what left it."""
    path = kit / NAME
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def refused(found, caplog, text):
    """Assert that a run failed for this reason, which both ends know of."""
    assert found["state"] == "failed"
    assert text in found["status"]
    real.until(lambda: any(text in entry.getMessage() for entry in list(caplog.records)
                           if entry.name == "fedmf.site"))  # fmt: skip


@pytest.fixture
def logged(caplog):
    caplog.set_level(logging.INFO, logger="fedmf")
    return caplog


@pytest.fixture(scope="module")
def wired(tmp_path_factory):
    with listening(tmp_path_factory.mktemp("wired")) as found:
        yield found


class Everything(NamedTuple):
    """An upload with one array more."""

    U: np.ndarray
    V: np.ndarray
    X: np.ndarray


LEAKS = {
    "another name": (
        lambda change, X: Everything(*change, X),
        "Everything is not among the declared messages",
    ),
    "another shape": (
        lambda change, X: change._replace(V=X.T),
        "Change.V is declared with the shape (M, K), got (8, ",
    ),
    "another type": (
        lambda change, _: change._replace(V=change.V.view(np.int64)),
        "Change.V is declared as float32 or float64, got int64",
    ),
    "what is not finite": (
        lambda change, _: change._replace(U=change.U * np.nan),
        "left the finite numbers",
    ),
}


@pytest.fixture(params=LEAKS)
def leak(request, monkeypatch):
    """Let FedMGS upload something else than it declares; return by which word it is refused."""
    change, text = LEAKS[request.param]
    real = fedmgs._upload

    def upload(private, H, data):
        private, update = real(private, H, data)
        return private, change(update, data.blocks[0])

    monkeypatch.setattr(fedmgs, "_upload", upload)
    return text


def test_a_site_lets_nothing_out_that_is_not_declared(leak, wired, logged):
    before = {name: len(lines(wired.kits / name)) for name in wired.data}
    with wired.at_work():
        refused(wired.fit(), logged, leak)
    for name, count in before.items():  # the figures of the set-up and the order to begin
        assert [line["task"] for line in lines(wired.kits / name)[count:]] <= ["figures", "begin"]


def test_a_server_takes_nothing_that_is_not_declared(leak, wired, logged, monkeypatch):
    """Of a site whose filter was taken out."""
    monkeypatch.setattr(site_module, "check_declared", lambda *_: None)
    monkeypatch.setattr(hosts, "_finite", lambda _: True)
    with wired.at_work():
        found = wired.fit()
    assert found["state"] == "failed"
    assert re.search(r"site (north|east|south) sent .*(has the arrays|declared|finite)",
                     found["status"])  # fmt: skip


def test_what_leaves_is_what_is_written_down(wired, monkeypatch):
    """Round, names, shapes, bytes and hash of every body on its way to the server."""
    sent, take = {name: [] for name in wired.data}, wired.server.hub.take

    def watch(site, key, frame):
        taken = take(site, key, frame)
        if taken and key.seq >= 0:
            sent[wired.server.kit.sites[site]].append(frame.body)
        return taken

    monkeypatch.setattr(wired.server.hub, "take", watch)
    before = {name: len(lines(wired.kits / name)) for name in wired.data}
    with wired.at_work():
        assert wired.fit(algorithm={"name": "fedmavg", "q2": 2})["state"] == "done"
    for name, bodies in sent.items():
        told = lines(wired.kits / name)[before[name]:]  # fmt: skip
        assert [line["sha256"] for line in told] == [sha256(body).hexdigest() for body in bodies]
        assert [line["bytes"] for line in told] == [len(body) for body in bodies]
        assert [line["round"] for line in told[-3:]] == [2, 2, 2]
        arrays = {key: value for line in told for key, value in line["arrays"].items()}
        assert arrays["W"] == ["float64", 8, 3]
        assert arrays["digest"] == ["uint8", 32]
        assert verify(wired.kits / name / NAME)[0] == len(lines(wired.kits / name))


# What a site refuses, whoever asks


def test_too_few_samples_and_nothing_leaves(wired, logged):
    before = len(lines(wired.kits / "east"))
    with wired.at_work(wired.site("east", wired.data["east"][:9])):
        refused(wired.fit(), logged, "it has fewer samples than min_samples")
    assert len(lines(wired.kits / "east")) == before


@pytest.mark.parametrize(
    ("limit", "text"),
    [
        ("max_rounds = 1", "rounds 2 is over max_rounds 1"),
        ("max_rank = 2", "rank 3 is over max_rank 2"),
        ('algorithms = ["fedmavg"]', "algorithm 'fedmgs' is not among fedmavg"),
        ('starts = ["kmeans"]', "start 'random' is not among kmeans"),
        ("min_samples = 41", "it has fewer samples than min_samples"),
        ("samples_per_column = 14", "it has too few samples for rank 3"),
    ],
)
def test_a_site_has_limits_of_its_own(limit, text, wired, logged):
    path = wired.kits / "north" / "policy.toml"
    given, before = path.read_text(), len(lines(path.parent))
    path.write_text(limit)
    try:
        with wired.at_work():
            found = wired.fit()
            refused(found, logged, f"refused by its policy: {text}")
            assert "site north: refused" in found["status"]
    finally:
        path.write_text(given)
    assert len(lines(path.parent)) == before


def test_more_columns_than_samples_would_give_these_away(tmp_path):
    """Why there is such a limit: the server knows the H of a random start, and V = X H' then is X.

    With the limit nothing leaves; without it the server works out every sample.
    """
    uploads = {}
    data = {"north": samples()["north"], "east": samples()["east"]}
    wanted = job(MGS, rounds=1, problem={"rank": 15})
    with Rig(tmp_path, data).at_work() as rig:
        with pytest.raises(RefusedError, match=r"site east: .* too few samples for rank 15"):
            rig.play(wanted)
        assert lines(tmp_path / "east") == []
    (tmp_path / "east" / "policy.toml").write_text("samples_per_column = 0")
    with Rig(tmp_path, data).at_work() as rig:
        answer = rig.sites[1].answer

        def listen(frame):
            uploads[frame.header["task"]] = frame.body, answer(frame).body
            return answer(frame)

        rig.sites[1].answer = listen
        rig.play(wanted)
    order = wire.decode(uploads["begin"][0], Begin)
    H = random_H(15, order, Cohort.of(np.zeros((12, 8)), 1))
    V = wire.decode(uploads["first"][1], fedmgs.Change).V
    np.testing.assert_allclose(V @ np.linalg.pinv(H.T), data["east"].T, rtol=0, atol=1e-9)


def test_a_run_that_begins_at_random_where_the_job_does_not_say_so(wired, logged):
    """A server could skip the start that a job names; here no site has a group to send for it."""
    path = wired.kits / "east" / "policy.toml"
    given = path.read_text()
    path.write_text('starts = ["kmeans"]')
    try:
        with wired.at_work(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # in the server's thread, on the start
            found = wired.fit(run={"rounds": 2, "tol": 0.0, "init": "kmeans:n_min=41"})
            refused(found, logged, "refused by its policy: start 'random' is not among kmeans")
            assert wired.fit(run={"rounds": 2, "tol": 0.0, "init": "kmeans"})["state"] == "done"
    finally:
        path.write_text(given)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("max_rounds = -1", "max_rounds must be an integer of at least 0, got -1"),
        ("max_runs = 1", "no limit 'max_runs'; there are min_samples, "),
        ('algorithms = "fedmgs"', "algorithms must be a list of names"),
        ("max_rank =", "no valid TOML"),
    ],
)
def test_limits_that_nobody_can_read_are_none_to_begin_with(text, said, tmp_path):
    path = tmp_path / "policy.toml"
    path.write_text(text)
    with pytest.raises(fedmf.FedMFError, match=re.escape(f"{path}: {said}")):
        Policy.read(path)


@pytest.fixture
def asked(tmp_path):
    """A site that has answered a short run, and its last request."""
    frames = []
    with Rig(tmp_path, samples()).at_work() as rig:
        site = rig.sites[0]
        answer = site.answer

        def listen(frame):
            frames.append(frame)
            return answer(frame)

        site.answer = listen
        rig.play(job(MGS, rounds=2))
        site.answer = answer
    return site, frames[-1]


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"round": 100_001}, "rounds 100001 is over max_rounds"),
        ({"task": "send_everything"}, "algorithm has no task 'send_everything'"),
        ({"run": "../../etc"}, "the run has a name that no folder should have"),
        ({"seq": 99, "method": "os"}, "ParameterError, see the log at the site"),
        ({"seq": 99, "after": 98}, "its stored state is missing or damaged"),
        ({"seq": 99, "job": {"algorithm": {"name": "mine"}}}, "ParameterError, see the log"),
        ({"seq": 99, "known": "all"}, "TypeError, see the log at the site"),
        ({"seq": 99, "round": None}, "TypeError, see the log at the site"),
    ],
)
def test_a_server_that_asks_for_what_there_is_not(changes, text, asked, logged):
    site, frame = asked
    before = len(lines(site.kit.folder))
    answer = site.answer(Frame({**frame.header, **changes}, frame.body))
    assert text in answer.header["error"]
    assert answer.body == b""
    assert len(lines(site.kit.folder)) == before
    assert logged.records[-1].name == "fedmf.site"


def test_a_payload_of_another_kind_is_not_read(asked):
    site, frame = asked
    for body in (b"", b"x" * 100, wire.encode(Everything(*np.ones((3, 2, 2))))):
        answer = site.answer(Frame({**frame.header, "seq": 99}, body))
        assert answer.header["error"] == "its stored state is missing or damaged"
        assert answer.body == b""


def test_a_site_says_nothing_of_its_data_when_it_fails(asked, monkeypatch, logged):
    site, frame = asked

    def fail(*_):
        raise ValueError("the sample of patient 4711 is 0.123")

    monkeypatch.setattr(fedmgs, "_upload", fail)
    answer = site.answer(Frame({**frame.header, "seq": 99}, frame.body))
    assert answer.header["error"] == "ValueError, see the log at the site"
    assert "4711" not in repr(answer)
    assert "patient 4711" in logged.text


@pytest.mark.parametrize(
    "error",
    [
        fedmf.errors.DataError("entry 0.123 of patient 4711"),
        FileFormatError("/home/ann/patient-4711.csv"),
        OSError(28, "No space left", "/home/ann/patient-4711"),
        KeyError("patient-4711"),
        ArithmeticError("patient 4711"),
    ],
)
def test_no_word_of_an_error_that_could_hold_data(error):
    assert "4711" not in repr(what_to_say(error, begun=True))


# Other data than before


def test_sites_with_other_features(wired, logged):
    names = [f"gene{place}" for place in range(8)]
    others = [*names[:5], "gene-five", *names[6:]]
    with wired.at_work(
        wired.site("north", features=tuple(names)), wired.site("south", features=tuple(others))
    ):
        refused(wired.fit(), logged, "feature 5 is 'gene-five' at site 2 and 'gene5' at site 0")


def test_sites_with_fewer_features(wired):
    with wired.at_work(wired.site("south", wired.data["south"][:, :7])):
        assert "site 2 has 7 features, site 0 has 8" in wired.fit()["status"]


@pytest.mark.parametrize(
    "change",
    [
        lambda X: X[:, ::-1],  # other features
        lambda X: X[::-1],  # the same samples, each with another's column of H
        lambda X: X[:-1],
        lambda X: X.astype(np.float32),
    ],
)
def test_a_site_that_comes_back_with_other_data_is_waited_for(change, tmp_path, monkeypatch):
    monkeypatch.setattr("fedmf.network.runtime.TELL_EVERY", 0.05)
    text = "its data are not those that the run began with"
    with Rig(tmp_path, samples()).at_work() as rig:

        def swap(row):
            right = np.ascontiguousarray(samples()["east"])
            rig.data["east"] = np.ascontiguousarray(change(right)) if row["round"] == 2 else right
            rig.sites[1] = rig.site("east")

        def put_right():
            if any(f"waiting for east ({text})" in line for line in rig.said):
                rig.data["east"] = samples()["east"]
                rig.sites[1] = rig.site("east")
            return False

        run, _ = rig.play(job(MGS, rounds=4), show=swap, stopped=put_right)
    with Rig(tmp_path / "plain", samples()).at_work() as rig:
        plain, _ = rig.play(job(MGS, rounds=4))
    np.testing.assert_array_equal(run.W, plain.W)


# The record of what left


def tampered(kit, how):
    """Change a record, as somebody would who has something to hide."""
    path = kit / NAME
    text = path.read_text().splitlines(keepends=True)
    if how == "changed":
        text[2] = text[2].replace('"bytes": ', '"bytes": 1')
    elif how == "removed":
        del text[2]
    elif how == "put in":
        text.insert(2, text[1])
    elif how == "cut off":
        text = text[:-1]
    path.write_text("".join(text))
    if how == "deleted":
        path.unlink()


WAYS = {
    "changed": "line 3: the record was changed here or before",
    "removed": "line 3: the record was changed here or before",
    "put in": "line 3: the record was changed here or before",
    "cut off": "lines were cut off, egress.head knows more",
    "deleted": "lines were cut off, egress.head knows more",
}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A folder with the sites of a run that was played."""
    folder = tmp_path_factory.mktemp("recorded")
    with Rig(folder, samples()).at_work() as rig:
        rig.play(job(MGS, rounds=2))
    return folder


@pytest.mark.parametrize("how", WAYS)
def test_a_record_that_was_changed(how, recorded, tmp_path):
    kit = tmp_path / "north"
    shutil.copytree(recorded / "north", kit)
    count, digest = verify(kit / NAME)
    assert (count, digest) == (5, lines(kit)[-1]["digest"])
    tampered(kit, how)
    with pytest.raises(FileFormatError, match=WAYS[how]):
        verify(kit / NAME)
    with pytest.raises(RefusedError, match="its record of what left it was changed"):
        Egress(kit / NAME)
    found = CliRunner().invoke(main, ["egress", "verify", str(kit)])
    assert found.exit_code == 2


@pytest.mark.parametrize("left", ["", "\0" * 70, None])
def test_a_head_that_went_down_with_the_machine(left, recorded, tmp_path):
    kit = tmp_path / "north"
    shutil.copytree(recorded / "north", kit)
    (kit / HEAD).unlink() if left is None else (kit / HEAD).write_text(left)
    assert verify(kit / NAME)[0] == 5
    Egress(kit / NAME).record(b"", run="a", round=1)
    assert json.loads((kit / HEAD).read_text())[0] == 6


def test_the_command_tells_the_last_digest(recorded):
    found = CliRunner().invoke(main, ["egress", "verify", str(recorded / "north")])
    last = lines(recorded / "north")[-1]["digest"]
    assert found.output == f"5 uploads, none changed; the last has the digest {last}\n"


@pytest.mark.parametrize("how", WAYS)
def test_a_record_that_is_changed_while_the_site_is_at_work(how, tmp_path, monkeypatch):
    """The site stops answering; the server is told, and with which words."""
    monkeypatch.setattr("fedmf.network.runtime.TELL_EVERY", 0.05)
    text = "waiting for north (its record of what left it was changed"
    with Rig(tmp_path, samples()).at_work() as rig:

        def tamper(row):
            if row["round"] == 1:
                tampered(tmp_path / "north", how)

        run, _ = rig.play(
            job(MGS, rounds=4), show=tamper, stopped=lambda: any(text in x for x in rig.said)
        )
    assert len(run.history) == 1


def test_a_site_that_may_not_begin_says_so_at_both_ends(wired, tmp_path, logged):
    """As a process: its record was changed, so it ends, and the server knows why."""
    kit = tmp_path / "south"
    shutil.copytree(wired.kits / "south", kit)
    with (kit / NAME).open("a") as file:
        file.write('{"number": 1}\n')
    np.save(tmp_path / "south.npy", wired.data["south"])
    words = [sys.executable, "-m", "fedmf", "site", str(kit), "--data", str(tmp_path / "south.npy")]
    ended = subprocess.run([*words, "--child"], stdin=subprocess.PIPE, capture_output=True,
                           text=True, timeout=60, check=False)  # fmt: skip
    assert ended.returncode == 2
    text = "its record of what left it was changed: `fedmf egress verify` says where"
    assert text in ended.stderr
    assert text in (kit / "site.log").read_text()
    assert f"site south takes no part: {text}" in logged.messages


def test_half_a_line_on_a_full_disk_is_taken_away(tmp_path, monkeypatch):
    egress = Egress(tmp_path / NAME)
    egress.record(b"", run="a", round=1)

    more = iter(("", '{"number": 3, "ti'))  # the whole line is there, or a half one after it

    def full(_):
        with (tmp_path / NAME).open("a") as file:
            file.write(next(more))
        raise OSError(28, "No space left on device")

    for _ in range(2):
        with monkeypatch.context() as patch:
            patch.setattr("fedmf.network.egress.os.fsync", full)
            with pytest.raises(OSError, match="No space"):
                egress.record(b"", run="a", round=2)
        assert verify(tmp_path / NAME)[0] == 1
    egress.record(b"", run="a", round=2)
    assert verify(tmp_path / NAME)[0] == 2
