"""Each site's terms of F, which add up to it: known where all data are in one process.

    F = sum_p (Phi(X_p, W H_p) / N + R_H(H_p)) + R_W(W)

A federation has no use for them, so no site sends its own: they are for a look at a simulation.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fedmf.arrays import Array
from fedmf.problem import Goal
from fedmf.sites import Cohort


def site_terms(goal: Goal, cohorts: Sequence[Cohort], W: Array, H: Sequence[Array]) -> Array:
    """Return every site's three sums (loss, overlap, energy; see `Parts`), (P, 3)."""
    return np.concatenate([_terms(goal, *pair, W) for pair in zip(cohorts, H, strict=True)])


def contributions(goal: Goal, terms: Array, rho: float) -> Array:
    """Return what each site adds to F, (P,): all of F but R_W."""
    loss, overlap, energy = terms.T
    shares: Array = loss / goal.known.samples + rho / 2 * overlap + goal.nu / 2 * energy
    return shares


def _terms(goal: Goal, data: Cohort, H: Array, W: Array) -> Array:
    wide = H.astype(np.float64, copy=False)
    energy = np.einsum("kn,kn->n", wide, wide)
    overlap = wide.sum(axis=0) ** 2 - energy
    inside = np.add.reduceat(np.stack([overlap, energy]), data.edges[:-1], axis=1)
    return np.column_stack([_losses(goal, data, wide, W), *inside])


def _losses(goal: Goal, data: Cohort, H: Array, W: Array) -> Array:
    """Return Phi(X_p, W H_p) of every site of a cohort, (b,)."""
    if not goal.squared:
        pairs = zip(data.apart(), data.split(H), strict=True)
        return np.array([goal.loss.value(own, W, part.astype(W.dtype)) for own, part in pairs])
    wide = W.astype(np.float64, copy=False)
    norms = [own.squared_norm for own in data.apart()]
    inner = np.einsum("kn,kn->n", (wide.T @ wide) @ H - 2 * data.cross(W), H)
    losses: Array = np.array(norms) + np.add.reduceat(inner, data.edges[:-1])
    return losses
