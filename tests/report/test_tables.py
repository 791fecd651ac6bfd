"""Tables, as CSV and from results."""

import csv
from io import StringIO

import pytest

import fedmf
from fedmf import tables
from fedmf.report import Cell, Table, results
from report import samples


def test_the_csv_has_values_not_words():
    rows = list(csv.reader(StringIO(samples.table().csv())))
    assert rows[0] == ["method", "accuracy", "time", samples.EVIL]
    assert rows[1] == ["FedMGS", "0.91", "12", "ok"]
    assert rows[2] == [samples.EVIL, "1.0", "", "does not"]


def test_columns_of_numbers_stand_to_the_right():
    assert samples.table().numeric() == [False, True, True, False]


def test_a_table_of_results_keeps_its_words_its_best_and_its_order():
    found = tables.Table(
        [tables.Column("method"), tables.Column("accuracy", best="high"), tables.Column("raw")],
        [tables.Row(["BEL", 52.0, True]), tables.Row(["FedMGS", tables.Mean.of([86, 88]), None])],
    )
    bel, ours = results(found, ["bel", "fedmgs"], "Table I", "table1").rows
    assert bel == [Cell("BEL", method="bel"), Cell("52.0", 52.0), Cell("yes")]
    assert ours == [Cell("FedMGS", method="fedmgs"), Cell("87.0 ± 1.4", 87.0, best=True), Cell("")]


def test_a_row_of_another_length_is_refused():
    with pytest.raises(fedmf.FedMFError, match="table 'T': a row has 1 cells for 2 headings"):
        Table(("a", "b"), [(1,)], "T")
