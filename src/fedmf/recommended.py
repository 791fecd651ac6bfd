"""What is recommended for clusters: the one place where the product's defaults for them stand.

`FederatedClustering`, `fedmf fit --cluster`, jobs of a real federation and `fedmf compare` all take
from here what their user does not say. docs/explanation/starts.md has the figures: from a start
that was found across the sites, a penalty that is large enough from the first round on keeps what
the start has found, where the paper's 1e-8 forgets it again; from a random start there is nothing
to keep, and the paper's it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from fedmf.errors import ParameterError
from fedmf.penalties import SNCP

INIT = "linkage"  # the start: one of `fedmf.starts`
ROUNDS, TOL = 1000, 1e-8  # where a run ends
RHO, RHO_RANDOM = 1e-4, 1e-8  # where SNCP begins, and where it does from a random start
RUN: dict[str, Any] = {"init": INIT, "rounds": ROUNDS, "tol": TOL}


@dataclass(frozen=True)
class Recommended:
    """SNCP that begins where it is best for the start that a run really had.

    `fit(penalty=Recommended())` and all that stands above it; the run itself has the `SNCP`.
    """

    settings: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check every setting once."""
        allowed = [one.name for one in fields(SNCP)]
        for name in self.settings:
            if name not in allowed:
                raise ParameterError(
                    f"penalty 'sncp' has no setting {name!r}; it has {', '.join(allowed)}"
                )
        self.after(random=False), self.after(random=True)

    def after(self, *, random: bool) -> SNCP:
        """Return the SNCP for a run from a random start, or from any other."""
        cap = self.settings.get("cap", SNCP.cap)
        begin = min(RHO_RANDOM if random else RHO, cap)
        return SNCP(**{"start": begin, **self.settings})

    def __call__(self, rows: Any) -> float | None:
        """Say that it is `fit` that knows the start."""
        raise ParameterError("a recommended penalty is for fit, which knows how the run begins")
