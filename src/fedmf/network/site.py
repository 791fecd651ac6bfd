"""A site: asks the server for work, answers through its `Host`, keeps its state in its folder.

    KIT/state/RUN/00000012.state    see `states`
    KIT/results/RUN/                at the end of a run: factors.safetensors (W and its own H),
                                    clusters.csv where clusters were looked for
    KIT/egress.jsonl                see `egress`
    KIT/site.log                    stays here

What a message of the server can bring about is what this file does with it and nothing more.
"""

from __future__ import annotations

import csv
import json
import logging
import re
from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from io import StringIO
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Any, NamedTuple

import numpy as np
from safetensors.numpy import save

from fedmf import wire
from fedmf.algorithms.base import Given
from fedmf.arrays import Array, Rows
from fedmf.clustering.columns import labels
from fedmf.declared import check_declared, dimensions, payload_of
from fedmf.devices import Device, There, brought_here
from fedmf.errors import FedMFError, RefusedError
from fedmf.files import write_bytes, write_text
from fedmf.fingerprints import fingerprints
from fedmf.hosts import Host
from fedmf.ledger import SETUP
from fedmf.messages import Message, Request
from fedmf.network.egress import NAME, Egress
from fedmf.network.frames import Frame, stamp
from fedmf.network.jobs import Job
from fedmf.network.kits import Kit
from fedmf.network.link import Caller, UnreachableError
from fedmf.network.policy import Policy
from fedmf.network.runtime import Factor
from fedmf.network.states import States, Stored
from fedmf.network.told import what_to_say
from fedmf.parallel import threads
from fedmf.sites import Cohort

HOLD = 20.0  # seconds for which the server keeps a call for work
SLACK = 15.0
AGAIN = 2.0  # seconds before a request that could not be answered is tried again
NAPS = (0.1, 2.0)  # seconds between attempts: the first, the longest
RUN_NAME = re.compile(r"[0-9a-f-]{1,40}")
log = logging.getLogger("fedmf.site")


class Data(NamedTuple):
    """What a site has."""

    rows: Rows  # (n, M)
    features: tuple[str, ...] | None = None
    samples: Sequence[str] | None = None


class Site:
    """A site's side of the conversation."""

    def __init__(self, kit: Kit, data: Data, device: Device | None = None) -> None:
        self.kit, self.data, self.device = kit, data, device
        if device is not None:
            There.copy_of(Cohort.of(data.rows), device)  # refuses what cannot be there
        log.info("%d samples with %d features", *data.rows.shape)
        self.policy = Policy.read(kit.folder / "policy.toml")
        self.egress = Egress(kit.folder / NAME)
        self._complaint = ""
        self._states: tuple[str, States] | None = None
        self._hosts: dict[tuple[int, str], Host] = {}
        self._here: Any = None  # the host's private state as it was stored

    def run(self, caller: Caller, stop: Event) -> None:
        """Ask for work and do it until told to stop."""
        nap, silent_since, said = NAPS[0], None, ""
        with threads():
            while not stop.is_set():
                try:
                    self._turn(caller, stop)
                except UnreachableError as error:
                    if stop.is_set():
                        break
                    if silent_since is None or str(error) != said:
                        log.warning("%s; trying again until it is back", error)
                    silent_since, said = silent_since or monotonic(), str(error)
                    stop.wait(nap)
                    nap = min(2 * nap, NAPS[1])
                    continue
                if silent_since is not None:
                    log.info("the server is back after %.0f s", monotonic() - silent_since)
                silent_since, nap = None, NAPS[0]

    def _turn(self, caller: Caller, stop: Event) -> None:
        """Fetch one request and answer it."""
        frame = caller("poll", Frame({"hold": HOLD}), HOLD + SLACK)
        if frame.header.get("kind") not in ("ask", "end"):
            return
        answer = self.answer(frame)
        try:
            taken = caller("answer", answer, 120.0)
        except RefusedError as error:
            log.error("the server refused an answer: %s", error)  # noqa: TRY400
            stop.wait(AGAIN)
            return
        if answer.header.get("again"):
            stop.wait(AGAIN)
        elif not taken.header["taken"]:
            log.info(
                "run %s, request %s: the answer came too late",
                answer.header["run"],
                answer.header["seq"],
            )

    def answer(self, frame: Frame) -> Frame:
        """Return the answer to a request; what goes wrong is told in a line without data."""
        where = {"run": frame.header.get("run"), "seq": frame.header.get("seq")}
        try:
            if frame.header["kind"] == "end":
                return Frame({**where, **self._end(frame)})
            return self._ask(frame, where)
        except Exception as error:  # noqa: BLE001 - it is logged here, and told there
            self._complain(f"run {where['run']}: {error}", error)
            return Frame({**where, **what_to_say(error, begun=frame.header.get("round") != SETUP)})

    def _complain(self, line: str, error: Exception) -> None:
        """Log what went wrong, once where it goes wrong again and again."""
        known = isinstance(error, FedMFError | OSError)
        if line != self._complaint or not known:
            log.error("%s", line, exc_info=not known)
        self._complaint = line

    def _ask(self, frame: Frame, where: dict[str, Any]) -> Frame:
        """Answer a request, from what is stored or anew."""
        header = frame.header
        job = _job(json.dumps(header["job"]))
        self.policy.check(job, int(header["round"]), self.data.rows.shape[0])
        states, mark = self.states_of(str(header["run"]), job), stamp(frame, ("durable",))
        answer, seq = states.answered(int(header["seq"]), mark), int(header["seq"])
        if answer is None:
            private, update = self._computed(job, frame, states.state(int(header["after"])))
            about = {"dtype": self.data.rows.dtype.name} if header["known"] is None else {}
            silent = header["weight"] == 0
            answer = Frame({**where, **about}, b"" if silent else wire.encode(update))
            states.store(seq, Stored(mark, private, answer))
        states.forget(int(header["durable"]))
        self._record(frame, answer)
        return answer

    def _computed(self, job: Job, frame: Frame, private: Any) -> tuple[Any, Message]:
        """Return the new private state and the update, which is one that is declared."""
        header = frame.header
        method, goal = job.method(header["method"]), job.goal(header["known"])
        tasks = method.tasks()
        if header["task"] not in tasks:
            raise RefusedError(f"{header['method']} has no task {header['task']!r}")
        if header["method"] == "algorithm" and header["task"] == "begin" and private is None:
            self.policy.check_start("random")  # whatever the job says: there is no other H here
        task, one = tasks[header["task"]], np.ones(1, dtype=np.int64)
        payload = wire.decode(frame.body, payload_of(task))
        sites, weight = np.array([header["site"]]), np.array([header["weight"]])
        request = Request(header["task"], payload, sites, weight, one, header["round"])
        host = self._host(header)
        if not _same(private, self._here):
            host.private = private  # else it is there already, on a device perhaps
        (update,) = host.answer(method, goal, request)
        check_declared(update, task.sends, dimensions(goal))
        self._here = brought_here(host.private)
        return self._here, update

    def _host(self, header: dict[str, Any]) -> Host:
        """Return the host of the data, with the type that all sites share."""
        wanted = (int(header["site"]), str(header["dtype"] or self.data.rows.dtype))
        if wanted not in self._hosts:
            rows = self.data.rows.astype(wanted[1], copy=False)
            cohort = Cohort.of(rows, wanted[0], self.data.features)
            self._hosts, self._here = {wanted: Host(cohort, device=self.device)}, None
        return self._hosts[wanted]

    def states_of(self, run: str, job: Job) -> States:
        """Return the states of a run; those of another run in memory are left."""
        if self._states is None or self._states[0] != run:
            kinds = {kind.__name__: kind for kind in (Given, job.the_algorithm.private_type)}
            folder = self._folder("state", run)
            folder.mkdir(parents=True, exist_ok=True)
            self._same_data(folder)
            self._states = run, States(folder, kinds)
        return self._states[1]

    def _folder(self, kind: str, run: str) -> Path:
        if not RUN_NAME.fullmatch(run):
            raise RefusedError("the run has a name that no folder should have")
        return self.kit.folder / kind / run

    def _same_data(self, folder: Path) -> None:
        """Refuse to go on with other data than those that the run began with."""
        path, rows = folder / "data.json", self.data.rows
        names = sha256(json.dumps(self.data.features).encode()).hexdigest()
        print_ = repr(float(fingerprints(Cohort.of(rows))[0]))
        now = json.dumps([list(rows.shape), rows.dtype.name, names, print_])
        if not path.exists():
            write_text(path, now)
        elif path.read_text(encoding="utf-8") != now:
            raise RefusedError("its data are not those that the run began with")

    def _record(self, frame: Frame, answer: Frame) -> None:
        """Write down what is about to leave."""
        header = frame.header
        about = {name: header[name] for name in ("run", "round", "seq", "method", "task")}
        self.egress.record(answer.body, **about)

    def _end(self, frame: Frame) -> dict[str, Any]:
        """Keep the site's own result and drop the states."""
        header, run = frame.header, str(frame.header["run"])
        log.info("run %s %s: %s", run, header["state"], header["status"])
        if self._folder("state", run).exists():
            job = _job(json.dumps(header["job"]))
            states = self.states_of(run, job)
            private = states.state(int(header["after"]))
            H = getattr(private, "H", None)
            if H is not None and frame.body:
                W = wire.decode(frame.body, Factor).W
                self._keep(self._folder("results", run), W, H, job)
            self._states = None
            states.clear()
        return {"done": True}

    def _keep(self, folder: Path, W: Array, H: Array, job: Job) -> None:
        """Write W and the site's own H, and its samples' clusters where these were wanted."""
        write_bytes(folder / "factors.safetensors", save({"W": W, "H": np.ascontiguousarray(H)}))
        if job.run["cluster"]:
            names = self.data.samples or [str(number) for number in range(H.shape[1])]
            lines = StringIO(newline="")
            writer = csv.writer(lines, lineterminator="\n")
            writer.writerows([("sample", "cluster"), *zip(names, labels(H).tolist(), strict=True)])
            write_text(folder / "clusters.csv", lines.getvalue())
        log.info("H is in %s", folder)


def _same(one: Any, other: Any) -> bool:
    """Whether two private states are the very same arrays: these are never changed in place."""
    if one is None or type(one) is not type(other):
        return False
    return all(a is b for a, b in zip(one, other, strict=True))


@lru_cache(maxsize=4)
def _job(text: str) -> Job:
    """Return the job that a request carries; it is the same one for a whole run."""
    return Job.of(json.loads(text))
