"""Small federations, plans over them, and all that draws of sites can lead to."""

from itertools import combinations, combinations_with_replacement, product
from math import factorial, prod

import numpy as np

import fedmf
from fedmf.theory import Plan, Turn

RANK, FEATURES = 2, 6
PROBLEM = fedmf.Problem(rank=RANK, bounds=(0, 1), rho=1e-3, nu=2e-3, mu=1e-3)


def federation(sizes, seed=0):
    """Sites of these sizes, near X = W H, and a start."""
    random = np.random.default_rng(seed)
    W, W0 = random.random((2, FEATURES, RANK))
    sites = [
        np.maximum(0, random.random((n, RANK)) @ W.T + random.normal(0, 0.1, (n, FEATURES)))
        for n in sizes
    ]
    return sites, (W0, [random.random((RANK, n)) for n in sizes])


def alike(copies, seed=0):
    """Sites that hold the same few samples, some of them several times, almost exactly."""
    random = np.random.default_rng(seed)
    (samples,), (W0, (H0,)) = federation([4], seed)
    noise = [random.normal(0, 1e-3, (4 * k, FEATURES)) for k in copies]
    pairs = zip(copies, noise, strict=True)
    sites = [np.maximum(0, np.tile(samples, (k, 1)) + own) for k, own in pairs]
    return sites, (W0, [np.tile(H0, (1, k)) for k in copies])


def absolute(sites):
    """The absolute rho, nu and mu of PROBLEM on these sites."""
    scale = sum(np.sum(X**2) for X in sites) / sum(len(X) for X in sites)
    return PROBLEM.rho * scale, PROBLEM.nu * scale, PROBLEM.mu * scale


def sharing(sites, draws, q1, q2, of_c, of_d, full=False):
    """A plan of FedMGS with c = of_c L_H and d = of_d L_W; draws holds each round's sites."""
    turns = [Turn(np.array(drawn), q2, absolute(sites)[0]) for drawn in draws]
    return Plan(True, full, q1, turns, lambda L: of_c * L, lambda k: of_d * k.common)


def averaging(sites, draws, q1, q2, c, of_d, full=False):
    """A plan of FedMAvg with d = of_d L_W; q2 holds each round's steps."""
    pairs = zip(draws, q2, strict=True)
    turns = [Turn(np.array(drawn), steps, absolute(sites)[0]) for drawn, steps in pairs]
    return Plan(False, full, q1, turns, c, lambda k: of_d * k.mean)


def all_subsets(P, m, rounds):
    """All that drawing m of P sites without replacement can lead to; all are equally likely."""
    return list(product(combinations(range(P), m), repeat=rounds))


def all_draws(sites, m, rounds):
    """All that drawing m sites with replacement by their sizes can lead to, with the chances."""
    omega = np.array([len(X) for X in sites]) / sum(len(X) for X in sites)
    one_round = []
    for drawn in combinations_with_replacement(range(len(sites)), m):
        times = np.bincount(drawn, minlength=len(sites))
        ways = factorial(m) / prod(factorial(int(k)) for k in times)
        one_round.append((drawn, ways * float(np.prod(omega**times))))
    every = list(product(one_round, repeat=rounds))
    return [[d for d, _ in one] for one in every], [prod(p for _, p in one) for one in every]
