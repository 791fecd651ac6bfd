"""How rho grows during a run: SNCP, the paper's way to clusters by matrix factorisation.

F's term (rho/2) sum_j ((1'h_j)^2 - ||h_j||^2) vanishes where every column of H has one nonzero
entry at most. SNCP starts with next to no penalty and multiplies rho whenever the run has settled,
so that the factorisation turns into a clustering by and by:

    rho_rel <- min(cap, factor * rho_rel)    when the relative change of F is below `threshold`,
                                             or after `patience` rounds at one value

A small change of F does not end a run while rho is about to grow: with few participants those
drawn may just have been at rest. So the run ends at the cap, or at its limit of rounds.

A schedule is what `fit(..., penalty=...)` takes: given the history so far, it returns the next
round's rho (like `Problem.rho`), or None to leave it. It is a function of the history's rows alone
and keeps nothing to itself, so a run that is resumed goes on as if it had never stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any, ClassVar, TypeAlias

from fedmf.algorithms import Algorithm
from fedmf.checks import check_integer, check_real
from fedmf.errors import ParameterError

PenaltySchedule: TypeAlias = Callable[[Sequence[dict[str, Any]]], float | None]

# The paper's thresholds: an average over few sites moves F more than a shared gradient does.
THRESHOLDS = {"fedmavg": 1e-5, "fedpalm": 1e-5}
OTHERWISE = 5e-5  # FedMGS


@dataclass(frozen=True)
class SNCP:
    """The growing penalty.

    Parameters
    ----------
    start, cap : the first and the largest rho, relative to the data like `Problem.rho`.
    factor : over 1; what rho is multiplied by.
    threshold : the relative change of F below which rho grows; None: by the algorithm, 1e-5 for
        FedMAvg and 5e-5 for FedMGS, which `fit` fills in by `for_algorithm`.
    patience : after how many rounds at one value rho grows in any case.
    """

    name: ClassVar[str] = "sncp"

    start: float = 1e-8
    factor: float = 1.5
    threshold: float | None = None
    patience: int = 200
    cap: float = 1.0

    def __post_init__(self) -> None:
        """Check every setting once."""
        check_real("start", self.start, minimum=0, above=True)
        check_real("factor", self.factor, minimum=1, above=True)
        if self.threshold is not None:
            check_real("threshold", self.threshold, minimum=0)
        check_integer("patience", self.patience, minimum=1)
        check_real("cap", self.cap, minimum=0, above=True)
        if self.start > self.cap:
            raise ParameterError(f"start must be at most cap, {self.cap:g}; got {self.start:g}")

    def for_algorithm(self, algorithm: Algorithm) -> SNCP:
        """Return the same with the paper's threshold for this algorithm, where none is set."""
        if self.threshold is not None:
            return self
        return replace(self, threshold=THRESHOLDS.get(algorithm.name, OTHERWISE))

    def __call__(self, rows: Sequence[dict[str, Any]]) -> float | None:
        """Return the next round's rho, or None to leave it, from the rounds so far."""
        if self.threshold is None:
            raise ParameterError(
                "SNCP needs a threshold: set it, or pass SNCP().for_algorithm(algorithm)"
            )
        if not rows:
            return self.start
        rho = float(rows[-1]["rho"])
        if rho >= self.cap:
            return None
        if rho < self.start:
            return self.start
        settled = rows[-1]["change"] < self.threshold
        if settled or _rounds_at(rho, rows) >= self.patience:
            return min(rho * self.factor, self.cap)
        return None


def _rounds_at(rho: float, rows: Sequence[dict[str, Any]]) -> int:
    """Return how many rounds have had this rho without a break."""
    return sum(1 for _ in takewhile(lambda row: row["rho"] == rho, reversed(rows)))
