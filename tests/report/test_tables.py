"""Tables, as CSV and as LaTeX."""

import csv
from io import StringIO

import pytest

import fedmf
from fedmf.report import Table, write_table
from report import samples


def test_the_csv_has_values_not_words():
    rows = list(csv.reader(StringIO(samples.table().csv())))
    assert rows[0] == ["method", "accuracy", "time", samples.EVIL]
    assert rows[1] == ["FedMGS", "0.91", "12", "ok"]
    assert rows[2] == [samples.EVIL, "1.0", "", "does not"]


def test_columns_of_numbers_stand_to_the_right():
    assert samples.table().numeric() == [False, True, True, False]


def test_latex_is_escaped_and_has_the_best_in_bold():
    text = samples.table().latex()
    assert text.startswith("\\begin{tabular}{lrrl}\n")
    assert r"FedMGS & \textbf{91 \%} & 12 & ok \\" in text
    assert r"k-FED \& co" in text
    assert r"\$\textbackslash{}alpha\$" in text


def test_a_row_of_another_length_is_refused():
    with pytest.raises(fedmf.FedMFError, match="table 'T': a row has 1 cells for 2 headings"):
        Table(("a", "b"), [(1,)], "T")


@pytest.mark.parametrize("kind", ["csv", "tex"])
def test_a_table_is_written(kind, tmp_path):
    text = write_table(samples.table(), tmp_path / f"t.{kind}").read_text("utf-8")
    assert "FedMGS" in text


def test_a_table_has_no_other_files(tmp_path):
    with pytest.raises(fedmf.FedMFError, match=r"t.xls: a table is written as \.csv or \.tex"):
        write_table(samples.table(), tmp_path / "t.xls")
