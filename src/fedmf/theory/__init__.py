"""The paper's theory on finished runs: how far from stationary, and what its theorems promise.

    end = stationarity(sites, run)             # G_H and G_W where the run ended
    gaps(sites, run).relative                  # the same as shares of where it began
    walk = trace(sites, run)                   # the run again, step by step, with every G_H and G_W
    print(theorem2(walk))                      # the measured average gap, the bound, the conditions

`trace` replays what `fit` did; `follow` takes steps of any size, those included that break a
theorem's conditions. docs/explanation/theory.md says what is computed and where the paper slips.
"""

from __future__ import annotations

from fedmf.theory.bounds import Bound, corollary1, theorem1, theorem2
from fedmf.theory.plan import Plan, Turn, plan_of
from fedmf.theory.replay import Round, Trace, follow, trace
from fedmf.theory.scene import Curvature
from fedmf.theory.stationary import Gap, Gaps, gaps, stationarity

__all__ = [
    "Bound",
    "Curvature",
    "Gap",
    "Gaps",
    "Plan",
    "Round",
    "Trace",
    "Turn",
    "corollary1",
    "follow",
    "gaps",
    "plan_of",
    "stationarity",
    "theorem1",
    "theorem2",
    "trace",
]
