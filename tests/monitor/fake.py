"""A federation that says what a test wants, in the words of a real one."""

from fedmf.errors import FedMFError

NAMES = ("north", "east", "south")
RUN = "20260101-093000-abcd"


def row(number, objective, participants=(0, 1, 2), missing=(), seconds=0.5):
    return {
        "round": number, "objective": objective, "change": 1.0 / number, "rho": 1e-8,
        "participants": list(participants), "missing": list(missing), "uplink_reals": 100,
        "uplink_bytes": 1000, "downlink_bytes": 2000, "seconds": seconds,
    }  # fmt: skip


def about(run=RUN, state="running", rounds=20, warnings=(), **more):
    return {
        "run": run, "state": state, "status": "", "stopping": False, "told": [],
        "by": "coordinator", "submitted": "2026-01-01T09:30:00+00:00", "waiting": [],
        "rounds": rounds, "label": "", "algorithm": "fedmgs", "last": {},
        "job": {"run": {"max_seconds": None}}, "warnings": [list(one) for one in warnings], **more,
    }  # fmt: skip


class Fake:
    """What the server would say."""

    name = "hearts"

    def __init__(self, runs=(), rows=()):
        self.runs, self.rows = list(runs), list(rows)
        self.presence = dict.fromkeys(NAMES, "there")
        self.away, self.asked = False, []

    def status(self, run=None):
        if self.away:
            raise FedMFError("localhost:8443 cannot be reached")
        found = [one for one in self.runs if run is None or one["run"].startswith(run)]
        if run is not None and not found:
            raise FedMFError(f"there is no run {run!r}: see `fedmf status`")
        quiet = {name: None if self.presence[name] == "never" else 2.0 for name in sorted(NAMES)}
        return {"federation": self.name, "sites": quiet, "presence": self.presence,
                "order": list(NAMES), "runs": found}  # fmt: skip

    def history(self, run, start=0):
        self.asked.append(start)
        before = {"objective": 8.0, "uplink_reals": 0, "uplink_bytes": 50, "downlink_bytes": 70}
        return self.rows[start:], before


def busy():
    """Return a federation in the middle of a run, with all that there may be to see."""
    warned = [("2026-01-01 09:30:07+00:00", "round 4: went on without south")]
    runs = [about("20260101-080000-ffff", "failed", status="site <b>north</b>: refused"),
            about(warnings=warned, label="<script>alert(1)</script>", waiting=["east"]),
            about("20260101-100000-0000", "queued")]  # fmt: skip
    rows = [row(number, 8.0 / number) for number in range(1, 4)]
    found = Fake(runs, [*rows, row(4, 1.9, (0, 2), (2,)), row(5, 1.8, (0,))])
    found.presence |= {"east": "at work", "south": "away"}
    return found
