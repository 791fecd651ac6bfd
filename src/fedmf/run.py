"""A run: what came out, how it got there, and all that is needed to go on.

A run's folder holds

    config.toml        the settings as they were given
    resolved.toml      the same with everything filled in, and the versions of what computed it
    history.parquet    a row a round
    ledger.parquet     a row for each round, task and site
    model.safetensors  W, H, the state of server and sites, and all of the above once more

Every file is written under a temporary name and renamed. A run is read from its model alone, so
that after a kill at any moment the folder holds a complete run, to be gone on with. Nothing here
is ever unpickled.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from fedmf.algorithms import Algorithm
from fedmf.arrays import Array, IntArray
from fedmf.engine import Position
from fedmf.errors import MissingDataError
from fedmf.ledger import Ledger
from fedmf.penalties import PenaltySchedule
from fedmf.problem import Goal, Problem

if TYPE_CHECKING:
    from os import PathLike

    import pandas as pd


@dataclass
class Run:
    """A finished, stopped or saved run.

    Attributes
    ----------
    W : (M, K), the columns that all sites share.
    H : list of (K, n_p), in the order of the sites.
    history : data frame, a row a round.
    status : in words, why the run ended; `converged` says whether it did so by itself.
    """

    problem: Problem
    algorithm: Algorithm
    goal: Goal
    seed: int
    figures: Array  # (P, 6), each site's from the set-up exchange
    position: Position
    private: Any  # the sites' private state, side by side
    rows: list[dict[str, Any]]
    ledger: Ledger
    initial_objective: float
    status: str = "not started"
    converged: bool = False
    settings: dict[str, Any] = field(default_factory=dict)
    penalty: PenaltySchedule | None = None
    fingerprints: Array = field(default_factory=lambda: np.full(1, np.nan))  # (P,), where known
    features: tuple[str, ...] | None = None
    terms: Array | None = None  # (P, 3), each site's of F at the end, where all are in one process
    notes: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def sizes(self) -> IntArray:
        """N_p of every site."""
        return self.figures[:, 0].astype(np.int64)

    @property
    def W(self) -> Array:
        """The shared factor, (M, K)."""
        return self.position.server.W  # type: ignore[no-any-return]

    @property
    def H(self) -> list[Array]:
        """Each site's factor, (K, n_p)."""
        if self.private is None:
            raise MissingDataError("H stays at the sites: each finds its own among its results")
        return np.split(self.private.H, np.cumsum(self.sizes)[:-1], axis=1)

    @property
    def rho(self) -> float:
        """The penalty that the last round had, in absolute terms."""
        return self.position.rho * self.goal.scale

    @property
    def labels(self) -> list[IntArray]:
        """Each sample's cluster, site by site: the largest entry of its column of H."""
        return [own.argmax(axis=0) for own in self.H]

    def transform(self, X: Any) -> Array:
        """Return the best weights (n, K) of new samples X (n, M) for this W."""
        from fedmf.border import as_rows
        from fedmf.inference import infer

        return infer(self.goal, self.W, as_rows(X, "X"), self.rho).T

    @property
    def history(self) -> pd.DataFrame:
        """A row a round."""
        import pandas as pd

        more = [name for name in (self.rows[0] if self.rows else ()) if name not in HISTORY]
        return pd.DataFrame(self.rows, columns=[*HISTORY, *more])

    @property
    def communication(self) -> pd.DataFrame:
        """What was sent in all, by round: the set-up and the first upload are round 0."""
        import pandas as pd

        return pd.DataFrame(self.ledger.by_round()).groupby("round").sum().cumsum()

    def __repr__(self) -> str:
        """Say in a line what was run and how far; no array, and nothing of a sample."""
        known = self.goal.known
        return (
            f"<Run: {self.algorithm.name}, N = {known.samples}, M = {known.features}, "
            f"P = {len(self.sizes)}, K = {self.goal.rank}; "
            f"F = {self.position.objective:.6g} after round {self.position.round}; {self.status}>"
        )

    def save(self, folder: str | PathLike[str]) -> None:
        """Write the run's folder."""
        from fedmf.storage import save

        save(self, folder)


HISTORY = (
    "round",
    "objective",
    "change",
    "rho",
    "participants",
    "uplink_reals",
    "uplink_bytes",
    "downlink_bytes",
    "seconds",
)


def row(position: Position) -> dict[str, Any]:
    """Return the history's row of a round."""
    return {
        "round": position.round,
        "objective": position.objective,
        "change": position.change,
        "rho": position.rho,
        "participants": position.participants.tolist(),
        **position.sent,
        "seconds": position.seconds,
    }
