"""Claims on made-up histories: true, false, in part, not to be tested; and what a file may say."""

from dataclasses import replace

import pytest

from fedmf.errors import FileFormatError
from fedmf.paper import read
from fedmf.paper.claim import Claim
from fedmf.paper.measures import MEASURES, reached
from fedmf.paper.verdict import FAILS, HOLDS, MISSING, PARTLY, STAND_IN, verdict
from paper import made

A, B, C = "a: A", "a: B", "a: C"


@pytest.fixture(scope="module")
def exhibit(tmp_path_factory):
    return read("fig1", folder=made.folder(tmp_path_factory.mktemp("files") / "exhibits"))


@pytest.fixture
def judged(exhibit):
    """Return a function that judges a claim on histories: for each series, one for each seed."""

    def judge(histories, quick=False, **table):
        results = {key: {} for key in exhibit.series}
        for key, own in histories.items():
            for trial, history in zip(exhibit.series[key].trials, own, strict=False):
                results[key][trial.seed] = made.result(trial, **history)
        claim = Claim.of({"says": "It is so.", **table}, exhibit.series)
        return verdict(claim, replace(exhibit, quick=quick), results)

    return judge


def ends(*values, **more):
    """Return histories that end at these values, one for each starting point."""
    return [{"F": made.falling(value), **more} for value in values]


def accuracies(*values):
    return [{"accuracy": value} for value in values]


LOW, HIGH = ends(10, 11, 10), ends(20, 21, 20)
FAST = [{"F": made.falling(10, speed=0.9)}] * 3
SLOW = [{"F": made.falling(10, speed=0.1)}] * 3
CASES = {
    "end, order": (
        {A: LOW, B: HIGH}, {A: HIGH, B: LOW}, {"measure": "end", "order": [A, B]}
    ),
    "end, a chain": (
        {A: ends(5), B: ends(6), C: ends(7)},
        {A: ends(5), B: ends(7), C: ends(6)},
        {"measure": "end", "order": [A, B, C]},
    ),
    "end, by a share": (
        {A: ends(10), B: ends(11.2)},
        {A: ends(10), B: ends(11)},
        {"measure": "end", "order": [A, B], "by": 0.1},
    ),
    "end, not so": (
        {A: HIGH, B: LOW}, {A: LOW, B: HIGH}, {"measure": "end", "not_order": [A, B]}
    ),
    "end, the same": (
        {A: ends(100.5), B: ends(100)},
        {A: ends(102), B: ends(100)},
        {"measure": "end", "same": [A, B], "within": 0.01},
    ),
    "end, the best of a group": (
        {A: ends(30), B: ends(10), C: ends(20)},
        {A: ends(30), B: ends(25), C: ends(20)},
        {"measure": "end", "best": [[A, B], [C]]},
    ),
    "end, more to gain": (
        {A: ends(30), B: ends(10), C: ends(5)},
        {A: ends(30), B: ends(20), C: ends(5)},
        {"measure": "end", "more": [[A, B], [B, C]]},
    ),
    "rounds, order": (
        {A: FAST, B: SLOW},
        {A: SLOW, B: FAST},
        {"measure": "rounds", "order": [A, B]},
    ),
    "rounds, by a factor": (
        {A: FAST, B: SLOW},
        {A: [{"F": made.falling(10, speed=0.15)}], B: SLOW},
        {"measure": "rounds", "order": [A, B], "times": 5},
    ),
    "rounds, more to gain": (
        {A: SLOW, B: FAST, C: FAST},
        {A: SLOW, B: SLOW, C: FAST},
        {"measure": "rounds", "more": [[A, B], [B, C]]},
    ),
    "reals, order": (
        {A: ends(10, sent=10), B: ends(10, sent=100)},
        {A: ends(10, sent=100), B: ends(10, sent=10)},
        {"measure": "reals", "order": [A, B]},
    ),
    "accuracy, by points": (
        {A: accuracies(0.9, 0.8, 0.9), B: accuracies(0.7, 0.7, 0.7)},
        {A: accuracies(0.74, 0.74, 0.7), B: accuracies(0.7, 0.7, 0.7)},
        {"measure": "accuracy", "order": [A, B], "by": 0.05},
    ),
    "accuracy, the same": (
        {A: accuracies(0.9), B: accuracies(0.88)},
        {A: accuracies(0.9), B: accuracies(0.8)},
        {"measure": "accuracy", "same": [A, B], "within": 0.05},
    ),
    "accuracy, the best of a group": (
        {A: accuracies(0.5), B: accuracies(0.9), C: accuracies(0.8)},
        {A: accuracies(0.5), B: accuracies(0.7), C: accuracies(0.8)},
        {"measure": "accuracy", "best": [[A, B], [C]]},
    ),
    "accuracy, more to gain": (
        {A: accuracies(0.5), B: accuracies(0.9), C: accuracies(0.8)},
        {A: accuracies(0.5), B: accuracies(0.6), C: accuracies(0.8)},
        {"measure": "accuracy", "more": [[A, B], [B, C]]},
    ),
    "accuracy at the same cost, order": (
        {A: [{"accuracy": [0.2, 0.5, 0.9, 0.9]}], B: [{"accuracy": [0.1, 0.1, 0.2, 0.3]}]},
        {A: [{"accuracy": [0.1, 0.1, 0.2, 0.3]}], B: [{"accuracy": [0.2, 0.5, 0.9, 0.9]}]},
        {"measure": "accuracy at the same cost", "order": [A, B]},
    ),
}  # fmt: skip


def test_every_measure_is_tried():
    assert {table["measure"] for _, _, table in CASES.values()} == set(MEASURES)


@pytest.mark.parametrize("name", CASES)
def test_a_claim_holds_where_it_is_true_and_not_where_it_is_false(judged, name):
    true, false, table = CASES[name]
    assert judged(true, **table).found == HOLDS
    assert judged(false, **table).found == FAILS


def test_the_figures_that_decide_are_told(judged):
    seen = judged({A: ends(10, 12), B: ends(20, 20)}, measure="end", order=[A, B]).seen
    assert seen == ("F after 40 rounds: A: 11.030 · B: 20.027",)  # exp(-8) of the way is left
    [line] = judged(
        {A: accuracies(0.5), B: accuracies(0.25)}, measure="accuracy", order=[A, B]
    ).seen
    assert line == "accuracy at the end: A: 50.0 % · B: 25.0 %"


def test_rounds_are_counted_at_three_levels_of_the_worse(judged):
    line = [100.0 - 2 * s for s in range(41)]  # 92 after 4 rounds, 76 after 12, 20 after 40
    twice = [max(100.0 - 4 * s, 0.0) for s in range(41)]
    found = judged({A: [{"F": twice}], B: [{"F": line}]}, measure="rounds", order=[A, B], times=1.9)
    assert found.seen == (
        "rounds until F = 92.000: A: 2 · B: 4",
        "rounds until F = 76.000: A: 6 · B: 12",
        "rounds until F = 20.000: A: 20 · B: 40",
    )
    assert found.found == HOLDS


def test_what_is_true_at_some_levels_holds_in_part(judged):
    early = {"F": [100.0, *(60 - s / 4 for s in range(1, 41))]}
    late = {"F": [100.0 - 1.5 * s for s in range(41)]}  # below the other after 34 rounds
    assert judged({A: [early], B: [late]}, measure="rounds", order=[A, B]).found == PARTLY


def test_a_mean_that_few_starting_points_share_holds_in_part(judged):
    histories = {A: accuracies(0.95, 0.5, 0.5), B: accuracies(0.6, 0.51, 0.51)}
    found = judged(histories, measure="accuracy", order=[A, B])
    assert (found.found, found.alone, found.points) == (PARTLY, 1, 3)


def test_only_starting_points_that_all_have_are_compared(judged):
    histories = {A: ends(10, 10, 99), B: ends(20, 20)}
    found = judged(histories, measure="end", order=[A, B])
    assert (found.found, found.points) == (HOLDS, 2)


def test_a_run_that_stopped_stays_where_it_ended(judged):
    short = [{"F": made.falling(10)[:20]}]
    [line] = judged({A: short, B: ends(20)}, measure="end", order=[A, B]).seen
    assert line.startswith(f"F after 40 rounds: A: {made.falling(10)[19]:#.5g} ·")


def test_without_results_nothing_is_said(judged):
    found = judged({A: LOW}, measure="end", order=[A, B])
    assert (found.found, found.tone) == (MISSING, "open")
    assert found.seen == ("no results yet of a: B",)


def test_other_data_than_the_papers_are_named(judged):
    true = {"b: A": LOW, "b: B": HIGH}
    table = {"measure": "end", "order": ["b: A", "b: B"]}
    assert judged(true, **table).words == "holds on the stand-in data"
    assert judged(true, **{**table, "order": ["b: B", "b: A"]}).words == (
        "does not hold on the stand-in data"
    )


def test_a_claim_about_the_papers_own_data_cannot_be_tested_on_others(judged):
    table = {"measure": "end", "order": ["b: A", "b: B"], "own_data": True}
    for histories, told in (({"b: A": LOW, "b: B": HIGH}, "holds"),
                            ({"b: A": HIGH, "b: B": LOW}, "does not hold")):  # fmt: skip
        found = judged(histories, **table)
        assert (found.words, found.tone) == (STAND_IN, "open")
        assert found.seen[-1] == f"on the stand-in data it {told} (3 of 3 starting points alone)"
    here = judged({A: LOW, B: HIGH}, measure="end", order=[A, B], own_data=True)
    assert here.words == "holds"


def test_quick_runs_say_so(judged):
    found = judged({A: LOW, B: HIGH}, quick=True, measure="end", order=[A, B])
    assert found.words == "holds, quick runs"


def test_a_level_is_reached_between_two_rounds():
    x, y = made.np.array([0.0, 10.0, 20.0]), made.np.array([9.0, 5.0, 1.0])
    assert reached(x, y, 7.0) == 5.0
    assert reached(x, y, 1.0) == 20.0
    assert reached(x, y, 10.0) == 0.0


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ('measure = "end"\norder = ["a: A", "a: Z"]', "names a series 'a: Z' that is not drawn"),
        ('measure = "hope"\norder = ["a: A", "a: B"]', "measure"),
        ('measure = "end"', "needs one of order, not_order, same, best, more"),
        ('measure = "end"\norder = ["a: A", "a: B"]\nsame = ["a: A", "a: B"]', "needs one of"),
        ('measure = "end"\norder = ["a: A"]', "order has too few series"),
        ('measure = "end"\nbest = ["a: A", "a: B"]', "best must be a list of series"),
        ('measure = "end"\nbest = [["a: A"]]', "best has too few series"),
        ('measure = "end"\norder = ["a: A", "a: B"]\nb = 1', "an entry 'b', which means nothing"),
        ('measure = "end"\norder = ["a: A", "a: B"]\nby = -1', "by must be"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_a_claim_is_named(tmp_path, claim, text):
    wrong = f'{made.CURVES}\n[[claims]]\nsays = "It is so."\n{claim}\n'
    with pytest.raises(FileFormatError, match=f"fig1.toml: .*{text}"):
        read("fig1", folder=made.folder(tmp_path / "exhibits", fig1=wrong))


def test_series_are_called_by_their_panel_where_several_are_compared(judged):
    [line] = judged({A: LOW, "b: A": HIGH}, measure="end", order=[A, "b: A"]).seen
    assert "(a) A: " in line
    assert "(b) A: " in line
