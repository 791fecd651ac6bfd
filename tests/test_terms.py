"""Each site's terms of F: those of the site alone, and together F."""

import numpy as np
import pytest

import cases
import fedmf
from fedmf.terms import contributions
from losses.squared_anyhow import SquaredAnyhow


def direct(run, sites):
    """What each site adds to F, from its residual and its H as they stand in the problem."""
    goal, found = run.goal, []
    for X, H in zip(sites, run.H, strict=True):
        loss = ((X.T - run.W @ H) ** 2).sum() / goal.known.samples
        overlap = (H.sum(axis=0) ** 2 - (H**2).sum(axis=0)).sum()
        found.append(loss + run.rho / 2 * overlap + goal.nu / 2 * (H**2).sum())
    return np.array(found)


@pytest.mark.parametrize("loss", ["squared", SquaredAnyhow()], ids=["squared", "another"])
def test_they_are_those_of_each_site_and_add_up_to_F(sites, layout, loss):
    problem = fedmf.Problem(cases.RANK, rho=1e-2, nu=1e-3, mu=1e-3, loss=loss)
    run = cases.play(sites, fedmf.FedMAvg(participants=2), problem=problem)
    found = contributions(run.goal, run.terms, run.rho)
    np.testing.assert_allclose(found, direct(run, sites), rtol=1e-9)
    of_W = run.goal.mu / 2 * (run.W**2).sum()
    assert found.sum() + of_W == pytest.approx(run.position.objective, rel=1e-9)


def test_sites_that_were_not_drawn_are_as_the_server_has_them(sites):
    run = cases.play(sites, fedmf.FedMGS(participants=1), rounds=3)
    of_W = run.goal.mu / 2 * (run.W**2).sum()
    total = contributions(run.goal, run.terms, run.rho).sum() + of_W
    assert total == pytest.approx(run.position.objective, rel=1e-9)


def test_they_are_saved_with_the_run(sites, tmp_path):
    run = cases.play(sites, fedmf.FedMGS())
    run.save(tmp_path)
    np.testing.assert_array_equal(fedmf.load(tmp_path).terms, run.terms)


def test_a_run_that_was_stopped_has_none_and_one_gone_on_with_has_its_own(sites, tmp_path):
    def stop(position):
        if position.round == 2:
            raise KeyboardInterrupt

    stopped = cases.play(sites, fedmf.FedMGS(), callback=stop, checkpoint=tmp_path)
    assert stopped.terms is None
    assert fedmf.load(tmp_path).terms is None
    whole = cases.play(sites, fedmf.FedMGS())
    again = fedmf.resume(fedmf.load(tmp_path), sites, rounds=5, tol=0)
    np.testing.assert_array_equal(again.terms, whole.terms)
