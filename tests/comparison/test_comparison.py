"""All methods on one federation: what is run, what comes out, what is kept."""

import os

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import fedmf
from fedmf import recommended
from fedmf.clustering.metrics import accuracy
from fedmf.comparison.comparing import digest_of
from fedmf.comparison.lineup import Course, default_methods, read_methods, read_seeds
from fedmf.comparison.outcome import titles
from fedmf.trials import Spread

METHODS = ["fedmgs", "fedmgs:participants=3", "k-fed", "bel", "kmeans++", "central-sncp"]
HOW = {"methods": METHODS, "seeds": 2, "rounds": 6, "workers": 1}


def planted(samples=90, K=3, sites=5):
    random = np.random.default_rng(0)
    directions, classes = random.random((12, K)), random.integers(K, size=samples)
    X = np.abs(directions[:, classes] + 0.15 * random.standard_normal((12, samples))).T
    return X, np.array(["north", "east", "south"])[classes], random.integers(sites, size=samples)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A comparison with classes, kept in a folder, and its data."""
    X, classes, ids = planted()
    folder = tmp_path_factory.mktemp("made")
    return fedmf.compare(X, 3, ids, classes, out=folder, **HOW), folder, (X, classes, ids)


class TestLineup:
    def test_all_methods_where_none_are_named(self):
        named = [(m["name"], m.get("participants")) for m in default_methods(sites=20)]
        assert named[:4] == [("fedmgs", None), ("fedmgs", 10), ("fedmavg", None), ("fedmavg", 10)]
        others = {"km-parallel", "bel", "cal", "k-fed", "kmeans++", "central-sncp"}
        assert {name for name, _ in named[4:]} == others
        assert [m.get("participants") for m in default_methods(sites=10)[:3]] == [None] * 3
        assert default_methods(sites=10, participants=4)[1]["participants"] == 4

    def test_methods_as_texts_and_tables(self):
        found = read_methods(["fedmgs", "bel:samples=5", {"name": "fedmavg", "q1": 2}], 20, 7)
        assert found == [
            {"name": "fedmgs", "participants": 7},
            {"name": "bel", "samples": 5},
            {"name": "fedmavg", "q1": 2, "participants": 7},
        ]

    def test_the_course_is_what_is_recommended_unless_it_is_said(self):
        assert Course().entries([4, 40]) == {
            "init": recommended.INIT, "cluster": {"start": recommended.RHO},
            "rounds": recommended.ROUNDS, "tol": recommended.TOL,
        }  # fmt: skip
        at_random = Course(init="random").entries([4])
        assert at_random["cluster"] == {"start": recommended.RHO_RANDOM}
        assert Course(rho=1e-6, rounds=9, tol=0).entries([4]) == {
            "init": "linkage", "cluster": {"start": 1e-6}, "rounds": 9, "tol": 0,
        }  # fmt: skip

    def test_sites_too_small_for_a_start_begin_at_random(self):
        assert Course().entries([1, 2, 2]) == {
            **Course(init="random").entries([9]), "init": "random",
        }  # fmt: skip

    def test_seeds(self):
        assert read_seeds(3) == [0, 1, 2]
        assert read_seeds([4, 1]) == [4, 1]

    def test_methods_of_one_name_are_told_apart(self):
        some = [{"name": "bel", "samples": s, "restarts": 1} for s in (None, 50)]
        assert titles([*some, {"name": "cal"}, {"name": "fedmgs", "participants": 2}]) == [
            "BEL, samples = default", "BEL, samples = 50", "CAL", "FedMGS, m = 2",
        ]  # fmt: skip


class TestCompare:
    def test_an_algorithm_is_that_of_fit_with_the_same_seed(self, made):
        found, _, (X, classes, ids) = made
        order = list(dict.fromkeys(ids))
        straight = fedmf.fit(
            [X[ids == own] for own in order], fedmf.Problem(3), fedmf.FedMGS(), rounds=6, seed=1,
            init="linkage", penalty=fedmf.SNCP(start=1e-4),
        )  # fmt: skip
        wanted = np.empty(len(X), dtype=int)
        for own, labels in zip(order, straight.labels, strict=True):
            wanted[ids == own] = labels
        np.testing.assert_array_equal(found.labels("FedMGS, all sites", seed=1), wanted)
        row = found.frame().query("method == 'FedMGS, all sites' and seed == 1").iloc[0]
        assert row["accuracy"] == pytest.approx(accuracy(classes, wanted))
        assert row["uplink_bytes"] == straight.communication["uplink_bytes"].iloc[-1]

    def test_every_method_is_there_and_says_whether_raw_samples_left(self, made):
        found, *_ = made
        table = found.table()
        raw = {row.cells[0]: word[-1] for row, word in zip(table.rows, table.words(), strict=True)}
        assert raw == {
            "FedMGS, all sites": "no", "FedMGS, m = 3": "no", "k-FED": raw["k-FED"], "BEL": "yes",
            "pooled k-means++": "all", "pooled SNCP": "all",
        }  # fmt: skip
        assert [row.apart for row in table.rows] == [False] * 4 + [True] * 2
        assert table.headings[1:3] == ["accuracy, %", "NMI, %"]
        assert table.words()[4][3:6] == ["-", "-", "-"]  # what is pooled has no rounds, no uplink
        assert not found.failed
        assert not found.left

    def test_means_are_those_of_the_runs(self, made):
        found, *_ = made
        frame = found.frame()
        assert len(frame) == 2 * len(METHODS)
        for line in found.lines:
            own = frame[frame["method"] == line.title]
            assert line.means["accuracy"].mean == pytest.approx(100 * own["accuracy"].mean())
            assert line.means["accuracy"].spread == pytest.approx(100 * own["accuracy"].std())
            labels = [found.labels(line.title, seed) for seed in (0, 1)]
            stable = fedmf.clustering.metrics.stability(labels)
            assert line.means["stability"].mean == pytest.approx(stable)

    def test_algorithms_with_the_same_seed_begin_at_the_same_point(self, made):
        found, _, (X, _, ids) = made
        methods = ["fedmgs", "fedmgs:participants=3"]
        random = fedmf.compare(X, 3, ids, methods=methods, init="random", seeds=2, rounds=1)
        for one in found, random:
            first = [[r.curve["loss"][0] for r in line.results] for line in one.lines[:2]]
            assert first[0] == first[1]
        assert first[0][0] != first[0][1]

    def test_what_is_kept_is_not_run_again(self, made, monkeypatch):
        found, folder, (X, classes, ids) = made
        before = {path: path.stat().st_mtime_ns for path in folder.rglob("*.json")}
        assert len(before) == 2 * len(METHODS)
        seen = []
        for process in (2**22 + 1, os.getpid()):  # one that was killed, and one at work
            (folder / f".data-{process}-x").mkdir()
        again = fedmf.compare(X, 3, ids, classes, out=folder, progress=seen.append, **HOW)
        assert {path: path.stat().st_mtime_ns for path in folder.rglob("*.json")} == before
        assert str(again) == repr(again) == str(found)
        assert not [event for event in seen if event.event]
        (folder / f".data-{os.getpid()}-x").rmdir()
        assert [path.name for path in folder.iterdir()] == ["results"]  # no copy of the data stays

    def test_without_classes_they_are_judged_by_themselves(self):
        X, _, ids = planted()
        how = {**HOW, "methods": ["fedmgs", "k-fed"], "rounds": 2}
        found = fedmf.compare([sparse.csr_array(X[ids == own]) for own in range(5)], 3, **how)
        assert found.table().headings[1:5] == ["error", "silhouette", "stability", "sizes"]
        assert "accuracy" not in found.table(whole=True).csv()
        assert set(found.frame()) >= {"loss", "objective", "silhouette", "smallest", "largest"}
        assert 0 < found.lines[0].means["silhouette"].mean < 1
        assert "error" in str(found)

    def test_files(self, made, tmp_path):
        found, *_ = made
        files = found.save(tmp_path, name="the <samples>")
        names = ["report.html", "comparison.csv", "comparison.tex", "runs.csv"]
        assert [path.name for path in files] == names
        means = pd.read_csv(tmp_path / "comparison.csv")
        assert means["method"].tolist() == [line.title for line in found.lines]
        assert {"accuracy_sd", "ari", "purity", "stability", "downlink_bytes"} <= set(means)
        assert means["seeds"].tolist() == [2] * len(METHODS)
        assert len(pd.read_csv(tmp_path / "runs.csv")) == 2 * len(METHODS)
        assert r"FedMGS, m = 3 &" in (tmp_path / "comparison.tex").read_text()
        page = (tmp_path / "report.html").read_text()
        for text in ("Clusters of the &lt;samples&gt;", "Accuracy on the way", "pooled SNCP",
                     "href='comparison.csv'"):  # fmt: skip
            assert text in page


class TestErrors:
    @pytest.mark.parametrize(
        ("change", "text"),
        [
            ({"n_clusters": 91}, "n_clusters must be at most the number of samples, 90; got 91"),
            ({"n_clusters": 0}, "n_clusters must be an integer of at least 1, got 0"),
            ({"methods": ["bell"]}, "method must be one of .*; did you mean 'bel'"),
            ({"methods": []}, "methods must name at least one of"),
            ({"methods": "bel"}, "methods must be a list of names or tables, got 'bel'"),
            ({"methods": [3]}, "a method must be a name or a table, got 3"),
            ({"participants": 6}, "participants must be at most the number of sites, 5; got 6"),
            ({"seeds": 0}, "seeds must be an integer of at least 1, got 0"),
            ({"seeds": []}, "seeds must hold at least one"),
            ({"init": "best"}, "init must be one of kmeans, linkage, random; got 'best'"),
            ({"rho": 0}, "rho must be a number above 0, got 0"),
            ({"labels": [1, 2]}, r"labels must hold a class for each of the 90 samples, .* \(2,\)"),
            ({"sites": [1, 2]}, "sites must hold a site id for each row"),
        ],
    )
    def test_what_cannot_be_is_refused_before_anything_runs(self, change, text):
        X, classes, ids = planted()
        given = {"n_clusters": 3, "sites": ids, "labels": classes, **change}
        with pytest.raises(fedmf.FedMFError, match=text):
            fedmf.compare(X, **given)

    def test_data_are_looked_at_once_and_not_by_every_method(self):
        X, _, ids = planted()
        X[7, 2] = np.nan
        with pytest.raises(fedmf.FedMFError, match=r"site \d: nan at row \d, column 2"):
            fedmf.compare(X, 3, ids)
        with pytest.raises(fedmf.FedMFError, match="site 1 has 5 features"):
            fedmf.compare([X[:7], X[:7, :5]], 3)

    def test_names_that_are_not_there(self, made):
        found, *_ = made
        with pytest.raises(fedmf.FedMFError, match=r"method must be one of FedMGS, .*bel"):
            found.labels("bel")
        with pytest.raises(fedmf.FedMFError, match="seed must be one of 0, 1; got 2"):
            found.labels("BEL", seed=2)


def test_data_are_named_by_all_that_they_are():
    X, _, ids = planted()
    codes = np.arange(90) % 3
    places = np.argsort(ids, kind="stable")
    rows = [X[ids == own] for own in range(5)]
    base = Spread(rows, places, codes)
    others = [
        Spread([np.concatenate(rows)], places, codes),
        Spread(rows, places[::-1].copy(), codes),
        Spread(rows, places, None),
        Spread(rows, places, codes[::-1].copy()),
        Spread([own.astype(np.float32) for own in rows], places, codes),
        Spread([sparse.csr_array(own) for own in rows], places, codes),
        Spread([np.vstack(rows[:2]), *rows[2:]], places, codes),
    ]
    assert len({digest_of(one) for one in [base, *others]}) == 8
    assert digest_of(Spread([own.copy() for own in rows], places, codes)) == digest_of(base)
