"""Small federations, comparisons of runs, and the replay of a run by literal.py."""

import inspect

import numpy as np
from scipy import sparse

import fedmf
import literal

SIZES = (1, 4, 9, 2)
FEATURES, RANK = 7, 3

# Every kind of run: name -> (algorithm, more arguments of fit).
RUNS = {
    "fedmgs all": fedmf.FedMGS(q1=3, q2=5),
    "fedmgs m=2": fedmf.FedMGS(q1=3, q2=5, participants=2),
    "fedmavg all exact": fedmf.FedMAvg(q1=3, q2=4),
    "fedmavg pcc exact": fedmf.FedMAvg(q1=3, q2=4, participants=3),
    "fedmavg pcc exact diminishing": fedmf.FedMAvg(q2=fedmf.Diminishing(5), participants=3),
    "fedmavg pcc lagged diminishing": fedmf.FedMAvg(
        q1=2, q2=fedmf.Diminishing(4), participants=3, common_step="lagged"
    ),
    "fedmavg all lagged": fedmf.FedMAvg(q1=3, q2=4, common_step="lagged"),
    "fedmavg pcp exact": fedmf.FedMAvg(q1=3, q2=2, participants=3, participation="pcp"),
    "fedmavg pcp lagged": fedmf.FedMAvg(
        q1=2, q2=3, participants=3, participation="pcp", common_step="lagged"
    ),
    "fedpalm all": fedmf.FedPALM(steps=3),
    "fedpalm m=3": fedmf.FedPALM(steps=2, participants=3),
}


def federation(seed=0, sizes=SIZES, features=FEATURES, rank=RANK, low=0.0):
    """Return sites with uniform entries in [low, 1), samples in rows, and a start (W0, [H0])."""
    random = np.random.default_rng(seed)
    sites = [low + (1 - low) * random.random((size, features)) for size in sizes]
    return sites, (random.random((features, rank)), [random.random((rank, n)) for n in sizes])


def play(sites, algorithm, rounds=5, problem=None, **options):
    """Return a run of exactly that many rounds."""
    problem = problem or fedmf.Problem(RANK, rho=1e-2, nu=1e-3, mu=1e-3)
    return fedmf.fit(sites, problem, algorithm, **{"rounds": rounds, "tol": 0, **options})


def replay(run, sites, init):
    """Return the rounds of a run as literal.py plays them with the same draws and start."""
    X = [(own.toarray() if sparse.issparse(own) else own).T for own in sites]
    figures, problem, algorithm = literal.figures(X), run.problem, run.algorithm
    scale = figures.norm2 / figures.N if problem.weights == "relative" else 1.0
    box = {
        "data": (figures.min, figures.max),
        "free": (-np.inf, np.inf),
        "nonnegative": (0.0, np.inf),
    }
    lower, upper = box.get(problem.bounds, problem.bounds)
    draws = run.history["participants"].tolist()
    options = {
        **{name: getattr(problem, name) * scale for name in ("rho", "nu", "mu")},
        "lower": lower,
        "upper": upper,
        "h_lower": {"nonnegative": 0.0, "free": -np.inf}[problem.h_bounds],
        "full": algorithm.participants in (None, len(sites)),
        **vars(algorithm),
    }
    if callable(getattr(algorithm, "q2", None)):
        options["q2"] = [algorithm.q2(number + 1) for number in range(len(draws))]
    elif algorithm.name == "fedmavg":
        options["q2"] = [algorithm.q2] * len(draws)
    play_it = getattr(literal, algorithm.name)
    known = inspect.signature(play_it).parameters
    return play_it(X, *init, draws, **{k: v for k, v in options.items() if k in known})


def near(got, wanted, rtol=1e-10):
    """Assert that two arrays agree, relative to the largest entry."""
    got, wanted = np.asarray(got), np.asarray(wanted)
    assert got.shape == wanted.shape
    np.testing.assert_allclose(got, wanted, rtol=0, atol=rtol * max(np.abs(wanted).max(), 1e-300))


def agree(run, rounds, rtol=1e-10):
    """Assert that a run is the one that literal.py (or a loop in a test) played."""
    near(run.W, rounds[-1]["W"], rtol)
    for own, wanted in zip(run.H, rounds[-1]["H"], strict=True):
        near(own, wanted, rtol)
    objective = [each["objective"] for each in rounds]
    np.testing.assert_allclose(run.history["objective"], objective, rtol=rtol)


def alike(one, other, rtol=1e-10):
    """Assert that two runs on the same sites agree to rounding."""
    near(one.W, other.W, rtol)
    near(np.hstack(one.H), np.hstack(other.H), rtol)
    np.testing.assert_allclose(one.history["objective"], other.history["objective"], rtol=rtol)


def same(one, other):
    """Assert that two runs are the same, bit for bit."""
    assert one.W.dtype == other.W.dtype
    np.testing.assert_array_equal(one.W, other.W)
    for own, wanted in zip(one.H, other.H, strict=True):
        np.testing.assert_array_equal(own, wanted)
    history = [run.history.drop(columns="seconds") for run in (one, other)]
    assert history[0].equals(history[1])
    assert one.ledger.frame().equals(other.ledger.frame())
    assert one.position[:1] + one.position[2:5] == other.position[:1] + other.position[2:5]


def growing(rows):
    """Return a penalty schedule's answer: half as much again every second round."""
    return rows[-1]["rho"] * (1.5 if len(rows) % 2 else 1.0) if rows else None


# Every kind of run whose state differs, alone and with a penalty that grows.
STATES = {
    "fedmgs m=2": None,
    "fedmgs all": growing,
    "fedmavg pcc exact": None,
    "fedmavg pcc lagged diminishing": None,
    "fedmavg pcp exact": growing,
    "fedmavg pcp lagged": None,
    "fedpalm m=3": growing,
}
