"""SNCP as a rule on the history's rows, and runs under it; columns of H as clusters."""

import numpy as np
import pytest

import fedmf
from fedmf.clustering import SNCP, labels, memberships, orthogonality

RULE = SNCP(threshold=1e-5)


def rows(*pairs):
    return [{"rho": rho, "change": change} for rho, change in pairs]


def test_begins_with_start():
    assert RULE([]) == 1e-8
    assert RULE(rows((0.0, 1e-9))) == 1e-8
    assert SNCP(start=1e-3, threshold=1e-5)(rows((1e-8, 1.0))) == 1e-3


@pytest.mark.parametrize(("change", "following"), [(0.9e-5, 1e-8 * 1.5), (1e-5, None), (0.1, None)])
def test_grows_when_the_change_is_below_the_threshold(change, following):
    assert RULE(rows((1e-8, 0.5), (1e-8, change))) == following


def test_only_the_last_round_counts_for_the_threshold():
    assert RULE(rows((1e-8, 1e-9), (1e-8, 0.5))) is None


def test_grows_when_patience_is_at_its_end():
    moving = rows(*[(1e-8, 0.5)] * 200)
    assert RULE(moving[:199]) is None
    assert RULE(moving) == 1e-8 * 1.5


def test_patience_counts_only_the_rounds_at_the_present_value():
    impatient = SNCP(threshold=1e-5, patience=3)
    history = rows((2e-8, 0.5), (2e-8, 0.5), (1e-8, 0.5), (2e-8, 0.5), (2e-8, 0.5))
    assert impatient(history) is None
    assert impatient([*history, history[-1]]) == 2e-8 * 1.5


def test_never_passes_the_cap():
    assert RULE(rows((0.9, 1e-9))) == 1.0
    assert RULE(rows((1.0, 1e-9))) is None


def test_the_number_of_values_from_start_to_cap():
    history = rows((1e-8, 0.0))
    while (rho := RULE(history)) is not None:
        history += rows((rho, 0.0))
    assert len(history) == 1 + int(np.ceil(np.log(1e8) / np.log(1.5))) == 47


def test_the_threshold_is_the_algorithms():
    assert SNCP().for_algorithm(fedmf.FedMAvg()).threshold == 1e-5
    assert SNCP().for_algorithm(fedmf.FedMGS()).threshold == 5e-5
    assert SNCP(threshold=0.5).for_algorithm(fedmf.FedMGS()).threshold == 0.5
    with pytest.raises(fedmf.FedMFError, match=r"SNCP needs a threshold: .*for_algorithm"):
        SNCP()([])


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"start": 0}, "start must be a .*number above 0, got 0"),
        ({"start": 2.0}, "start must be at most cap, 1; got 2"),
        ({"factor": 1}, "factor must be a .*number above 1, got 1"),
        ({"threshold": -1}, "threshold must be a .*number of at least 0, got -1"),
        ({"patience": 0}, "patience must be an integer of at least 1, got 0"),
        ({"patience": 1.5}, "patience must be an integer of at least 1, got 1.5"),
    ],
)
def test_settings_are_checked(settings, text):
    with pytest.raises(fedmf.FedMFError, match=text):
        SNCP(**settings)


def clustered(seed=0):
    """Five sites, three clusters, no noise to speak of."""
    random = np.random.default_rng(seed)
    W, classes = random.random((8, 3)), random.integers(3, size=50)
    X = W[:, classes] * random.uniform(0.5, 2, 50) + 0.01 * random.random((8, 50))
    return np.split(X.T, 5), classes


@pytest.mark.parametrize("algorithm", [fedmf.FedMGS(), fedmf.FedMAvg()], ids=lambda a: a.name)
def test_a_run_ends_with_one_cluster_for_each_sample(algorithm):
    sites, _ = clustered()
    penalty = SNCP(patience=20).for_algorithm(algorithm)
    run = fedmf.fit(sites, fedmf.Problem(3), algorithm, 800, tol=0, seed=1, penalty=penalty)
    plain = fedmf.fit(sites, fedmf.Problem(3), algorithm, 800, tol=0, seed=1)
    rho = run.history.rho
    assert rho[0] == 1e-8
    assert rho.iloc[-1] == rho.max() == 1.0
    ratios = (rho / rho.shift())[1:-1]
    assert set(np.round(ratios[rho < 1.0], 9)) == {1.0, 1.5}
    assert orthogonality(run.H) == 0.0 < orthogonality(plain.H)


@pytest.mark.parametrize("stop", [1, 7, 40, 80])
def test_a_resumed_run_goes_on_bit_for_bit(stop, tmp_path):
    sites, _ = clustered()
    algorithm = fedmf.FedMGS(q2=20, participants=3)
    penalty = SNCP(patience=5).for_algorithm(algorithm)
    whole = fedmf.fit(sites, fedmf.Problem(3), algorithm, 100, tol=0, penalty=penalty)
    half = fedmf.fit(sites, fedmf.Problem(3), algorithm, stop, tol=0, penalty=penalty)
    half.save(tmp_path / "run")
    again = fedmf.resume(fedmf.load(tmp_path / "run"), sites, 100, tol=0, penalty=penalty)
    assert np.array_equal(again.W, whole.W)
    columns = ["objective", "change", "rho"]
    assert again.history[columns].equals(whole.history[columns])


def test_labels_are_the_largest_entries():
    H = np.array([[0.0, 2.0, 1.0], [3.0, 0.0, 1.0]])
    assert labels(H).tolist() == [1, 0, 0]
    assert labels([H, H[:, :1]]).tolist() == [1, 0, 0, 1]
    assert labels(H).dtype == np.int64


def test_memberships_add_up_to_one_and_nothing_is_alike():
    H = np.array([[1.0, 0.0, 0.0], [3.0, 0.0, 1e-320]])
    assert memberships(H).tolist() == [[0.25, 0.5, 0.0], [0.75, 0.5, 1.0]]
    assert memberships(H.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize(
    ("H", "expected"),
    [
        ([[1.0, 0.0], [0.0, 1e-200]], 0.0),
        ([[1.0, 2.0], [1.0, 2.0]], 1.0),
        ([[3.0, 0.0], [1.0, 0.0]], 16 / 10 - 1),  # a column of zeros does not count
        ([[0.0], [0.0]], 0.0),
        ([[5.0, 6.0]], 0.0),  # K = 1
    ],
)
def test_orthogonality(H, expected):
    H = np.array(H)
    assert orthogonality(H) == pytest.approx(expected, abs=1e-15)
    assert orthogonality([H, H]) == pytest.approx(expected, abs=1e-15)
    assert orthogonality(1e-9 * H) == pytest.approx(expected, abs=1e-15)


def test_orthogonality_is_the_mean_over_columns():
    H = np.array([[1.0, 1.0], [0.0, 1.0], [0.0, 1.0]])
    assert orthogonality(H) == pytest.approx(0.5)
