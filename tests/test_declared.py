"""What a site may send: names, types, shapes and finiteness as declared."""

from typing import NamedTuple

import numpy as np
import pytest

import fedmf
from fedmf.algorithms.averaging import Terms
from fedmf.algorithms.fedmgs import Change
from fedmf.config import algorithms
from fedmf.declared import check_declared, layouts
from fedmf.errors import RefusedError
from fedmf.messages import Nothing
from fedmf.setup import Figures, Names, Setup
from fedmf.starts import find
from fedmf.starts.groups import Groups

KNOWN = {"M": 4, "K": 2}
U, V = np.eye(2), np.ones((4, 2), np.float32)


class Other(NamedTuple):
    U: object
    V: object


@pytest.mark.parametrize(
    "update",
    [
        Change(U, V),
        Terms(*np.zeros(3), np.eye(2)),
        Terms(*np.zeros(3), np.ones((1, 1))),
        Groups(np.ones((2, 4)), np.array([3, 4])),
        Groups(np.ones((6, 4)), np.ones(6, np.int64)),
        Groups(np.empty((0, 4)), np.empty(0, np.int64)),
        Figures(*np.ones(6), np.zeros(32, np.uint8)),
        Names(np.zeros(77, np.uint8)),
        Nothing(),
    ],
)
def test_what_is_declared_gets_through(update):
    check_declared(update, type(update), KNOWN)


@pytest.mark.parametrize(
    ("update", "kind", "text"),
    [
        (Other(U, V), Change, "Other is not among the declared messages"),
        (Change(U, V), None, "Change is not among"),
        (Change(U[:1], V), Change, r"Change.U is declared with the shape \(K, K\), got \(1, 2\)"),
        (Change(U, V.T), Change, r"Change.V is declared with the shape \(M, K\), got \(2, 4\)"),
        (Change(U, np.ones((4, 2), np.int64)), Change, "declared as float32 or float64, got int64"),
        (Change(np.array([[1, np.nan], [0, 1]]), V), Change, "Change.U holds a number that is not"),
        (Terms(*np.zeros(3), np.ones((1, 2))), Terms, r"shape \(k, k\), got \(1, 2\)"),
        (Terms(np.zeros(3), 0.0, 0.0, U), Terms, r"Terms.loss is declared with the shape \(\)"),
        (Groups(np.ones((7, 4)), np.ones(7, np.int64)), Groups, r"shape \(G, M\), got \(7, 4\)"),
        (Groups(np.ones((2, 4)), np.array([1])), Groups, r"Groups.sizes .* got \(1,\)"),
    ],
)
def test_all_else_is_refused(update, kind, text):
    with pytest.raises(RefusedError, match=text):
        check_declared(update, kind, KNOWN)


def test_every_task_of_a_run_declares_what_it_sends():
    methods = [kind() for kind in algorithms().values()]
    for method in [*methods, Setup(), find("kmeans"), find("linkage")]:
        for name, task in method.tasks().items():
            assert task.sends is not None, f"{type(method).__name__}: {name}"
            assert list(layouts(task.sends)) == list(task.sends._fields)


@pytest.mark.parametrize("algorithm", [fedmf.FedMAvg(), fedmf.FedMGS(), fedmf.FedPALM()])
def test_only_a_change_may_be_added_later(algorithm):
    addable = {name for name, task in algorithm.tasks().items() if task.addable}
    assert addable == ({"improve"} if algorithm.name == "fedmgs" else set())
