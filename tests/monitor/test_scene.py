"""What there is to see is what the server said, asked for once."""

import pytest

from fedmf.monitor.scene import ANSWERED, MISSING, SILENT, WINDOW, Course, Watcher, at_work
from fedmf.monitor.words import facts, presence, state_of
from monitor.fake import NAMES, RUN, Fake, about, busy, row


def test_sites_go_by_their_numbers_and_not_by_their_names():
    scene = Watcher(busy()).look()
    assert tuple(site.name for site in scene.sites) == NAMES
    north, east, south = scene.sites
    assert north.marks == (ANSWERED,) * 5
    assert east.marks == (*[ANSWERED] * 3, SILENT, SILENT)
    assert south.marks == (*[ANSWERED] * 3, MISSING, SILENT)
    assert (south.asked, south.answered) == (4, 3)
    assert [presence(site) for site in scene.sites] == ["there", "at work", "away"]


def test_sums_hold_what_was_sent_before_round_1():
    course = Watcher(busy()).look().course
    assert (course.sent("uplink"), course.sent("downlink")) == (50 + 5000, 70 + 10000)
    assert course.objectives == [8.0, 8.0, 4.0, 8.0 / 3, 1.9, 1.8]
    assert (course.round, course.spent) == (5, 2.5)


def test_rows_are_asked_for_once():
    source = busy()
    watcher = Watcher(source)
    watcher.look()
    source.rows.append(row(6, 1.7))
    assert watcher.look().course.round == 6
    assert watcher.look(RUN).course.round == 6
    assert source.asked == [0, 5, 6]


def test_a_look_may_be_a_little_old():
    source = busy()
    watcher = Watcher(source)
    first = watcher.look(age=1000.0)
    assert watcher.look(age=1000.0) is first
    assert watcher.look() is not first


@pytest.mark.parametrize(
    ("seconds", "limit", "left"),
    [
        ([1.0] * 5, None, 15.0),
        ([9.0] * 5 + [2.0] * 6, None, 9 * 2.0),  # the median is that of the later ones
        ([1.0] * 5, 7.0, 2.0),
        ([1.0] * 5, 3.0, 0.0),
        ([1.0] * 20, None, 0.0),
        ([], None, None),
    ],
)
def test_the_time_left(seconds, limit, left):
    rows = [row(number, 1.0, seconds=one) for number, one in enumerate(seconds, start=1)]
    course = Course(about(job={"run": {"max_seconds": limit}}), rows)
    assert course.left == left


def test_a_run_that_has_ended_has_no_time_left():
    assert Course(about(state="done"), [row(1, 1.0)]).left is None


def test_the_run_that_is_shown():
    runs = [about("a", "done"), about("b", "running"), about("c", "queued")]
    assert at_work(runs) == "b"
    assert at_work([runs[0], runs[2]]) == "c"
    assert at_work(runs[:1]) == "a"
    assert at_work([]) is None


def test_what_was_seen_is_seen_again_while_the_server_is_away():
    source = busy()
    watcher = Watcher(source)
    before = watcher.look()
    source.away = True
    scene = watcher.look()
    assert "cannot be reached" in scene.trouble
    assert (scene.sites, scene.course) == (before.sites, before.course)
    source.away = False
    assert watcher.look().trouble == ""


def test_a_server_that_was_never_there_and_a_run_that_is_not():
    source = Fake()
    source.away = True
    scene = Watcher(source).look()
    assert (scene.name, scene.sites, scene.course) == ("hearts", (), None)
    source.away = False
    assert "there is no run 'x'" in Watcher(source).look("x").trouble


def test_only_the_last_rounds_are_marked():
    rows = [row(number, 1.0) for number in range(1, WINDOW + 20)]
    scene = Watcher(Fake([about()], rows)).look()
    assert {len(site.marks) for site in scene.sites} == {WINDOW}


def test_words():
    assert state_of(about(stopping=True)) == "stopping"
    assert state_of(about(state="stopped", stopping=True)) == "stopped"
    told = dict(facts(Watcher(busy()).look().course))
    assert told["round"] == "5 of 20"
    assert told["time left, at most"] == "7.5 s"
    assert told["sent by sites"] == "5.05 kB"
    assert told["waiting for"] == "east"
