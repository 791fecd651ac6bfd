"""Trials: keys, what a run keeps, the store, and many of them over processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import fedmf
from fedmf.clustering.metrics import accuracy
from fedmf.datasets import load
from fedmf.partitions import partition, split
from fedmf.tables import Mean
from fedmf.trials import Cache, Result, Store, Trial, expand, read_plan, run, run_all
from fedmf.trials import crew as crew_module
from fedmf.trials.federation import make
from fedmf.trials.methods import title
from fedmf.trials.running import looked_at
from fedmf.trials.summary import by_seed, means

DATA = "synthetic:M=30,N=120,K=3"
METHODS = ("fedmgs", "fedmavg", "fedpalm", "km-parallel", "bel", "cal", "k-fed", "kmeans++")


def trial(method="fedmgs", **changes) -> Trial:
    name = {"name": method} if isinstance(method, str) else method
    given = {"partition": "kmeans", "n_sites": 6, "cluster": {}, "rounds": 8, "tol": 0.0}
    return Trial(DATA, name, 3, **{**given, **changes})


class TestKey:
    def test_spelling_out_a_default_changes_nothing(self):
        spelt = trial(
            {"name": "fedmgs", "q1": 10, "gamma_h": 1.02},
            cluster={"start": 1e-8, "threshold": 5e-5},
            problem={"nu": 1e-10, "mu": 0},
            partition="kmeans:iterations=100",
        )
        assert spelt.key == trial().key

    @pytest.mark.parametrize(
        "change",
        [
            {"seed": 1}, {"partition_seed": 1}, {"rounds": 9}, {"init": "kmeans"}, {"tol": 1e-3},
            {"cluster": None}, {"cluster": {"start": 1e-4}}, {"problem": {"rho": 1e-6}},
            {"n_sites": 7}, {"partition": "iid"}, {"dtype": "float32"}, {"prepare": "max-abs"},
            {"method": {"name": "fedmgs", "participants": 2}}, {"labels": True}, {"points": 9},
        ],
    )  # fmt: skip
    def test_whatever_matters_changes_it(self, change):
        assert trial(**change).key != trial().key

    @pytest.mark.parametrize("method", ["bel", "kmeans++"])
    def test_a_method_without_a_start_does_not_depend_on_it(self, method):
        other = trial(method, init="kmeans", rounds=99, cluster=None, problem={"rho": 1.0})
        assert other.key == trial(method).key

    def test_a_pooled_reference_does_not_depend_on_the_sites(self):
        assert trial("central-sncp", partition="iid").key == trial("central-sncp").key
        assert trial("fedmgs", partition="iid").key != trial("fedmgs").key

    def test_it_is_the_same_on_every_machine(self):
        assert trial("bel").key == trial("bel", n_sites=np.int64(6).item()).key
        assert trial("bel").key == "7d6f209f90e75e73"

    def test_a_file_counts_by_its_content(self, tmp_path):
        for name, value in ("a.npy", 1.0), ("b.npy", 1.0), ("c.npy", 2.0):
            np.save(tmp_path / name, np.full((4, 3), value))
        keys = [Trial(str(tmp_path / f"{n}.npy"), {"name": "bel"}, 2).key for n in "abc"]
        assert keys[0] == keys[1] != keys[2]

    @pytest.mark.parametrize(
        ("change", "text"),
        [
            ({"method": "fedmsg"}, "method must be one of .*; did you mean 'fedmgs'"),
            ({"method": {"name": "bel", "t": 1}}, "method 'bel' has no setting 't'; it has samp"),
            (
                {"method": {"name": "kmeans++", "q1": 1}},
                "method 'kmeans[+][+]' has no setting 'q1'",
            ),
            ({"partition": "dirichlet:beta=1"}, "partition 'dirichlet' has no option 'beta'"),
            ({"cluster": {"begin": 1}}, "cluster has no setting 'begin'"),
            ({"problem": {"rank": 3}}, "the rank is an entry of the trial"),
            ({"init": "best"}, "init must be one of kmeans, linkage, random"),
            ({"seed": -1}, "seed must be an integer of at least 0, got -1"),
            ({"dtype": "int8"}, "dtype must be one of 'float32', 'float64'; got 'int8'"),
        ],
    )
    def test_what_cannot_be_is_refused_before_anything_runs(self, change, text):
        with pytest.raises(fedmf.FedMFError, match=text):
            trial(**change)

    def test_entries_that_are_none(self):
        with pytest.raises(fedmf.FedMFError, match="a trial has no entry 'sites'; it has data,"):
            Trial.of({"data": DATA, "method": {}, "rank": 2, "sites": 3})
        with pytest.raises(fedmf.FedMFError, match="a trial needs an entry 'rank'"):
            Trial.of({"data": DATA, "method": {}})


class TestRun:
    def test_an_algorithm_is_that_of_fit(self):
        own = trial({"name": "fedmgs", "participants": 2}, seed=4, labels=True, points=4)
        table = load("synthetic", M=30, N=120, K=3)
        dealt = partition("kmeans", table.X, n_sites=6, seed=0)
        straight = fedmf.fit(
            split(table.X, dealt), fedmf.Problem(3), fedmf.FedMGS(participants=2), rounds=8, tol=0,
            seed=4, penalty=fedmf.SNCP(),
        )  # fmt: skip
        result = run(own)
        curve = result.frame().set_index("round")
        assert list(curve.index) == looked_at(8, 4)
        for number, row in curve.iloc[1:].iterrows():
            assert row["objective"] == straight.history["objective"][number - 1]
        sent = straight.communication
        assert curve["uplink_reals"].tolist() == [sent["uplink_reals"][s] for s in curve.index]
        assert curve["uplink_bytes"].tolist() == [sent["uplink_bytes"][s] for s in curve.index]
        assert result.uplink_bytes == sent["uplink_bytes"].iloc[-1]
        labels = np.empty(120, dtype=int)
        labels[np.concatenate(dealt)] = np.concatenate(straight.labels)
        np.testing.assert_array_equal(result.labels, labels)
        assert result.scores["accuracy"] == accuracy(table.labels, labels)
        assert curve["accuracy"].iloc[-1] == result.scores["accuracy"]
        assert result.status == straight.status
        assert result.raw_samples == 0

    def test_the_loss_is_that_of_the_factorisation(self):
        own = trial()
        spread = make(own)
        made = fedmf.fit(spread.rows, fedmf.Problem(3), fedmf.FedMGS(), 8, 0, penalty=fedmf.SNCP())
        pairs = zip(spread.rows, made.H, strict=True)
        loss = sum(((rows - (made.W @ H).T) ** 2).sum() for rows, H in pairs) / 120
        assert run(own).scores["loss"] == pytest.approx(loss, rel=1e-10)

    def test_a_run_that_ends_early_keeps_its_last_round(self):
        result = run(trial(tol=0.5, cluster=None, rounds=500))
        assert result.converged
        assert result.curve["round"][-1] == result.rounds < 500

    @pytest.mark.parametrize("method", [*METHODS, "central-sncp"])
    def test_every_method_gives_the_same_kind_of_result(self, method):
        result = run(trial(method))
        assert sum(result.scores["sizes"]) == 120
        assert {"accuracy", "nmi", "ari", "purity", "silhouette", "loss"} <= set(result.scores)
        assert result.raw_samples_sent == (method not in ("fedmgs", "fedmavg", "fedpalm"))
        again = Result.from_json(result.to_json(), "here")
        assert again.to_json() == result.to_json()
        assert again.trial["method"]["name"] == method

    def test_the_same_seed_begins_at_the_same_point(self):
        losses = [run(trial(m)).curve["loss"][0] for m in ("fedmgs", "fedmavg", "fedpalm")]
        assert losses[1:] == pytest.approx(losses[:1] * 2, rel=1e-12)

    def test_data_without_classes(self, tmp_path):
        np.save(tmp_path / "a.npy", np.random.default_rng(0).random((30, 5)))
        result = run(Trial(str(tmp_path / "a.npy"), {"name": "fedmgs"}, 2, n_sites=3, rounds=3))
        assert "accuracy" not in result.curve
        assert set(result.scores) == {"objective", "loss"}

    def test_prepared_data_are_those_of_the_preparation(self):
        rows = make(trial(prepare="max-abs")).rows
        assert np.abs(np.concatenate(rows)).max() == pytest.approx(1)


class TestCache:
    @pytest.mark.parametrize("prepare", [None, "tfidf"])
    def test_what_is_read_is_what_was_made(self, tmp_path, prepare):
        own = trial(prepare=prepare)
        cache = Cache(tmp_path / "cache")
        made, found = make(own), cache.get(own)
        assert cache.holds(own)
        np.testing.assert_array_equal(made.places, found.places)
        np.testing.assert_array_equal(made.classes, found.classes)
        for one, other in zip(made.rows, found.rows, strict=True):
            dense = [
                rows if isinstance(rows, np.ndarray) else rows.toarray() for rows in (one, other)
            ]
            np.testing.assert_array_equal(*dense)
        assert [path.name[0] for path in (tmp_path / "cache").iterdir()] != ["."]

    def test_a_run_over_it_is_the_same(self, tmp_path):
        own = trial()
        one, other = run(own), run(own, Cache(tmp_path).get(own))
        assert one.curve == other.curve

    def test_given_data_have_to_be_there(self):
        own = Trial("given:abc", {"name": "bel"}, 2)
        with pytest.raises(fedmf.FedMFError, match="the data 'given:abc' are not in the cache"):
            run(own)


class TestStore:
    def test_what_is_put_comes_back(self, tmp_path):
        own, store = trial("bel"), Store(tmp_path)
        assert store.get(own) is None
        path = store.put(own, run(own))
        assert path.name == f"synthetic-30-120-3-kmeans-bel-s0-{own.key}.json"
        assert store.get(own).key == own.key
        assert [result.key for result in store] == [own.key]
        assert json.loads(path.read_text())["scores"]["empty"] == 0

    def test_what_a_killed_process_left_half_written_is_passed_over(self, tmp_path):
        own, store = trial("bel"), Store(tmp_path)
        path = store.put(own, run(own))
        path.with_name(f".7-7-{path.name}").write_text('{"key"')
        assert [result.key for result in store] == [own.key]

    @pytest.mark.parametrize("content", [b"", b'{"key": 3', b"[]", b"\xff\xfe"])
    def test_a_damaged_file_is_named_and_made_anew(self, tmp_path, content):
        own, store = trial("k-fed"), Store(tmp_path)
        store.put(own, run(own)).write_bytes(content)
        with pytest.raises(fedmf.FedMFError, match=f"{store.path(own).name} is damaged"):
            store.get(own)
        assert not store.has(own)
        assert run_all([own], store, 1).done == [own]
        assert store.has(own)

    def test_a_file_under_another_name_is_not_taken(self, tmp_path):
        own, other, store = trial("bel"), trial("bel", seed=1), Store(tmp_path)
        store.put(own, run(own)).rename(store.path(other))
        assert not store.has(other)
        with pytest.raises(fedmf.FedMFError, match="holds the result of another trial"):
            store.get(other)


class TestRunAll:
    def test_each_is_run_once_and_a_failure_loses_no_other(self, tmp_path):
        store, events = Store(tmp_path), []
        good = [trial("fedmgs"), trial("bel"), trial("fedmgs")]  # one of them twice
        bad = Trial(DATA, {"name": "bel"}, 121, n_sites=6)
        lost = Trial("synthetic:snr=nothing", {"name": "bel"}, 2)
        outcome = run_all([*good, bad, lost], store, 2, progress=events.append)
        assert {one.key for one in outcome.done} == {one.key for one in good}
        assert {one.key: text for one, text in outcome.failed} == {
            bad.key: "n_clusters must be at most the number of samples, 120; got 121",
            lost.key: "snr must be a number of dB over -300, got 'nothing'",
        }
        assert not outcome.left
        assert (events[-1].done, events[-1].failed, events[-1].total) == (2, 2, 4)
        when = [store.path(one).stat().st_mtime_ns for one in good]
        again = run_all(good, store, 1)
        assert (len(again.before), again.done, again.failed) == (2, [], [])
        assert [store.path(one).stat().st_mtime_ns for one in good] == when

    def test_in_processes_it_is_what_it_is_here(self, tmp_path):
        own = trial({"name": "fedmavg", "participants": 2, "q2": {"diminishing": 10}})
        run_all([own], Store(tmp_path), 1)
        there, here = Store(tmp_path).get(own), json.loads(run(own).to_json())
        assert there.curve == here["curve"]
        assert there.scores == here["scores"]

    def test_at_the_limit_of_time_the_rest_is_left(self, tmp_path):
        trials = [trial(seed=seed, rounds=10**6) for seed in range(3)]
        outcome = run_all(trials, Store(tmp_path), 2, max_seconds=2)
        assert {one.key for one in outcome.left} == {one.key for one in trials}
        assert not list(tmp_path.iterdir())

    def test_a_worker_that_dies_is_told_and_replaced(self, tmp_path, monkeypatch):
        dying = [sys.executable, "-c", "import sys; sys.stdin.readline(); sys.exit(9)"]
        monkeypatch.setattr(crew_module, "command_of", lambda *_: dying)
        trials = [trial(), Trial(DATA, {"name": "bel"}, 3, n_sites=5)]
        outcome = run_all(trials, Store(tmp_path), 1)
        assert [text for _, text in outcome.failed] == ["the worker died with status 9"] * 2

    def test_ctrl_c_ends_the_workers_and_keeps_what_is_done(self, tmp_path):
        plan = tmp_path / "plan.toml"
        plan.write_text(
            f'[common]\ndata = "{DATA}"\nrank = 3\nn_sites = 6\n'
            '[[axes.method]]\nmethod = { name = "bel" }\n'
            '[[axes.method]]\nmethod = { name = "fedmgs" }\nrounds = 10000000\ntol = 0\n'
        )
        command = [sys.executable, "-m", "fedmf.trials", str(plan), "--store", str(tmp_path / "s")]
        process = subprocess.Popen(
            [*command, "--workers", "2"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        while "1/2" not in process.stdout.readline():
            assert process.poll() is None
        workers = _children(process.pid)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 130
        assert errors.strip() == "stopped by the user; the same command goes on"
        assert len(list((tmp_path / "s").rglob("*.json"))) == 1
        until = time.monotonic() + 30
        while any(map(_lives, workers)) and time.monotonic() < until:
            time.sleep(0.05)
        assert workers
        assert not any(map(_lives, workers))


def _children(pid: int) -> list[int]:
    found = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(pid)],  # noqa: S607
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [int(word) for word in found.stdout.split()]


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


class TestSummary:
    def test_seeds_come_together_and_all_else_stays_apart(self):
        made = [trial(m, seed=s, labels=True) for s in (1, 0) for m in ("bel", "k-fed")]
        results = [run(one) for one in made]
        groups = by_seed(results)
        assert [[r.trial["seed"] for r in group] for group in groups] == [[0, 1], [0, 1]]
        assert [group[0].trial["method"]["name"] for group in groups] == ["bel", "k-fed"]
        found = means(groups[0])
        accuracies = [results[place].scores["accuracy"] for place in (2, 0)]
        assert found["accuracy"] == Mean.of(accuracies)
        assert found["uplink_bytes"].mean == np.mean([r.uplink_bytes for r in groups[0]])
        labels = [r.labels for r in groups[0]]
        assert found["stability"].mean == pytest.approx(adjusted_rand_score(*labels))
        assert "sizes" not in found

    def test_stability_needs_labels_of_several_seeds(self):
        one = run(trial("k-fed", labels=True))
        assert "stability" not in means([one])
        assert "stability" not in means([run(trial("k-fed")), run(trial("k-fed", seed=1))])
        assert means([]) == {}

    def test_titles(self):
        assert title({"name": "fedmgs"}) == "FedMGS, all sites"
        assert title({"name": "fedmavg", "participants": 10}) == "FedMAvg, m = 10"
        assert [title({"name": name}) for name in ("k-fed", "kmeans++", "new")] == [
            "k-FED", "pooled k-means++", "new",
        ]  # fmt: skip


class TestPlan:
    def test_the_product_of_its_axes(self, tmp_path):
        path = tmp_path / "small.toml"
        path.write_text(
            f'about = "two"\n[common]\ndata = "{DATA}"\nrank = 3\nseeds = 2\n'
            '[[axes.method]]\nmethod = { name = "fedmgs", q1 = 5 }\n'
            '[[axes.method]]\nmethod = { name = "fedmavg" }\nseeds = [7]\n'
            "[[axes.drawn]]\n[[axes.drawn]]\nmethod = { participants = 10 }\n"
        )
        plan = read_plan(path)
        assert (plan.name, plan.about) == ("small", "two")
        assert [one.name for one in plan.trials] == [
            "synthetic-30-120-3-iid-fedmgs-s0", "synthetic-30-120-3-iid-fedmgs-s1",
            "synthetic-30-120-3-iid-fedmgs-m10-s0", "synthetic-30-120-3-iid-fedmgs-m10-s1",
            "synthetic-30-120-3-iid-fedmavg-s7", "synthetic-30-120-3-iid-fedmavg-m10-s7",
        ]  # fmt: skip
        assert plan.trials[2].method == {"name": "fedmgs", "q1": 5, "participants": 10}

    def test_without_axes_there_is_one(self):
        assert [
            one.seed for one in expand({"data": DATA, "rank": 3, "method": {"name": "bel"}}, {})
        ] == [0]

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("a = ", "bad.toml: no valid TOML"),
            ("[other]\n", "bad.toml: 'other' is none of about, common, axes"),
            ("[common]\nrank = 3\n", "bad.toml: a trial needs an entry 'data'"),
        ],
    )
    def test_mistakes_name_the_file(self, tmp_path, text, said):
        path = tmp_path / "bad.toml"
        path.write_text(text)
        with pytest.raises(fedmf.FedMFError, match=said):
            read_plan(path)
