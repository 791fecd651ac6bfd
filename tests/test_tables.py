"""Tables of results: means, words, CSV and LaTeX."""

import csv
import math
from io import StringIO

import pytest

from fedmf.tables import Column, Mean, Row, Table

TABLE = Table(
    [
        Column("method"),
        Column("accuracy", "accuracy, %", best="high"),
        Column("bytes", "uplink", show=lambda value: f"{value / 1000:.0f} kB", spread=False),
        Column("raw", "raw samples sent"),
        Column("rounds", digits=0, best="low"),
    ],
    [
        Row(["A & B", Mean.of([0.8, 0.9], scale=100), Mean.of([2000.0, 4000.0]), False, 12]),
        Row(["C_1", Mean.of([0.5], scale=100), Mean.of([1e6]), True, None]),
        Row(["pooled", 99.0, None, True, 1], apart=True),
    ],
)


def test_a_mean_and_its_spread():
    mean, spread, size = Mean.of([1, 2, 4], scale=2)
    assert (mean, size) == (pytest.approx(14 / 3), 3)
    assert spread == pytest.approx(2 * math.sqrt(7 / 3))
    assert math.isnan(Mean.of([3]).spread)


def test_words():
    assert TABLE.headings == ["method", "accuracy, %", "uplink", "raw samples sent", "rounds"]
    assert TABLE.words() == [
        ["A & B", "85.0 ± 7.1", "3 kB", "no", "12"],
        ["C_1", "50.0", "1000 kB", "yes", "-"],
        ["pooled", "99.0", "-", "yes", "1"],
    ]


def test_csv_keeps_whole_numbers_and_spreads():
    rows = list(csv.reader(StringIO(TABLE.csv())))
    assert rows[0] == ["method", "accuracy", "accuracy_sd", "bytes", "bytes_sd", "raw", "rounds"]
    assert rows[1][:2] == ["A & B", "85"]
    assert float(rows[1][2]) == pytest.approx(10 / math.sqrt(2))
    assert rows[2] == ["C_1", "50", "", "1000000", "", "yes", ""]
    assert rows[3] == ["pooled", "99", "", "", "", "yes", "1"]


def test_the_best_are_those_that_read_the_same_and_none_that_stands_apart():
    assert TABLE.best() == {(0, 1)}  # a single number in `rounds` is no best
    close = [Row([name, value]) for name, value in (("a", 71.04), ("b", 70.96), ("c", 70.9))]
    tie = Table([Column("m"), Column("x", best="high")], close)
    assert tie.best() == {(0, 1), (1, 1)}
    assert Table([Column("m"), Column("x", best="low")], close).best() == {(2, 1)}


def test_latex():
    text = TABLE.latex(caption="50 % of x_1")
    assert r"\begin{tabular}{lrrrr}" in text
    assert r"A \& B & \textbf{85.0 $\pm$ 7.1} & 3 kB & no & 12 \\" in text
    assert r"C\_1 & 50.0 & 1000 kB & yes & - \\" + "\n" + r"\midrule" + "\npooled" in text
    assert r"\caption{50 \% of x\_1}" in text
    assert text.count(r"\begin") == text.count(r"\end") == 2
    assert r"\begin{table}" not in TABLE.latex()


def test_latex_of_hostile_text():
    text = Table([Column("a")], [Row(["\\x{y}~^$%#_|<>"])]).latex()
    assert r"\textbackslash{}x\{y\}\textasciitilde{}\textasciicircum{}\$\%\#\_$|$$<$$>$" in text


def test_rows_have_a_cell_for_each_column():
    with pytest.raises(ValueError, match="a row has 1 of 2 cells"):
        Table([Column("a"), Column("b")], [Row([1])])
