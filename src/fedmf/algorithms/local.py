"""A site's own steps on W, and the curvature that decides their size.

For the squared loss a site's steps have a fixed Hessian A_p = (2/N_p) H_p H_p' + mu I and a fixed
right-hand side (2/N_p) X_p H_p', and no projection: Q2 of them are one affine map
W P_p + (2/N_p) X_p H_p' S_p. A weighted sum over sites is then W (sum of P_p) plus one product of
X with a changed H: no site's own W_p is ever formed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fedmf.arrays import Array, beside, space
from fedmf.kernels import affine_powers
from fedmf.problem import Goal
from fedmf.sites import Cohort


def curvatures(goal: Goal, data: Cohort, W: Array, H: Array) -> Array:
    """Return each site's (k, k) curvature of Phi in W, (b, k, k): they add up over sites."""
    if goal.squared:
        return np.multiply(2, data.grams(H))
    pairs = zip(data.apart(), data.split(H), strict=True)
    return np.stack([goal.loss.curvature_W(site, W, part) for site, part in pairs])


def guarded(largest: Array, common: float, steps: int, gamma: float) -> Array:
    """Return each site's step divisor, (b,): the common one, or a larger one where that diverges.

    `largest` is the largest curvature of each site's F_p in W, (b,). It may lie far above that of
    F (one sample, say), and then several local steps with the common divisor would grow without
    bound. A single step needs no guard: the average of single steps is a step on F itself.
    Where no site has any curvature there is no gradient either, and any divisor does.
    """
    if steps == 1 and common > 0:
        return np.full(len(largest), common)
    larger = np.maximum(common, gamma / 2 * largest)
    divisors: Array = np.where(larger > 0, larger, 1.0)
    return divisors


def largest_curvature(goal: Goal, data: Cohort, W: Array, H: Array) -> Array:
    """Return the largest curvature of each site's F_p in W, (b,)."""
    own = curvatures(goal, data, W, H)
    return np.add(np.linalg.eigvalsh(own)[:, -1] / data.sizes, goal.mu)


class Steps(NamedTuple):
    """How a site's own steps on W are taken."""

    common: float  # the common divisor
    number: int  # Q2
    gamma: float  # of the guard


def weighted_models(
    goal: Goal, data: Cohort, W: Array, H: Array, steps: Steps, weight: Array
) -> Array:
    """Return sum_p weight_p W_p, (M, K): each W_p after unprojected steps from W."""
    if goal.squared:
        return _affine_models(goal, data, W, H, steps, weight)
    largest = largest_curvature(goal, data, W, H)
    divisors = guarded(largest, steps.common, steps.number, steps.gamma)
    total = np.zeros(W.shape)
    parts = zip(data.apart(), data.split(H), divisors, weight, strict=True)
    for site, own_H, divisor, own_weight in parts:
        W_p = W
        for _ in range(steps.number):
            W_p = W_p - gradient_W(goal, site, W_p, own_H) / W.dtype.type(divisor)
        total += own_weight * W_p
    return total.astype(W.dtype)


def gradient_W(goal: Goal, data: Cohort, W: Array, H: Array) -> Array:
    """Return the gradient of a single site's F_p in W."""
    size = W.dtype.type(data.shape[0])
    return goal.loss.gradient_W(data, W, H) / size + W.dtype.type(goal.mu) * W


def _affine_models(
    goal: Goal, data: Cohort, W: Array, H: Array, steps: Steps, weight: Array
) -> Array:
    factor = (2 / data.sizes)[:, None, None]
    values, Q = np.linalg.eigh(factor * data.grams(H))
    values += goal.mu
    divisors = guarded(values[:, -1], steps.common, steps.number, steps.gamma)
    P, S = affine_powers(values, Q, divisors, steps.number)
    share = weight[:, None, None]
    changed = space(H).empty_like(H)
    for own, old, new in zip(share * factor * S, data.split(H), data.split(changed), strict=True):
        new[...] = beside(own, old) @ old
    mean: Array = (share * P).sum(axis=0).astype(W.dtype)
    return np.add(W @ mean, data.moment(changed))
