"""Sums of sums: aggregators between the server and the sites change nothing but rounding.

Everything that a round needs of the sites is a sum over them, so an aggregator may answer for a
region of sites with the sum of their answers. Both algorithms run over such a tree here, and give
what they give with all sites directly at the server.
"""

from itertools import pairwise

import numpy as np
import pytest

import cases
import fedmf
from fedmf.algorithms.base import Given
from fedmf.engine import begin, rounds, set_up
from fedmf.messages import Answer
from fedmf.runtimes.local import LocalRuntime


class Aggregators:
    """A runtime of regions: each has a runtime of its own and answers with its sites' sum."""

    def __init__(self, rows, borders):
        self.sites = len(rows)
        self._borders = list(pairwise(borders))
        self._regions = [LocalRuntime(rows[first:last]) for first, last in self._borders]

    def place(self, privates):
        """Give every site its start for H."""
        for (first, last), region in zip(self._borders, self._regions, strict=True):
            region.place(privates[first:last])

    def ask(self, method, goal, request):
        """Ask every region for its sites, and add up what the regions say."""
        answers = []
        for (first, last), region in zip(self._borders, self._regions, strict=True):
            part = slice(*np.searchsorted(request.sites, (first, last)))
            if part.start < part.stop:
                own = request._replace(
                    sites=request.sites[part] - first,
                    weight=request.weight[part],
                    times=request.times[part],
                )
                answers.append(region.ask(method, goal, own))
        each = [update for answer in answers for update in answer.each]
        if answers[0].total is None:
            return Answer(None, each, request.sites, float(request.weight.sum()))
        fields = zip(*(answer.total for answer in answers), strict=True)
        total = type(answers[0].total)(*(sum(values) for values in fields))
        return Answer(total, each, request.sites, float(request.weight.sum()))


def play(runtime, algorithm, W, H, count=6):
    """Return W and F after so many rounds over any runtime."""
    problem = fedmf.Problem(rank=cases.RANK, rho=1e-2, nu=1e-3)
    known, federation = set_up(runtime)
    goal = problem.goal(known)
    runtime.place([Given(own) for own in H])
    first = begin(algorithm, goal, federation, 0, W, np.dtype(float))
    loop = rounds(algorithm, goal, federation, first, seed=0)
    position = next(loop)
    for _ in range(count):
        position = loop.send(None)
    return position.server.W, position.objective


@pytest.mark.parametrize(
    "algorithm",
    [
        fedmf.FedMGS(q1=3, q2=5),
        fedmf.FedMAvg(q1=3, q2=4),
        fedmf.FedMAvg(q1=3, q2=4, common_step="lagged"),
    ],
)
def test_sums_of_sums_give_the_run_of_one_level(algorithm):
    rows, (W, H) = cases.federation(sizes=(1, 4, 9, 2, 5, 3))
    one_level = play(LocalRuntime(rows), algorithm, W, H)
    two_levels = play(Aggregators(rows, (0, 2, 3, 6)), algorithm, W, H)
    for got, wanted in zip(two_levels, one_level, strict=True):
        cases.near(got, wanted)
