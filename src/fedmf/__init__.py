"""Federated matrix factorisation: X_p ~ W H_p, a shared W, an H_p that never leaves its site.

    run = fedmf.fit(sites, fedmf.Problem(rank=20), fedmf.FedMGS(q1=10, q2=100, participants=10))

Names are imported when they are first used, so that `import fedmf` costs little.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fedmf.algorithms import Diminishing, FedMAvg, FedMGS, FedPALM
    from fedmf.comparison import compare
    from fedmf.errors import FedMFError
    from fedmf.estimators import FederatedClustering, FederatedNMF
    from fedmf.fitting import fit, resume
    from fedmf.network.client import Federation
    from fedmf.penalties import SNCP
    from fedmf.problem import Problem
    from fedmf.run import Run
    from fedmf.storage import load

_HOMES = {
    "Diminishing": "algorithms",
    "FedMAvg": "algorithms",
    "FedMGS": "algorithms",
    "FedPALM": "algorithms",
    "FederatedClustering": "estimators",
    "FederatedNMF": "estimators",
    "FedMFError": "errors",
    "Federation": "network.client",
    "Problem": "problem",
    "Run": "run",
    "SNCP": "penalties",
    "compare": "comparison",
    "fit": "fitting",
    "load": "storage",
    "resume": "fitting",
}

_PARTS = ("clustering", "datasets", "partitions", "preparation", "theory", "tracking")

__all__ = [
    "SNCP",
    "Diminishing",
    "FedMAvg",
    "FedMFError",
    "FedMGS",
    "FedPALM",
    "FederatedClustering",
    "FederatedNMF",
    "Federation",
    "Problem",
    "Run",
    "compare",
    "fit",
    "load",
    "resume",
]


def __getattr__(name: str) -> Any:
    """Import a public name from its home, or a public part of the package."""
    if name in _PARTS:
        return import_module(f"fedmf.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'fedmf' has no attribute {name!r}")
    value = getattr(import_module(f"fedmf.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted([*__all__, *_PARTS])
