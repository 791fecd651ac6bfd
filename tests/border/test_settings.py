"""Settings that make no sense are refused in one line."""

import numpy as np
import pytest

import cases
import fedmf
from border.refusals import refused

MGS = fedmf.FedMGS(q1=2, q2=3)


def always(value):
    """Return a schedule that says the same every time."""

    def schedule(*anything):
        return value

    return schedule


@pytest.mark.parametrize(
    ("settings", "what", "kind"),
    [
        ({"rank": 0}, "^rank must be an integer of at least 1, got 0", ValueError),
        ({"rank": -2}, "^rank must be an integer of at least 1, got -2", ValueError),
        ({"rank": True}, "^rank must be an integer of at least 1, got True", TypeError),
        ({"rank": 2.5}, r"^rank must be an integer of at least 1, got 2\.5", TypeError),
        ({"rank": "3"}, "^rank must be an integer of at least 1, got '3'", TypeError),
        ({"rank": None}, "^rank must be an integer of at least 1, got None", TypeError),
        ({"rho": -1}, "^rho must be a finite number of at least 0, got -1", ValueError),
        ({"nu": np.nan}, "^nu must be a finite number of at least 0, got nan", ValueError),
        ({"mu": np.inf}, "^mu must be a finite number of at least 0, got inf", ValueError),
        ({"rho": "a"}, "^rho must be a finite number of at least 0, got 'a'", TypeError),
        ({"nu": True}, "^nu must be a finite number", TypeError),
        ({"bounds": (2, 1)}, r"^bounds must have lower <= upper, got \(2.0, 1.0\)", ValueError),
        (
            {"bounds": "dat"},
            "^bounds must be one of 'data', 'nonnegative', 'free'; got 'd",
            ValueError,
        ),
        ({"bounds": (1, 2, 3)}, "^bounds must be a name or a pair", TypeError),
        ({"bounds": 3}, "^bounds must be a name or a pair .* got 3", TypeError),
        ({"bounds": ("a", 1)}, "^bounds must be a number, got 'a'", TypeError),
        ({"bounds": (0, np.nan)}, "^bounds must be a number, got nan", ValueError),
        ({"bounds": (np.inf, np.inf)}, "^bounds must have a number between them", ValueError),
        ({"bounds": (-np.inf, -np.inf)}, "^bounds must have a number between them", ValueError),
        ({"bounds": np.array([0, 1])}, r"^bounds .* or a pair .* got ndarray$", TypeError),
        ({"bounds": np.ones((50, 50))}, r"^bounds .* or a pair .* got ndarray$", TypeError),
        ({"h_bounds": "data"}, "^h_bounds must be one of 'nonnegative', 'free'; got", ValueError),
        ({"loss": "squarred"}, "^loss must be one of squared.* did you mean 'squared'", ValueError),
        ({"loss": 3}, "^loss must be a Loss, got int", TypeError),
        (
            {"weights": "rel"},
            "^weights must be one of 'relative', 'absolute'; got 'rel'",
            ValueError,
        ),
    ],
)
def test_a_problem_that_makes_no_sense(settings, what, kind):
    with refused(what, kind):
        fedmf.Problem(**{"rank": 2, **settings})


@pytest.mark.parametrize(
    ("algorithm", "settings", "what", "kind"),
    [
        (fedmf.FedMGS, {"q1": 0}, "^q1 must be an integer of at least 1, got 0", ValueError),
        (fedmf.FedMGS, {"q2": 1.0}, "^q2 must be an integer of at least 1, got 1.0", TypeError),
        (
            fedmf.FedMGS,
            {"gamma_h": 1.0},
            "^gamma_h must be a finite number above 1, got 1",
            ValueError,
        ),
        (
            fedmf.FedMGS,
            {"gamma_w": 1.0},
            "^gamma_w must be a finite number above 1, got 1",
            ValueError,
        ),
        (fedmf.FedMGS, {"gamma_w": "2"}, "^gamma_w must be a finite number above 1", TypeError),
        (fedmf.FedMAvg, {"gamma_h": 0.5}, "^gamma_h must be a finite number above 1", ValueError),
        (
            fedmf.FedMAvg,
            {"divisor": 0},
            "^divisor must be a finite number above 0, got 0",
            ValueError,
        ),
        (fedmf.FedMAvg, {"divisor": np.inf}, "^divisor must be a finite number abo", ValueError),
        (fedmf.FedMAvg, {"q1": 0}, "^q1 must be an integer of at least 1, got 0", ValueError),
        (fedmf.FedMAvg, {"q2": 0}, "^q2 must be an integer of at least 1, got 0", ValueError),
        (fedmf.FedMAvg, {"q2": "5"}, "^q2 must be an integer of at least 1, got '5'", TypeError),
        (fedmf.FedMAvg, {"q2": always(0)}, "^q2 must be an integer of at least 1, g", ValueError),
        (fedmf.FedMAvg, {"q2": always(1.5)}, "^q2 must be an integer of at least 1", TypeError),
        (
            fedmf.FedMAvg,
            {"common_step": "x"},
            "^common_step must be one of 'exact', 'la",
            ValueError,
        ),
        (fedmf.FedMAvg, {"participation": "pc"}, "^participation must be one of 'pcc'", ValueError),
        (fedmf.FedPALM, {"steps": 0}, "^steps must be an integer of at least 1, got 0", ValueError),
        (fedmf.Diminishing, {"qhat": -1}, "^qhat must be an integer of at least 0", ValueError),
    ],
)
def test_an_algorithm_that_makes_no_sense(algorithm, settings, what, kind):
    with refused(what, kind):
        algorithm(**settings)


@pytest.mark.parametrize("algorithm", [fedmf.FedMGS, fedmf.FedMAvg, fedmf.FedPALM])
def test_the_number_of_participants(algorithm, sites):
    with refused("^participants must be at most the number of sites, 4; got 5"):
        cases.play(sites, algorithm(participants=5))
    with refused("^participants must be an integer of at least 1, got 0"):
        algorithm(participants=0)
    with refused("^participants must be an integer of at least 1, got True", TypeError):
        algorithm(participants=True)


def test_a_schedule_that_ends_in_nothing_is_refused_when_it_does(sites):
    with refused("^q2 must be an integer of at least 1, got 0"):
        cases.play(sites, fedmf.FedMAvg(q2=lambda s: 3 - s), 9)


@pytest.mark.parametrize(
    ("options", "what", "kind"),
    [
        ({"rounds": 0}, "^rounds must be an integer of at least 1, got 0", ValueError),
        ({"rounds": 2.0}, r"^rounds must be an integer of at least 1, got 2\.0", TypeError),
        ({"tol": -1}, "^tol must be a number of at least 0, got -1", ValueError),
        ({"tol": np.nan}, "^tol must be a number of at least 0, got nan", ValueError),
        ({"tol": "x"}, "^tol must be a number of at least 0, got 'x'", TypeError),
        ({"max_seconds": -1}, "^max_seconds must be a number of at least 0, got -1", ValueError),
        ({"threads": 0}, "^threads must be an integer of at least 1, got 0", ValueError),
        ({"threads": 1.5}, "^threads must be an integer of at least 1", TypeError),
        ({"seed": -1}, "^seed must be an integer from 0 to", ValueError),
        ({"seed": "a"}, "^seed must be an integer from 0 to .* got 'a'", ValueError),
        ({"problem": 3}, "^problem must be a Problem, got int", TypeError),
        ({"penalty": always(np.nan)}, "^penalty must be a finite number", ValueError),
        ({"penalty": always(-1.0)}, "^penalty must be a finite number", ValueError),
        ({"penalty": always("a")}, "^penalty must be a finite number", TypeError),
    ],
)
def test_options_of_fit_that_make_no_sense(options, what, kind, sites):
    with refused(what, kind):
        cases.play(sites, MGS, **options)


def test_an_algorithm_is_an_algorithm(sites):
    with refused("^algorithm must be an Algorithm, got str", TypeError):
        cases.play(sites, "fedmgs")
