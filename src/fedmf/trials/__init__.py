"""Trials: many runs, each said in full by a small record, each computed once and kept.

    from fedmf.trials import Store, Trial, run, run_all

    trials = [
        Trial("tdt2", {"name": "fedmgs", "participants": 10}, rank=30, partition="kmeans",
              cluster={}, seed=seed)
        for seed in range(10)
    ]
    outcome = run_all(trials, Store("docs/results"), workers=16)
    curves = [Store("docs/results").get(trial).frame() for trial in trials]

`Trial` is plain values and makes a key from them, all defaults filled in; `run` runs one, here and
now; `Store` keeps a small JSON file for each key; `run_all` runs what is not there yet, in
processes, and can be stopped and called again at any time. `read_plan` reads many trials from a
small TOML file, and `python -m fedmf.trials PLAN.toml --store DIR` runs them without a terminal.

What a result holds is told in `fedmf.trials.result`. Methods with the same seed and start begin
from the same point, so their curves can be set beside each other. Data that are not built in or in
a file are put into the cache by `Cache.put` under the name "given:DIGEST".
"""

from __future__ import annotations

from fedmf.trials.agenda import Outcome, Progress
from fedmf.trials.crew import run_all
from fedmf.trials.federation import Cache, Spread
from fedmf.trials.plan import Plan, expand, read_plan
from fedmf.trials.result import Result
from fedmf.trials.running import run
from fedmf.trials.store import Store
from fedmf.trials.trial import Trial

__all__ = [
    "Cache",
    "Outcome",
    "Plan",
    "Progress",
    "Result",
    "Spread",
    "Store",
    "Trial",
    "expand",
    "read_plan",
    "run",
    "run_all",
]
