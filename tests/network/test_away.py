"""Sites that are late, away or back: the sums hold what was acknowledged, and nothing else."""

import numpy as np
import pytest

import fedmf
from fedmf.errors import ParameterError
from network.real import samples
from network.rig import Rig, job

MGS = {"name": "fedmgs", "q1": 3, "q2": 5}
MAVG = {"name": "fedmavg", "q1": 3, "q2": 4}
SHORT = {"deadline": 0.15}


def played(folder, algorithm, away, federation=SHORT, **options):
    with Rig(folder, samples()).at_work() as rig:
        rig.away = away
        run, runtime = rig.play(job(algorithm, federation=federation, **options))
        return run, runtime, rig


def gone(name, *rounds):
    """Return the rule by which a site is away in these rounds."""
    return lambda site, header: site == name and header["round"] in rounds


def sums(rig, runtime):
    """Return (2/N) sum H H' and (2/N) sum X H' of the states that were acknowledged."""
    H = [private.H for private in rig.private(runtime)]
    X = [site.data.rows for site in rig.sites]
    N = sum(map(len, X))
    pairs = zip(X, H, strict=True)
    return 2 / N * sum(own @ own.T for own in H), 2 / N * sum(x.T @ own.T for x, own in pairs)


def near(got, wanted):
    np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-12 * np.abs(wanted).max())


def test_gradient_sharing_goes_on_exactly(tmp_path):
    run, runtime, rig = played(tmp_path, MGS, gone("east", 2, 3, 5))
    assert run.history["missing"].tolist() == [[], [1], [1], [], [1], []]
    G1, G2 = sums(rig, runtime)
    near(run.position.server.G1, G1)
    near(run.position.server.G2, G2)
    assert any("went on without east" in line for line in rig.said)


@pytest.mark.parametrize("algorithm", [MGS, MAVG], ids=["fedmgs", "fedmavg"])
def test_a_site_that_was_away_for_long_comes_back(algorithm, tmp_path):
    run, runtime, rig = played(
        tmp_path, algorithm, gone("east", *range(2, 38)), {"deadline": 0.01}, rounds=40
    )
    assert run.history["missing"].tolist() == [[]] + [[1]] * 36 + [[]] * 3
    fit = [np.sum((site.data.rows.T - run.W @ private.H) ** 2)
           for site, private in zip(rig.sites, rig.private(runtime), strict=True)]  # fmt: skip
    told = run.algorithm.parts(run.goal, run.position.server).loss
    np.testing.assert_allclose(told, sum(fit), rtol=1e-10)


def test_a_round_without_a_site_is_the_round_of_the_others(tmp_path, monkeypatch):
    """That of a run in one process in which the others were drawn."""
    monkeypatch.setattr("fedmf.runtimes.local.COHORT_BYTES", 0)
    run, *_ = played(tmp_path, MGS, gone("east", 2))
    draws = iter([[0, 1, 2], [0, 2], [0, 1, 2], [0, 1, 2], [0, 1, 2], [0, 1, 2]])
    monkeypatch.setattr(fedmf.FedMGS, "draw", lambda *_: np.array(next(draws)))
    problem = fedmf.Problem(3, rho=1e-3, nu=1e-4)
    there = fedmf.fit(list(samples().values()), problem, fedmf.FedMGS(q1=3, q2=5), 6, 0, seed=3)
    np.testing.assert_array_equal(run.W, there.W)
    np.testing.assert_array_equal(run.history["objective"], there.history["objective"])


@pytest.mark.parametrize("step", ["exact", "lagged"])
def test_averages_know_what_each_site_last_said(step, tmp_path):
    run, runtime, rig = played(tmp_path, MAVG | {"common_step": step}, gone("east", 2, 3, 5))
    assert run.history["missing"].tolist() == [[], [1], [1], [], [1], []]
    private, server = rig.private(runtime), run.position.server
    near(server.curvature, sum(own.sent[0] for own in private))
    near([server.loss, server.overlap, server.energy], sum(own.told[0] for own in private))
    for own in private:  # all are back: with the last W, and the terms of F there
        np.testing.assert_array_equal(own.W, run.W)
    if step == "exact":
        near(server.curvature, 2 * sum(own.H @ own.H.T for own in private))
    fit = [np.sum((site.data.rows.T - run.W @ own.H) ** 2)
           for site, own in zip(rig.sites, private, strict=True)]  # fmt: skip
    np.testing.assert_allclose(server.loss, sum(fit), rtol=1e-10)


def test_an_average_has_the_weights_of_those_who_answered(tmp_path):
    """In round 2 only north and south upload: W is the mean of theirs by size."""
    uploads = {}

    def away(site, header):
        return site == "east" and header["round"] == 2 and header["task"] == "improve_W"

    with Rig(tmp_path, samples()).at_work() as rig:
        rig.away = away
        for place, site in enumerate(rig.sites):
            answer = site.answer

            def listening(frame, place=place, answer=answer):
                found = answer(frame)
                if frame.header.get("task") == "improve_W" and frame.header["round"] == 2:
                    from fedmf import wire
                    from fedmf.algorithms.averaging import Model

                    uploads[place] = wire.decode(found.body, Model).W
                return found

            site.answer = listening
        run, _ = rig.play(job(MAVG, rounds=2, federation=SHORT))
    sizes = np.array([len(own) for own in samples().values()])
    omega = sizes / sizes.sum()  # each upload is W_p times its omega_p
    average = (uploads[0] + uploads[2]) / (omega[0] + omega[2])
    low, high = run.goal.known.minimum, run.goal.known.maximum
    near(run.W, np.clip(average, low, high))


def test_a_site_that_missed_the_broadcast_gets_it_before_it_works_again(tmp_path):
    tasks = []

    def away(site, header):
        missing = site == "east" and header["round"] == 2 and header["task"] == "receive"
        if site == "east" and not missing:
            tasks.append((header["round"], header["task"]))
        return missing

    run, runtime, rig = played(tmp_path, MAVG, away, rounds=3)
    assert run.history["missing"].tolist() == [[], [1], []]
    assert [task for number, task in tasks if number == 3] == [
        "catch_up", "improve_H", "improve_W", "receive",
    ]  # fmt: skip
    near(run.position.server.loss, sum(own.told[0, 0] for own in rig.private(runtime)))


def test_below_the_minimum_the_round_waits_and_says_for_whom(tmp_path, monkeypatch):
    monkeypatch.setattr("fedmf.network.runtime.TELL_EVERY", 0.1)
    with Rig(tmp_path, samples()).at_work() as rig:
        rig.away = lambda site, header: (
            site == "east"
            and header["round"] == 2
            and not any("round 2: waiting for east" in line for line in rig.said)
        )
        settings = {"deadline": 0.05, "min_answers": 3}
        run, _ = rig.play(job(MGS, federation=settings))
    assert run.history["missing"].tolist() == [[]] * 6


def test_the_start_needs_everyone(tmp_path, monkeypatch):
    monkeypatch.setattr("fedmf.network.runtime.TELL_EVERY", 0.1)
    with Rig(tmp_path, samples()).at_work() as rig:
        rig.away = lambda site, _: (
            site == "east" and not any("round 0: waiting for east" in line for line in rig.said)
        )
        rig.play(job(MGS, rounds=1, federation={"deadline": 0.02}))
    assert not any("round 0: went on without" in line for line in rig.said)


def test_a_late_answer_is_used_by_rule(tmp_path):
    """East is slow in round 2; what it has to say goes into a later sum, once."""
    with Rig(tmp_path, samples()).at_work() as rig:
        rig.away = lambda site, header: (
            site == "east" and header["round"] == 2 and len(rig.rows) < 3
        )
        settings = {"deadline": 0.1, "late": "use"}
        run, runtime = rig.play(job(MGS, rounds=6, federation=settings))
        G1, G2 = sums(rig, runtime)
    assert run.history["missing"].tolist()[:3] == [[], [1], [1]]
    assert sum("used a late answer of east" in line for line in rig.said) == 1
    assert [sites for sites in run.history["late"] if sites] == [[1]]
    near(run.position.server.G1, G1)
    near(run.position.server.G2, G2)


def test_averages_cannot_use_late_answers():
    with pytest.raises(ParameterError, match='late = "use" needs answers that are changes'):
        job(MAVG, federation={"late": "use"})
