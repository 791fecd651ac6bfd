"""Numbers as people read them."""

import pytest

from fedmf.report.words import count, data_size, tick, time, unit


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.00 kB"), (999_499, "999 kB"), (2e12, "2.00 TB")],
)
def test_data_size(number, text):
    assert data_size(number) == text


@pytest.mark.parametrize(
    ("number", "text"), [(7, "7"), (1234, "1.23 thousand"), (2e9, "2.00 billion")]
)
def test_count(number, text):
    assert count(number) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(1.25, "1.2 s"), (125, "2 min 05 s"), (7300, "2 h 01 min")]
)
def test_time(seconds, text):
    assert time(seconds) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0"), (1500, "1,500"), (0.02, "0.02"), (1e-5, "10⁻⁵"), (2.5e7, "2.5·10⁷")],
)
def test_tick(number, text):
    assert tick(number) == text


@pytest.mark.parametrize(
    ("largest", "found"), [(0, ("B", 1)), (999, ("B", 1)), (1000, ("kB", 1e3)), (3e10, ("GB", 1e9))]
)
def test_unit(largest, found):
    assert unit(largest) == found
