"""Rivals checked by themselves: what each has to reach where the answer is known."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from fedmf.baselines import BEL, CAL, KFED, KMeansParallel, Scene, run
from fedmf.engine import converse
from fedmf.ledger import Ledger
from fedmf.runtimes.local import LocalRuntime

SEEDS = range(3)


def hold(exchange, method, sites):
    """Hold one conversation; return what it returns and the sites' private states."""
    runtime = LocalRuntime(sites, apart=True)
    found = converse(exchange, method, None, runtime, Ledger(), 1)
    return found, runtime.privates()


def scene(sites, seed):
    return Scene(np.array([len(own) for own in sites]), sites[0].shape[1], seed)


def squared(X, centres):
    return ((X[:, None, :] - centres[None]) ** 2).sum(axis=2).min(axis=1)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    "method",
    [KMeansParallel(4), BEL(4, samples=60), CAL(4), CAL(4, n_outliers=4), KFED(4, 4)],
    ids=lambda method: method.name,
)
def test_the_known_optimum_is_reached(method, easy, seed):
    """The clusters are exact; centres from n weighted samples cost (1 + O(1/n)) of the optimum."""
    found = run(easy.sites, method, seed=seed)
    assert adjusted_rand_score(easy.classes, np.concatenate(found.labels)) == 1
    assert found.cost == pytest.approx(easy.optimum, rel=0.25)
    assert found.cost >= easy.optimum * (1 - 1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_km_parallel_ends_in_the_optimum_itself(easy, seed):
    found = run(easy.sites, KMeansParallel(4), seed=seed)
    assert found.cost == pytest.approx(easy.optimum, rel=1e-10)


def test_k_fed_where_sites_hold_few_clusters(make):
    """Its case: K = 9 clusters, sqrt(K) = 3 of them at a site."""
    data = make(sizes=(45,) * 12, features=9, clusters=9, held=3)
    found = run(data.sites, KFED(9), seed=0)
    assert adjusted_rand_score(data.classes, np.concatenate(found.labels)) == 1
    assert found.rounds == 2  # the centres up, the verdict down


def test_km_parallel_is_lloyd_on_the_pooled_samples():
    random = np.random.default_rng(8)
    sites = [random.normal(size=(size, 5)) for size in (70, 3, 120, 40)]
    X, method = np.concatenate(sites), KMeansParallel(6)
    start, _ = hold(method.start(scene(sites, 1)), method, sites)
    found, finals = hold(method.improve(start, scene(sites, 1)), method, sites)
    wanted = KMeans(6, init=start, n_init=1, tol=0, algorithm="lloyd").fit(X)
    assert wanted.n_iter_ > 3  # there was something to do
    np.testing.assert_allclose(found.centres, wanted.cluster_centers_, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(np.concatenate([f.labels for f in finals]), wanted.labels_)
    assert found.cost == pytest.approx(wanted.inertia_, rel=1e-12)


def test_km_parallel_stops_at_its_limit_with_labels_of_its_centres():
    random = np.random.default_rng(8)
    sites = [random.normal(size=(200, 5))]
    found = run(sites, KMeansParallel(6, iterations=2), seed=0)
    np.testing.assert_allclose(found.cost, squared(sites[0], found.centres).sum(), rtol=1e-10)
    assert found.rounds == run(sites, KMeansParallel(6, iterations=1), seed=0).rounds + 1


def test_km_parallel_draws_by_squared_distance(over_wire):
    """In every draw the number of candidates has the mean that its probabilities give it."""
    random = np.random.default_rng(2)
    sites = [random.normal(size=(size, 4)) ** 3 for size in (30, 70)]
    X, method, gaps, variances = np.concatenate(sites), KMeansParallel(2, 20.0, draws=3), [], []
    for seed in range(60):
        runtime = over_wire(sites)
        converse(method.start(scene(sites, seed)), method, None, runtime, Ledger(), 1)
        draws = [talk.updates for talk in runtime.talks if talk.task in ("first", "draw")]
        C = draws[0][0].values
        for updates in draws[1:]:
            new, distance = np.concatenate([own.values for own in updates]), squared(X, C)
            probability = np.minimum(1, 20 * distance / distance.sum())
            gaps.append(len(new) - probability.sum())
            variances.append((probability * (1 - probability)).sum())
            C = np.concatenate([C, new])
    by_draw = np.reshape(gaps, (60, 3)).mean(axis=0)
    scatter = np.sqrt(np.reshape(variances, (60, 3)).mean(axis=0) / 60)
    assert (np.abs(by_draw) <= 4 * scatter).all()


def test_km_parallel_weighs_candidates_by_their_nearest_samples(easy):
    method = KMeansParallel(4, oversampling=1e9, draws=1)
    C, privates = hold(method._candidates(scene(easy.sites, 0)), method, easy.sites)
    assert sorted(map(tuple, C)) == sorted(map(tuple, easy.X))  # probability one for every sample
    for own, private in zip(easy.sites, privates, strict=True):
        np.testing.assert_array_equal(C[private.nearest], own)


BEL_SITES = [
    np.random.default_rng(3).gamma(1.0, size=(size, 3)) * (1 + place)
    for place, size in enumerate((150, 12, 60, 2))
]


def coreset_errors(method, sets, seed):
    """Return estimate minus true cost for sets of centres, and their standard deviation by theory.

    One draw q, of probability m_q / m, adds (m / m_q) (d(q, x) - d(b_q, x)) to the cost of the
    local centres with their full clusters; the estimate is the mean over t such draws, which here
    are shared out among the sites beforehand instead of falling where they may.
    """
    found, privates = hold(method.coreset(scene(BEL_SITES, seed)), method, BEL_SITES)
    X = np.concatenate(BEL_SITES)
    assert found.weights.sum() == pytest.approx(len(X), rel=1e-12)
    cost = np.concatenate([private.squared for private in privates])
    own = np.concatenate([private.centres[private.nearest] for private in privates])
    errors, deviations = [], []
    for centres in sets:
        errors.append(found.weights @ squared(found.rows, centres) - squared(X, centres).sum())
        gain = (squared(X, centres) - squared(own, centres))[cost > 0]
        variance = cost.sum() * (gain**2 / cost[cost > 0]).sum() - gain.sum() ** 2
        deviations.append(np.sqrt(variance / method.samples))
    return errors, deviations


@pytest.mark.parametrize("samples", [7, 40])
def test_the_coreset_cost_is_unbiased(samples):
    method, X = BEL(3, samples=samples), np.concatenate(BEL_SITES)
    sets = (X[:3], X[40:43], np.zeros((1, 3)))
    errors = np.array([coreset_errors(method, sets, seed)[0] for seed in range(150)])
    standard = errors.std(axis=0, ddof=1) / np.sqrt(len(errors))
    assert (np.abs(errors.mean(axis=0)) <= 4 * standard).all()
    # A factor of two in the weights would shift it by up to the local costs: it would be seen.
    assert 4 * standard.min() < 0.5 * local_cost(method)


def local_cost(method):
    _, privates = hold(method.coreset(scene(BEL_SITES, 0)), method, BEL_SITES)
    return sum(private.squared.sum() for private in privates)


def test_the_coreset_cost_is_within_its_guarantee():
    method, random, X = BEL(3, samples=100), np.random.default_rng(0), np.concatenate(BEL_SITES)
    drawn = (X[random.choice(len(X), 3, replace=False)] for _ in range(40))
    sets = [centres + random.normal(size=(3, 3)) for centres in drawn]
    costs = np.array([squared(X, centres).sum() for centres in sets])
    for seed in range(5):
        errors, deviations = np.abs(coreset_errors(method, sets, seed))
        assert (errors <= 5 * deviations).all()
        assert (errors <= 0.2 * costs).all()


def test_a_budget_beyond_the_samples_sends_them_all():
    method = BEL(3, samples=10**6)
    found, privates = hold(method.coreset(scene(BEL_SITES, 0)), method, BEL_SITES)
    # The last site has no cost: its two samples are their own centres, in any order.
    assert sorted(map(tuple, found.rows)) == sorted(map(tuple, np.concatenate(BEL_SITES)))
    np.testing.assert_array_equal(found.weights, 1)
    assert all(private.sent[private.squared > 0].all() for private in privates)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("any_partition", [False, True])
def test_cal_finds_planted_outliers(make, seed, any_partition):
    data = make(sizes=(120, 90, 150, 60), seed=seed)
    random, planted = np.random.default_rng(seed), []
    for own in data.sites:
        rows = np.sort(random.choice(len(own), 3, replace=False))
        own[rows] += 300 * random.normal(size=(3, own.shape[1]))
        planted.append(np.isin(np.arange(len(own)), rows))
    method = CAL(4, n_outliers=12, any_partition=any_partition)
    found = run(data.sites, method, seed=seed)
    for own, wanted in zip(found.outliers, planted, strict=True):
        np.testing.assert_array_equal(own, wanted)
    inliers = ~np.concatenate(planted)
    labels = np.concatenate(found.labels)[inliers]
    assert adjusted_rand_score(data.classes[inliers], labels) == 1


def test_cal_without_outliers_names_none(easy):
    found = run(easy.sites, CAL(4), seed=0)
    assert not np.concatenate(found.outliers).any()


def test_cal_summaries_count_every_sample_once(make, over_wire):
    """8 t_p = 8 samples may be left over; a step draws ceil(alpha kappa) of 2 log n and 2 K."""
    sites, method = make((300, 200, 500, 150)).sites, CAL(4, n_outliers=2)
    runtime = over_wire(sites)
    converse(method.play(scene(sites, 0)), method, None, runtime, Ledger(), 1)
    for own, update in zip(sites, runtime.talks[0].updates, strict=True):
        assert update.weights.sum() == len(own)
        assert update.weights.min() >= 1
        draws = np.ceil(2 * max(np.log(len(own)), 4))
        steps = np.ceil(np.log(len(own) / 8) / -np.log(1 - method.beta))
        assert len(update.weights) <= 8 + max(8, draws * steps) < len(own)
