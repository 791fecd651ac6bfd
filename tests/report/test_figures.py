"""Figures: what is drawn is what was said; a method looks the same everywhere."""

from io import StringIO

import numpy as np
import pandas as pd
import pytest

import fedmf
from fedmf.report import Figure, Lines, Series, draw, palette, write_figure
from fedmf.report.looks import Look
from report import samples

ONE = np.arange(3.0)


def named(*names, method="fedmgs"):
    return [Series(name, ONE, ONE, method=method) for name in names]


def test_a_line_of_a_method_has_the_methods_own_colour():
    lines = [Series(name, ONE, ONE, method=name) for name in palette.METHODS]
    looks = Figure("", [Lines(lines)]).looks()
    assert {name: palette.variables()[look.colour] for name, look in looks.items()} == {
        name: method.colour for name, method in palette.METHODS.items()
    }


def test_two_lines_of_a_method_differ_by_dash_and_many_by_shade_and_mark_too():
    two = Figure("", [Lines(named("a", "b"))]).looks()
    assert two["a"].colour == two["b"].colour == "m-fedmgs"
    assert two["a"].dash != two["b"].dash
    many = Figure("", [Lines(named(*"abcde"))]).looks()
    assert len({look.colour for look in many.values()}) == 5
    assert len({(look.dash, look.mark) for look in many.values()}) == 5


def test_a_name_looks_the_same_in_all_panels():
    figure = Figure("", [Lines(named("a", "b")), Lines(named("b", "c"))])
    assert set(figure.looks()) == {"a", "b", "c"}


def test_a_look_can_be_chosen():
    look = Look("ink", (1, 1))
    figure = Figure("", [Lines([Series("a", ONE, ONE, look=look)])])
    assert figure.looks()["a"] == look


def test_one_legend_does_where_the_lines_are_the_same():
    assert samples.lines().shared_legend()  # the levels are in one panel only
    assert not samples.sweep().shared_legend()
    assert Figure("", [Lines(named("a", "b")), Lines(named("b"))]).shared_legend()


def test_the_lines_that_are_drawn_are_the_data():
    figure = samples.lines()
    axes = draw.whole(figure).axes[0]
    for line, series in zip(axes.lines, figure.panels[0].series, strict=False):
        np.testing.assert_array_equal(line.get_xdata(), series.x)
        np.testing.assert_array_equal(line.get_ydata(), series.y)
    assert axes.get_yscale() == "log"


def test_the_data_come_back_from_the_csv():
    frame = pd.read_csv(StringIO(samples.lines().csv()))
    assert frame.columns.tolist() == ["panel", "series", "round", "objective F", "low", "high"]
    own = frame[(frame["panel"] == "(a)") & (frame["series"] == "FedMGS")]
    np.testing.assert_allclose(own["objective F"], 1 + np.exp(-own["round"] / 9), rtol=1e-7)
    np.testing.assert_allclose(own["low"], 0.9 * own["objective F"], rtol=1e-7)


def test_columns_of_other_lengths_are_refused():
    with pytest.raises(fedmf.FedMFError, match="series 'a': x, y, low and high"):
        Series("a", ONE, ONE[:2])


@pytest.mark.parametrize("kind", ["svg", "png", "pdf"])
@pytest.mark.parametrize("make", [samples.lines, samples.sweep, samples.pictures])
def test_a_figure_is_written_the_same_each_time(make, tmp_path, kind):
    first, second = (write_figure(make(), tmp_path / f"{name}.{kind}") for name in "ab")
    assert first.read_bytes() == second.read_bytes()


def test_a_file_of_another_kind_is_refused(tmp_path):
    with pytest.raises(fedmf.FedMFError, match=r"figure.jpg: .*\.pdf, \.png or \.svg"):
        write_figure(samples.lines(), tmp_path / "figure.jpg")
