"""The runtime of real sites: requests become frames, and who is late or away does not hold up all.

Every request of a run has a number, `seq`. `after` says for each site the number of the request
whose answer went into the sums last: the next request starts from the site's state of that number.
An answer that is lost, late or refused is thus simply not in the sums, and the site's baselines
are those that the server knows of. Both are saved with the run, see `checkpoints`.

A site that missed a broadcast is first brought up to date by the task that this broadcast names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import monotonic
from typing import Any, NamedTuple

import numpy as np

from fedmf import wire
from fedmf.declared import Tall, check_declared, dimensions
from fedmf.errors import FileFormatError, NonFiniteError, RefusedError
from fedmf.ledger import SETUP
from fedmf.messages import Answer, Message, Method, Nothing, Request, Task, add_up
from fedmf.network.frames import Frame, pack
from fedmf.network.hub import Hub, Key
from fedmf.network.jobs import Job, method_name

TELL_EVERY = 10.0  # seconds between two words on who is waited for


class Factor(NamedTuple):
    """W, for the sites at the end of a run."""

    W: Tall


class StoppedByUserError(Exception):
    """The coordinator wants the run to end here."""


class ClosingError(Exception):
    """The server is going down; the run goes on when it is back."""


class Marks(NamedTuple):
    """Where the conversation with the sites stands; saved with the run."""

    seq: int
    after: list[int]
    behind: list[int]  # the sites that missed the last broadcast
    catch_up: str  # the task that brings them up to date, of the payload
    payload: bytes
    dtype: str


class NetworkRuntime:
    """The sites of a federation, for one run.

    Parameters
    ----------
    run, job, hub, names : the run's id, what it is to do, where the sites call, their names.
    tell : is told what people may want to know, a line at a time.
    stopped : whether the coordinator wants the run to end.
    """

    def __init__(
        self,
        run: str,
        job: Job,
        hub: Hub,
        names: Sequence[str],
        tell: Callable[[str], None],
        stopped: Callable[[], bool],
    ) -> None:
        self.sites = len(names)
        self.marks = Marks(0, [0] * self.sites, [], "", b"", "")
        self.missing: dict[int, list[int]] = {}  # round -> sites that were asked in vain
        self.late: dict[int, list[int]] = {}  # round -> sites whose late answers it used
        self.waiting: list[int] = []
        self.job, self._run, self._hub, self._names = job, run, hub, names
        self._tell, self._stopped = tell, stopped
        self._durable = [0] * self.sites
        self._owed: dict[int, int] = {}  # late answers that may still come: site -> their seq

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of all sites' data together, once they were asked."""
        return np.dtype(self.marks.dtype)

    def go_on(self, marks: Marks) -> None:
        """Go on from saved marks."""
        self.marks, self._durable, self._owed = marks, list(marks.after), {}

    def saved(self) -> None:
        """Note that the marks are on the disk: nothing older is needed any more."""
        self._durable = list(self.marks.after)

    def ask(self, method: Method, goal: Any, request: Request) -> Answer:
        """Put a request to its sites and add up the updates of those who answered."""
        return _Asking(self, method, goal, request).play()


class _Asking:
    """One request and its answers."""

    def __init__(self, runtime: NetworkRuntime, method: Method, goal: Any, request: Request):
        self.runtime, self.hub, self.job = runtime, runtime._hub, runtime.job
        self.goal, self.request, self.method = goal, request, method
        self.task: Task = method.tasks()[request.task]
        self.kind = self.task.sends
        self.weight = dict(zip(request.sites.tolist(), request.weight.tolist(), strict=True))
        self.updates: dict[int, Message] = {}
        self.answered: set[int] = set()
        self.trouble: dict[int, str] = {}
        self.payload = wire.encode(request.payload)
        marks = runtime.marks
        self.seq = marks.seq + 2  # the one before it is for those who catch up
        self.behind = [] if self.task.broadcast else [s for s in marks.behind if s in self.weight]
        self.deadline = None if request.round == SETUP else self.job.federation["deadline"]

    def play(self) -> Answer:
        """Ask, wait, and return what came."""
        runtime, started = self.runtime, monotonic()
        for site in self.weight:
            if site in runtime._owed and not self.task.broadcast:
                continue  # it is still at work on an earlier one
            if site in self.behind:
                self._catch_up(site)
            else:
                self._give(site)
        told = started
        self._take_what_came()
        while not self._enough(monotonic() - started):
            self.hub.collect(runtime._stopped, self._patience(started, told))
            self._check_end()
            self._take_what_came()
            if monotonic() - told >= TELL_EVERY and self.open:
                told = monotonic()
                runtime._tell(self._whom())
        return self._answer()

    @property
    def open(self) -> list[int]:
        """Who has not answered yet."""
        return [site for site in self.weight if site not in self.answered]

    def _enough(self, passed: float) -> bool:
        """Whether the round may go on."""
        self.runtime.waiting = self.open
        if not self.open:
            return True
        if self.deadline is None or passed < self.deadline:
            return False
        heard = [site for site in self.weight if self.weight[site] > 0]
        came = sum(site in self.answered for site in heard)
        return came >= min(int(self.job.federation["min_answers"]), len(heard))

    def _patience(self, started: float, told: float) -> float:
        """Return how many seconds to wait before looking again."""
        now = monotonic()
        left = TELL_EVERY - (now - told)
        if self.deadline is not None and now - started < self.deadline:
            left = min(left, self.deadline - (now - started))
        return max(left, 0.0)

    def _whom(self) -> str:
        """Say who is waited for."""
        names = self.runtime._names
        parts = [names[s] + (f" ({self.trouble[s]})" if s in self.trouble else "")
                 for s in self.open]  # fmt: skip
        return f"round {self.request.round}: waiting for {', '.join(parts)}"

    def _check_end(self) -> None:
        if self.hub.closed:
            raise ClosingError
        if self.runtime._stopped():
            raise StoppedByUserError

    def _give(self, site: int) -> None:
        """Let a site answer the request."""
        self._send(site, self.seq, self.request.task, self.payload, self.weight[site])

    def _catch_up(self, site: int) -> None:
        """Bring a site up to date first."""
        marks = self.runtime.marks
        self._send(site, self.seq - 1, marks.catch_up, marks.payload, 1.0)

    def _send(self, site: int, seq: int, task: str, payload: bytes, weight: float) -> None:
        runtime = self.runtime
        known = None if self.goal is None else list(self.goal.known)
        header = {
            "kind": "ask", "run": runtime._run, "round": self.request.round, "seq": seq,
            "after": runtime.marks.after[site], "durable": runtime._durable[site],
            "site": site, "method": method_name(self.method), "task": task, "weight": weight,
            "known": known, "dtype": runtime.marks.dtype, "job": self.job.tables,
        }  # fmt: skip
        self.hub.give(site, Key(runtime._run, seq), pack(Frame(header, payload)))

    def _take_what_came(self) -> None:
        for (site, key), frame in self.hub.answers().items():
            if key.run == self.runtime._run:
                self._take(site, key.seq, frame)

    def _take(self, site: int, seq: int, frame: Frame) -> None:
        """Take one answer into account."""
        if "error" in frame.header:
            self._take_error(site, seq, frame.header)
            return
        if seq == self.runtime._owed.get(site):
            del self.runtime._owed[site]
            _note(self.runtime.late, self.request.round, [site])
            self.runtime._tell(f"round {self.request.round}: used a late answer of "
                               f"{self.runtime._names[site]}")  # fmt: skip
            self._add(site, seq, frame)
        elif seq == self.seq:
            self._add(site, seq, frame)
        elif seq == self.seq - 1 and site in self.behind:
            self._decoded(site, frame, Nothing)
            self._move(site, seq)
            self.behind.remove(site)
            left = [other for other in self.runtime.marks.behind if other != site]
            self.runtime.marks = self.runtime.marks._replace(behind=left)
            self._give(site)

    def _take_error(self, site: int, seq: int, header: dict[str, Any]) -> None:
        """Let a site try again where that may help; end the run where it does not."""
        name, said = self.runtime._names[site], " ".join(str(header["error"]).split())[:300]
        if not header.get("again"):
            kind = NonFiniteError if header.get("class") == "NonFiniteError" else RefusedError
            raise kind(f"site {name}: {said}")
        if self.trouble.get(site) != said:
            self.runtime._tell(f"round {self.request.round}: {name} cannot answer: {said}")
        self.trouble[site] = said
        if seq == self.seq:
            self._give(site)
        elif seq == self.seq - 1:
            self._catch_up(site)
        else:
            self.runtime._owed.pop(site, None)

    def _add(self, site: int, seq: int, frame: Frame) -> None:
        """Let an answer go into the sum."""
        if self.weight.get(site) != 0:
            self.updates[site] = self._decoded(site, frame, self.kind)
        if self.goal is None:
            self._note_type(site, frame.header.get("dtype"))
        self.answered.add(site)
        self._move(site, seq)

    def _note_type(self, site: int, name: Any) -> None:
        """Let the run have the wider of the sites' types."""
        if name not in ("float32", "float64"):
            raise RefusedError(f"site {self.runtime._names[site]} has data of a type {name!r}")
        marks = self.runtime.marks
        self.runtime.marks = marks._replace(dtype=max(marks.dtype, name))

    def _move(self, site: int, seq: int) -> None:
        after = list(self.runtime.marks.after)
        after[site] = seq
        self.runtime.marks = self.runtime.marks._replace(after=after)

    def _decoded(self, site: int, frame: Frame, kind: Any) -> Message:
        """Return an update, looked at as if the site had not looked at it."""
        try:
            update: Message = wire.decode(frame.body, kind)
            check_declared(update, kind, dimensions(self.goal))
        except (FileFormatError, RefusedError) as error:
            raise RefusedError(f"site {self.runtime._names[site]} sent {error}") from None
        return update

    def _answer(self) -> Answer:
        """Return what came; note who was missing."""
        runtime, request = self.runtime, self.request
        sites = np.array(sorted(self.answered), dtype=np.int64)
        missing = self.open
        for site in missing:
            if self.job.federation["late"] == "use" and self.task.addable:
                runtime._owed.setdefault(site, self.seq)
            elif site not in runtime._owed:
                self.hub.withdraw(site)
        if missing:
            names = ", ".join(runtime._names[site] for site in missing)
            runtime._tell(f"round {self.request.round}: went on without {names}")
            _note(runtime.missing, self.request.round, missing)
        marks = runtime.marks._replace(seq=self.seq)
        if self.task.broadcast:
            payload = self.payload if missing else b""
            marks = marks._replace(behind=missing, catch_up=self.task.broadcast, payload=payload)
        runtime.marks, runtime.waiting = marks, []
        each = [self.updates[site] for site in sorted(self.updates)]
        weight = float(request.weight[np.isin(request.sites, sites)].sum())
        return Answer(None if self.task.each else add_up(each), each, sites, weight)


def _note(book: dict[int, list[int]], number: int, sites: list[int]) -> None:
    """Write down sites for a round."""
    book[number] = sorted({*book.get(number, []), *sites})
