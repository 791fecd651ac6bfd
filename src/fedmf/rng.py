"""Named random streams from one seed.

A stream depends on (seed, purpose, round, site) alone, so neither the number of threads nor the
order in which sites answer can change what is drawn.
"""

from __future__ import annotations

import secrets
from hashlib import blake2b

import numpy as np

from fedmf.errors import ParameterError


def stream(seed: int, purpose: str, round_: int = 0, site: int = 0) -> np.random.Generator:
    """Return the generator that belongs to one purpose, round and site."""
    code = int.from_bytes(blake2b(purpose.encode(), digest_size=4).digest())
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(code, round_, site)))


def resolve_seed(seed: object) -> int:
    """Return `seed` as a nonnegative integer; None draws a fresh one, to be recorded."""
    if seed is None:
        return secrets.randbits(63)
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not 0 <= seed < 2**63:
        raise ParameterError(f"seed must be an integer from 0 to 2**63 - 1 or None, got {seed!r}")
    return int(seed)
