"""FedMGS with all sites never raises F, on random problems.

The slack. F and the steps are sums of products, along chains of at most n = N + M + M K + 3 K +
3 rounds + 16 roundings (a gram over N samples, a sum over M K terms, G1 and G2 added up over the
rounds). With every term made positive F is at most, by Cauchy and Schwarz,

    S = (||X|| + ||W|| ||H||)^2 / N + (rho K + nu) ||H||^2 / 2 + mu ||W||^2 / 2

at the largest ||W||, ||H|| that there were. One value of F is off by at most n eps S, and so is the
decrease that a rounded step misses, a difference of such terms: a rise of 4 n eps S is rounding.

W0 may lie outside W's box, and FedMGS does not project it: from round 1 on W is inside.
"""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import cases
import fedmf

weights = st.sampled_from([0.0, 1e-8, 1e-3, 0.1, 1.0])


@given(
    seed=st.integers(0, 10_000),
    sizes=st.lists(st.integers(1, 12), min_size=1, max_size=4),
    features=st.integers(1, 8),
    rank=st.integers(1, 5),
    low=st.sampled_from([0.0, -1.0]),
    scale=st.sampled_from([1e-6, 1.0, 1e6]),
    steps=st.tuples(st.integers(1, 12), st.integers(1, 60)),
    settings=st.fixed_dictionaries(
        {
            "rho": weights,
            "nu": weights,
            "mu": weights,
            "bounds": st.sampled_from(["data", "free"]),
        }
    ),
)
def test_fedmgs_with_all_sites_never_raises_F(
    seed, sizes, features, rank, low, scale, steps, settings
):
    sites, _ = cases.federation(seed, sizes, features, rank, low)
    sites = [scale * own for own in sites]
    W, H = [], []

    def watch(position):
        W.append(np.sum(position.server.W**2))
        H.append(np.trace(position.server.G1) * sum(sizes) / 2)

    problem = fedmf.Problem(rank, **settings)
    algorithm = fedmf.FedMGS(q1=steps[0], q2=steps[1])
    run = cases.play(sites, algorithm, 8, problem, seed=seed, callback=watch)
    N, goal = run.goal.known.samples, run.goal
    start = goal.known.mean_absolute / rank  # a^2, a above every entry of the start
    WW, HH = max(*W, features * rank * start), max(*H, N * rank * start)
    S = (np.sqrt(goal.known.squared_norm) + np.sqrt(WW * HH)) ** 2 / N
    S += (goal.rho * rank + goal.nu) * HH / 2 + goal.mu * WW / 2
    n = N + features + features * rank + 3 * rank + 3 * 8 + 16
    F = list(run.history["objective"])
    if settings["bounds"] == "free":
        F.insert(0, run.initial_objective)
    assert (np.diff(F) <= 4 * n * np.finfo(float).eps * S).all()


@given(seed=st.integers(0, 10_000), rank=st.integers(1, 5), q1=st.integers(1, 9))
def test_fedavg_with_single_steps_on_W_never_raises_F(seed, rank, q1):
    """The omega-weighted average of single steps is a step on F with 5 times the curvature."""
    sites, _ = cases.federation(seed, rank=rank, low=-1)
    problem = fedmf.Problem(rank, bounds="free", rho=1e-2)
    run = cases.play(sites, fedmf.FedMAvg(q1=q1, q2=1), 8, problem, seed=seed)
    F = np.array([run.initial_objective, *run.history["objective"]])
    # F is below 16 ||X||^2 / N at the start, with under 200 roundings.
    scale = np.sum(np.vstack(sites) ** 2) / 16
    assert (np.diff(F) <= 4 * 200 * np.finfo(float).eps * 16 * scale).all()
