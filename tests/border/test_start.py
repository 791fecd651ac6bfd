"""A start of the user: what is taken, and what is refused in one line."""

import numpy as np
import pytest

import cases
import fedmf
from border.refusals import refused

MGS = fedmf.FedMGS(q1=2, q2=3)


def start(W=None, H=None):
    W0, H0 = cases.federation()[1]
    return (W0 if W is None else W, H0 if H is None else H)


H0 = cases.federation()[1][1]


@pytest.mark.parametrize(
    ("given", "what", "kind"),
    [
        (
            start(W=np.ones((3, 7))),
            r"^init: W0 must have the shape \(7, 3\), got \(3, 7\)",
            ValueError,
        ),
        (start(W=np.ones(7)), r"^init: W0 must have the shape \(7, 3\), got \(7,\)", ValueError),
        (start(H=H0[:3]), "^init has H0 for 3 sites, there are 4", ValueError),
        (start(H=[*H0, H0[0]]), "^init has H0 for 5 sites, there are 4", ValueError),
        (
            start(H=[own.T for own in H0]),
            r"^init: H0 of site 0 must have the shape \(3, 1\), got \(1, 3\)",
            ValueError,
        ),
        (start(W=np.full((7, 3), np.nan)), "^init: W0 holds a number that is not fin", ValueError),
        (
            start(H=[*H0[:3], np.full((3, 2), np.inf)]),
            "^init: H0 of site 3 holds a number that is not finite",
            ValueError,
        ),
        (start(W=np.full((7, 3), "a")), "^init: W0: expected numbers, got .* <U1", TypeError),
        (start(W=1j * np.ones((7, 3))), "^init: W0: expected numbers, got .* complex", TypeError),
        (start(H=[[[1, 2], [3]], *H0[1:]]), "^init: H0 of site 0: the rows differ", ValueError),
        (start(H=5), "^init: H0 must be a list with one of each site, got int", TypeError),
        (start(W=object()), "^init: W0: expected numbers", TypeError),
        (5, "^init must be None, a name, a Run, or a pair", TypeError),
        (start()[:1], "^init must be None, a name, a Run, or a pair", TypeError),
        ("ab", "^init must be one of kmeans, linkage, random; got .ab.", ValueError),
    ],
)
def test_a_start_that_cannot_be_used(given, what, kind, sites):
    with refused(what, kind):
        cases.play(sites, MGS, init=given)


def test_a_start_is_copied_and_converted(sites, init):
    W, H = init[0].round(), [own.round() for own in init[1]]
    whole = [W.astype(int), [own.astype(np.float32) for own in H]]
    kept = W.copy()
    cases.same(cases.play(sites, MGS, init=whole), cases.play(sites, MGS, init=(W, H)))
    np.testing.assert_array_equal(W, kept)


def test_a_run_is_a_start(sites, init):
    first = cases.play(sites, MGS, init=init)
    again = cases.play(sites, MGS, init=first)
    cases.same(again, cases.play(sites, MGS, init=(first.W, first.H)))
    assert again.initial_objective == pytest.approx(first.position.objective, rel=1e-12)
