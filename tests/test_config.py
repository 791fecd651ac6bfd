"""Problems and algorithms as tables, through TOML and back."""

import tomllib

import numpy as np
import pytest
import tomli_w

import fedmf
from fedmf.config import Lost, algorithm_from, algorithms, problem_from, to_table
from fedmf.constraints import Box, Constraint, Free, Nonnegative
from fedmf.errors import FedMFError, ParameterError
from fedmf.losses import Squared


class Own(Constraint):
    def project(self, A):
        return A


def through_toml(thing):
    return tomllib.loads(tomli_w.dumps(to_table(thing)))


PROBLEMS = [
    fedmf.Problem(3),
    fedmf.Problem(3, rho=0.1 + 0.2, nu=1e-300, mu=1 / 3, weights="absolute"),
    fedmf.Problem(3, bounds=(0.1, float("inf")), h_bounds="free"),
    fedmf.Problem(3, bounds="nonnegative", loss="squared"),
]
ALGORITHMS = [
    fedmf.FedMGS(),
    fedmf.FedMGS(q1=3, q2=5, participants=2, gamma_h=1.1, gamma_w=1.2),
    fedmf.FedMAvg(q2=fedmf.Diminishing(7), participation="pcp", common_step="lagged"),
    fedmf.FedMAvg(q2=4, divisor=3.5),
    fedmf.FedPALM(steps=2, participants=9),
]


@pytest.mark.parametrize("problem", PROBLEMS)
def test_a_problem_comes_back_the_same(problem):
    assert problem_from(through_toml(problem)) == problem


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_an_algorithm_comes_back_the_same(algorithm):
    assert algorithm_from(through_toml(algorithm)) == algorithm


def test_defaults_may_be_left_out():
    assert problem_from({"rank": 4}) == fedmf.Problem(4)
    assert algorithm_from({"name": "fedmgs"}) == fedmf.FedMGS()


@pytest.mark.parametrize(
    ("given", "plain"),
    [
        (fedmf.Problem(np.int64(3), rho=np.float64(0.5)), fedmf.Problem(3, rho=0.5)),
        (fedmf.Problem(3, rho=np.float32(0.5)), fedmf.Problem(3, rho=0.5)),
        (fedmf.Problem(3, bounds=(np.float32(0.5), np.int8(1))), fedmf.Problem(3, bounds=(0.5, 1))),
        (fedmf.Problem(3, bounds=[0, 1]), fedmf.Problem(3, bounds=(0, 1))),
        (fedmf.Problem(3, bounds=Box(0.5, 1.0)), fedmf.Problem(3, bounds=(0.5, 1.0))),
        (
            fedmf.Problem(3, bounds=Free(), h_bounds=Nonnegative(), loss=Squared()),
            fedmf.Problem(3, bounds="free"),
        ),
    ],
)
def test_a_problem_given_otherwise_comes_back_plain(given, plain):
    assert problem_from(through_toml(given)) == plain


@pytest.mark.parametrize("name", ["q1", "q2", "participants"])
def test_numpy_integers_come_back_plain(name):
    given = fedmf.FedMGS(**{name: np.int64(2)})
    assert algorithm_from(through_toml(given)) == fedmf.FedMGS(**{name: 2})


def test_the_algorithms_are_found_by_name():
    assert {"fedmavg", "fedmgs", "fedpalm"} <= set(algorithms())
    assert all(kind.name == name for name, kind in algorithms().items())


@pytest.mark.parametrize(
    ("build", "table", "what"),
    [
        (
            algorithm_from,
            {"name": "fedx"},
            "^algorithm must be one of .*'fedmgs'.*; got 'fedx'; did you mean 'fedmgs'",
        ),
        (algorithm_from, {}, "^algorithm must be one of .*; got None$"),
        (algorithm_from, {"name": "fedmgs", "q3": 1}, "has no setting 'q3'; it has participants,"),
        (algorithm_from, {"name": "fedmgs", "q1": 0}, "^q1 must be an integer"),
        (algorithm_from, {"name": "fedmavg", "q2": {"a": 1}}, "^a schedule is written"),
        (algorithm_from, {"name": "fedmavg", "q2": {"diminishing": -1}}, "^qhat must be"),
        (problem_from, {"rank": 2, "rnk": 3}, "^problem has no setting 'rnk'; it has rank, rho"),
        (problem_from, {"rank": 0}, "^rank must be an integer"),
        (problem_from, {"rank": 2, "bounds": [2, 1]}, "^bounds must have lower <= upper"),
    ],
)
def test_tables_that_make_no_sense(build, table, what):
    with pytest.raises(FedMFError, match=what) as refused:
        build(table)
    assert "\n" not in str(refused.value)


def test_a_schedule_of_the_users_own_says_that_it_is_lost():
    def schedule(number):
        return number

    table = through_toml(fedmf.FedMAvg(q2=schedule))
    assert "schedule" in table["q2"]
    with pytest.raises(ParameterError, match=r"schedule of your own .*: pass the algorithm"):
        algorithm_from(table)
    lost = Lost(table["q2"])
    with pytest.raises(ParameterError, match="schedule of your own"):
        lost(3)


def test_a_set_of_the_users_own_is_written_down_as_text():
    table = through_toml(fedmf.Problem(3, bounds=Own()))
    assert "Own" in table["bounds"]
    with pytest.raises(FedMFError, match=r"^bounds must be"):
        problem_from(table)
