"""Sites in this process: who is asked, how answers are added, and how cohorts are made."""

from typing import NamedTuple

import numpy as np
import pytest

from fedmf.messages import Nothing, Task, ask
from fedmf.private import Columns
from fedmf.runtimes.local import LocalRuntime

SIZES = (1, 4, 9, 2)


class State(NamedTuple):
    H: Columns


class Update(NamedTuple):
    total: object
    sites: object


class Summing:
    """Every site sends the sum of its data, weighted, and counts how often it was asked."""

    def __init__(self, each=False):
        self.each = each

    def tasks(self):
        return {"sum": Task(self.answer, each=self.each)}

    def answer(self, goal, private, payload, data, weight):
        total = (data.rows * data.spread(weight)[:, None]).sum(axis=0, dtype=data.dtype)
        return State(private.H + 1), Update(total, np.float32(len(data.sites)))


@pytest.fixture(params=["alone", "together", "apart"])
def runtime(request, monkeypatch):
    monkeypatch.setattr(
        "fedmf.runtimes.local.COHORT_BYTES", 0 if request.param == "alone" else 2**40
    )
    rows = [np.full((n, 3), 10.0**place, np.float32) for place, n in enumerate(SIZES)]
    made = LocalRuntime(rows, apart=request.param == "apart")
    made.place([State(np.zeros((2, n))) for n in SIZES])
    return made


def asked(runtime):
    """Return how often each site was asked."""
    H = np.hstack([private.H for private in runtime.privates()])
    return [int(own[0, 0]) for own in np.split(H, np.cumsum(SIZES)[:-1], axis=1)]


@pytest.mark.parametrize("sites", [[0], [3], [1, 2], [0, 3], [0, 1, 2, 3]])
def test_those_who_are_asked_answer_and_no_other(sites, runtime):
    request = ask("sum", Nothing(), np.array(sites))
    answer = runtime.ask(Summing(), None, request)
    wanted = sum(SIZES[place] * 10.0**place for place in sites)
    np.testing.assert_array_equal(answer.total.total, [wanted] * 3)
    assert answer.total.sites == len(sites) == answer.weight
    assert asked(runtime) == [int(place in sites) for place in range(4)]


def test_updates_are_added_in_double_precision(runtime):
    answer = runtime.ask(Summing(), None, ask("sum", Nothing(), np.arange(4)))
    assert {np.asarray(value).dtype for value in answer.total} == {np.dtype(float)}
    assert all(update.total.dtype == np.float32 for update in answer.each)


def test_a_site_is_weighed_by_its_own_weight(runtime):
    weight = np.array([0.5, 2.0])
    answer = runtime.ask(Summing(), None, ask("sum", Nothing(), np.array([1, 3]), weight))
    assert answer.total.total[0] == 0.5 * 40 + 2 * 2000
    assert answer.weight == 2.5


def test_answers_that_stand_for_themselves_are_not_added(runtime):
    answer = runtime.ask(Summing(each=True), None, ask("sum", Nothing(), np.array([0, 2, 3])))
    assert answer.total is None
    assert [update.total[0] for update in answer.each] == [1, 900, 2000]
    assert asked(runtime) == [1, 0, 1, 1]


def test_a_snapshot_is_gone_back_to(runtime):
    before = runtime.privates()
    runtime.ask(Summing(), None, ask("sum", Nothing(), np.arange(4)))
    assert asked(runtime) == [1, 1, 1, 1]
    runtime.restore(before)
    assert asked(runtime) == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("fill", "groups"),
    [
        (0, [[0], [1], [2], [3]]),
        (150, [[0, 1], [2], [3]]),  # 24, 96, 216, 48 bytes
        (350, [[0, 1, 2], [3]]),
        (10**6, [[0, 1, 2, 3]]),
    ],
)
def test_neighbours_share_a_cohort_until_it_is_full(fill, groups, monkeypatch):
    monkeypatch.setattr("fedmf.runtimes.local.COHORT_BYTES", fill)
    made = LocalRuntime([np.zeros((n, 3)) for n in SIZES])
    assert [host.data.sites.tolist() for host in made.hosts] == groups


def test_sites_with_other_features_do_not_share_a_cohort():
    rows = [np.zeros((2, 3)), np.zeros((2, 3)), np.zeros((2, 4)), np.zeros((2, 3))]
    made = LocalRuntime(rows, [("a", "b", "c"), None, None, None])
    assert [host.data.sites.tolist() for host in made.hosts] == [[0], [1], [2], [3]]
