"""Clusters from a factorisation: the growing penalty (see `fedmf.penalties`), and what the
columns of H say.

fedmf.fit(sites, problem, algorithm, penalty=SNCP())
"""

from __future__ import annotations

from fedmf.clustering.columns import labels, memberships, orthogonality
from fedmf.penalties import SNCP

__all__ = ["SNCP", "labels", "memberships", "orthogonality"]
