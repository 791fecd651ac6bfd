"""One run over a federation: begun, or gone on with from its last checkpoint."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fedmf.driver import begin_run, drive
from fedmf.engine import Federation, Position, set_up
from fedmf.network.checkpoints import Checkpoints
from fedmf.network.jobs import Job
from fedmf.network.runtime import NetworkRuntime, StoppedByUserError
from fedmf.parallel import threads
from fedmf.run import Run, row
from fedmf.stopping import Ending


def play(
    job: Job,
    runtime: NetworkRuntime,
    checkpoints: Checkpoints,
    show: Callable[[dict[str, Any]], None],
) -> Run:
    """Return the finished run; `show` is told each row of its history."""
    with threads():
        saved = checkpoints.load()
        if saved is None:
            run = _begun(job, runtime)
            checkpoints.save(run, runtime.marks)
        else:
            run, marks = saved
            runtime.go_on(marks)
        runtime.saved()
        keeper = _Keeper(run, runtime, checkpoints, show)
        federation = Federation(runtime, run.figures, run.ledger)
        stopping = job.stopping(sum(one["seconds"] for one in run.rows))
        try:
            return drive(keeper, federation, stopping)
        except StoppedByUserError:
            return keeper.interrupted()


def _begun(job: Job, runtime: NetworkRuntime) -> Run:
    """Bring server and sites to where round 1 begins."""
    known, federation = set_up(runtime)
    settings = {name: value for name, value in job.run.items() if value is not None}
    asked = {name: value for name, value in job.federation.items() if value is not None}
    return begin_run(
        job.the_problem,
        job.the_algorithm,
        known,
        federation,
        runtime.dtype,
        job.run["seed"],
        start=job.the_start,
        penalty=job.the_penalty,
        settings={name: settings[name] for name in ("rounds", "tol", "seed")},
        notes={"run": settings, "federation": asked},
    )


class _Keeper:
    """Keeps the run at its last complete round, in memory and on the disk."""

    def __init__(
        self,
        run: Run,
        runtime: NetworkRuntime,
        checkpoints: Checkpoints,
        show: Callable[[dict[str, Any]], None],
    ) -> None:
        self.run, self._runtime = run, runtime
        self._checkpoints, self._show = checkpoints, show
        self._entries = len(run.ledger.entries)

    def keep(self, position: Position) -> None:
        """Take over a round: once it is on the disk it is done."""
        run, runtime, number = self.run, self._runtime, position.round
        away = {"missing": runtime.missing.pop(number, []), "late": runtime.late.pop(number, [])}
        run.rows.append({**row(position), **away})
        run.position = position
        self._checkpoints.save(run, self._runtime.marks)
        self._runtime.saved()
        self._entries = len(run.ledger.entries)
        self._show(run.rows[-1])

    def interrupted(self) -> Run:
        """Return the run as of its last complete round."""
        s = self.run.position.round
        return self.finish(Ending(False, f"stopped by the user after round {s}"))

    def finish(self, ending: Ending) -> Run:
        """Return the run, ended for this reason."""
        del self.run.ledger.entries[self._entries :]
        self.run.converged, self.run.status = ending
        return self.run
