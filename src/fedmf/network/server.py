"""The server: takes jobs from the coordinator, plays them with the sites one after the other.

    KIT/runs/RUN/job.json          what was asked
    KIT/runs/RUN/status.json       how it stands
    KIT/runs/RUN/log.txt           what happened, for people
    KIT/runs/RUN/rounds.jsonl, checkpoint.state    see `checkpoints`
    KIT/runs/RUN/result/           the run's folder once it has ended, without any H

A run that was not finished when the server went down goes on, under its own name, when it is back.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from threading import Event, Thread
from typing import Any

from fedmf.checks import check_integer
from fedmf.errors import FedMFError, ParameterError, RefusedError
from fedmf.network.callers import Callers
from fedmf.network.frames import Frame
from fedmf.network.hub import Hub, Key
from fedmf.network.jobs import Job
from fedmf.network.kits import Kit
from fedmf.network.link import Handler, Peer, serve
from fedmf.network.playing import play
from fedmf.network.records import Record, Records
from fedmf.network.runtime import ClosingError, NetworkRuntime, StoppedByUserError

MOST_HOLD = 25.0  # seconds for which a call for work is kept
AGAIN = 2.0  # seconds before a run whose folder could not be written to is tried again
MOST_LOG = 2**20  # bytes of a log in one answer
MOST_ROWS = 1000  # of a history in one answer
log = logging.getLogger("fedmf.server")


class Server:
    """The server's side of the conversation."""

    def __init__(self, kit: Kit, broken: Callable[[], None] = lambda: None) -> None:
        self.kit, self.hub, self.is_broken = kit, Hub(len(kit.sites)), False
        self._broken, self._callers, self._going_down = broken, Callers(), Event()
        self.records = Records(kit.folder / "runs", kit.sites)
        self._site = {name: place for place, name in enumerate(kit.sites)}
        self._player = Thread(target=self._play_all, name="player")
        self._calls: Any = None

    def start(self) -> None:
        """Listen, and go on with what was not finished."""
        handlers: dict[str, tuple[str, Handler]] = {
            "poll": ("site", self._poll),
            "answer": ("site", self._answer),
            "leave": ("site", self._leave),
            "submit": ("user", self._submit),
            "status": ("user", self._status),
            "stop": ("user", self._stop),
            "log": ("user", self._log),
            "history": ("user", self._history),
            "result": ("user", self._result),
        }
        for record in self.records.ended():
            self._tell_sites(record)
        self._calls = serve(self.kit, handlers, workers=2 * len(self.kit.sites) + 8)
        self._player.start()
        log.info("listening on %s:%d", self.kit.listen, self.kit.port)

    def close(self) -> None:
        """Stop; a run goes on from its last complete round when the server is back."""
        self._going_down.set()
        self.hub.close()
        self.records.close()
        if self._calls is not None:
            self._calls.stop(grace=1.0).wait()
        self._player.join()

    def _play_all(self) -> None:
        try:
            while (record := self.records.next()) is not None:
                try:
                    self._play(record)
                    self._tell_sites(record)
                except OSError as error:  # a full disk, say: the run is as its checkpoint has it
                    log.error("run %s: %s; trying again", record.name, error)  # noqa: TRY400
                    self._going_down.wait(AGAIN)
        except ClosingError:
            return
        except BaseException:
            log.exception("the server cannot go on; its supervisor starts it again")
            self.is_broken = True
            self._broken()

    def _play(self, record: Record) -> None:
        """Play one run to its end, whatever that is."""
        runtime = NetworkRuntime(
            record.name, record.job, self.hub, self.kit.sites, record.warn, record.is_stopping
        )
        record.begin(runtime)
        try:
            run = play(record.job, runtime, record.checkpoints, record.show)
            run.save(record.result)
            record.end("stopped" if record.is_stopping() else "done", run.status)
        except ClosingError:
            record.tell("the server is going down; the run goes on when it is back")
            raise
        except StoppedByUserError:
            record.end("stopped", "stopped by the user before round 1")
        except FedMFError as error:
            record.end("failed", " ".join(str(error).split()))
        except OSError:
            raise
        except Exception:
            log.exception("run %s: defect", record.name)
            record.end("failed", "a defect of fedmf: see the server's log")

    def _tell_sites(self, record: Record) -> None:
        """Let every site know that a run has ended, when it calls next."""
        for name, data in record.farewells().items():
            self.hub.farewell(self._site[name], Key(record.name, -1), data)

    def _poll(self, peer: Peer, frame: Frame) -> bytes | Frame:
        self._callers.check(peer.name, str(frame.header.get("process")))
        hold = frame.header.get("hold")
        hold = float(hold) if isinstance(hold, int | float) and hold > 0 else 0.0
        found = self.hub.fetch(self._site[peer.name], min(hold, MOST_HOLD))
        return Frame({"kind": "nothing"}) if found is None else found

    def _answer(self, peer: Peer, frame: Frame) -> Frame:
        run, seq = frame.header.get("run"), frame.header.get("seq")
        if not isinstance(run, str) or not isinstance(seq, int):
            raise RefusedError("an answer names its run and its request")
        self._callers.check(peer.name, str(frame.header.get("process")))
        record = self.records.get(run)
        taken = self.hub.take(self._site[peer.name], Key(run, seq), frame)
        if taken and seq == -1:
            record.told(peer.name)
        elif not taken and seq != -1:
            record.tell(f"refused an answer of {peer.name} that came too late (request {seq})")
        return Frame({"taken": taken})

    def _leave(self, peer: Peer, frame: Frame) -> Frame:
        why = " ".join(str(frame.header.get("why")).split())[:300]
        log.warning("site %s takes no part: %s", peer.name, why)
        for record in self.records.unfinished():
            record.tell(f"{peer.name} takes no part: {why}")
        return Frame({})

    def _submit(self, peer: Peer, frame: Frame) -> Frame:
        tables = frame.header.get("job")
        if not isinstance(tables, dict):
            raise ParameterError("a job is a set of tables")
        job, sites = Job.of(tables), len(self.kit.sites)
        job.the_algorithm.check_sites(sites)
        check_integer("min_answers", job.federation["min_answers"], minimum=1, maximum=sites)
        record = self.records.add(job, peer.name)
        record.tell(f"submitted by {peer.name}")
        return Frame({"run": record.name})

    def _status(self, peer: Peer, frame: Frame) -> Frame:
        name = frame.header.get("run")
        records = self.records.all() if name is None else [self.records.find(str(name))]
        quiet = dict(zip(self.kit.sites, self.hub.quiet(), strict=True))
        runs = [record.status(full=name is not None) for record in records]
        presence = dict(zip(self.kit.sites, self.hub.presence(), strict=True))
        about = {"federation": self.kit.federation, "sites": quiet, "presence": presence}
        order = list(self.kit.sites)  # tables lose it on the way
        return Frame({**about, "order": order, "runs": runs})

    def _stop(self, peer: Peer, frame: Frame) -> Frame:
        record = self.records.find(str(frame.header.get("run")))
        record.stop(peer.name)
        self.hub.nudge()
        return Frame({"run": record.name})

    def _log(self, peer: Peer, frame: Frame) -> Frame:
        record, start = self.records.find(str(frame.header.get("run"))), frame.header.get("from", 0)
        check_integer("from", start, minimum=0)
        text = record.log(start, MOST_LOG)
        return Frame({"next": start + len(text), "state": record.state}, text)

    def _history(self, peer: Peer, frame: Frame) -> Frame:
        record, start = self.records.find(str(frame.header.get("run"))), frame.header.get("from", 0)
        check_integer("from", start, minimum=0)
        rows, before = record.history()
        body = json.dumps(rows[start : start + MOST_ROWS]).encode()
        return Frame({"before": before, "rows": len(rows)}, body)

    def _result(self, peer: Peer, frame: Frame) -> Frame:
        return Frame({}, self.records.find(str(frame.header.get("run"))).model())
