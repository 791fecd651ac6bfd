"""All methods on one federation, side by side: how good, at what cost, and with what sent.

    found = fedmf.compare(sites, n_clusters=10, labels=classes)
    print(found.table())
    found.save("comparison")

lineup -> trials -> results -> table, frame, files: which methods there are, each method and seed as
a `fedmf.trials.Trial` on data that are put beside them, and what came out.
"""

from __future__ import annotations

from fedmf.comparison.comparing import compare
from fedmf.comparison.outcome import Comparison

__all__ = ["Comparison", "compare"]
