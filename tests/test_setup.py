"""The set-up exchange: the figures of all data, by hand and as they travel."""

import numpy as np
import pytest
from scipy import sparse

import fedmf
from fedmf.engine import set_up
from fedmf.runtimes.local import LocalRuntime
from fedmf.setup import Figures

# Squares 9 + 1 + 4 + 0 | 1 + 25 | 0: 40. Sizes 3 + 1 + 2 + 0 | 1 + 5 | 0: 12.
SITES = [np.array([[3.0, -1.0], [2.0, 0.0]]), np.array([[1.0, 5.0]]), np.zeros((1, 2))]


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("convert", [np.array, sparse.csr_array])
@pytest.mark.usefixtures("layout")
def test_the_figures_by_hand(convert, kind):
    runtime = LocalRuntime([convert(own.astype(kind)) for own in SITES])
    known, federation = set_up(runtime)
    assert known == (4, 2, 40.0, -1.0, 5.0, 12 / 8)
    assert federation.sizes.tolist() == [2, 1, 1]
    assert federation.everyone.tolist() == [0, 1, 2]


@pytest.mark.parametrize(("sign", "extremes"), [(1, (0, 5)), (-1, (-5, 0))])
def test_zeros_that_a_sparse_matrix_does_not_hold_count(sign, extremes):
    known, _ = set_up(LocalRuntime([sparse.csr_array(np.array([[sign * 5.0, 0.0]]))]))
    assert (known.minimum, known.maximum) == extremes
    full, _ = set_up(LocalRuntime([sparse.csr_array(np.array([[sign * 5.0, sign * 2.0]]))]))
    assert {abs(full.minimum), abs(full.maximum)} == {5, 2}


def test_a_sparse_matrix_without_any_entry():
    known, _ = set_up(LocalRuntime([sparse.csr_array((3, 4))]))
    assert known == (3, 4, 0.0, 0.0, 0.0, 0.0)


def test_single_precision_is_summed_in_double():
    """10^6 times 0.1 in float32: a sum in single precision would be off in the fourth figure."""
    value = float(np.float32(0.1))
    known, _ = set_up(LocalRuntime([np.full((1000, 1000), 0.1, np.float32)]))
    assert known.squared_norm == pytest.approx(1e6 * value**2, rel=1e-12)
    assert known.mean_absolute == pytest.approx(value, rel=1e-12)


def test_what_the_set_up_costs_is_in_the_ledger():
    """Six numbers from each site, and a digest; names are only asked for where digests differ."""
    _, federation = set_up(LocalRuntime(SITES))
    frame = federation.ledger.frame()
    assert frame["round"].tolist() == [0, 0, 0]
    assert frame["task"].tolist() == ["figures"] * 3
    assert frame["uplink_reals"].tolist() == [len(Figures._fields) - 1] * 3
    assert frame["counted_reals"].tolist() == [0] * 3
    mixed = LocalRuntime(SITES, [("a", "b"), None, None])
    assert set(set_up(mixed)[1].ledger.frame()["task"]) == {"figures", "names"}


def test_every_site_has_a_name_for_itself_in_the_ledger(sites):
    run = fedmf.fit(sites, fedmf.Problem(2), fedmf.FedMGS(), rounds=1)
    figures = run.ledger.frame().query("task == 'figures'")
    assert figures["site"].tolist() == [0, 1, 2, 3]
