"""Preparations over the hosts of a running federation: what a deployment does, step by step."""

from __future__ import annotations

import numpy as np
import pytest

from fedmf.engine import set_up
from fedmf.ledger import Ledger
from fedmf.preparation import Labels, make
from fedmf.runtimes.local import LocalRuntime
from preparation.partitioned import NAMES, example


def carry_out(preparation, runtime):
    """Replace every host's data by what the preparation makes of them."""
    for host in runtime.hosts:
        host.data = preparation.prepared(preparation.state_, host.data)


def test_one_after_the_other_on_one_runtime_and_in_one_ledger():
    data, ledger = example(), Ledger()
    runtime = LocalRuntime(data.sites, [tuple(NAMES)] * 4)
    runtime.place([Labels(own.astype(object)) for own in data.labels])
    steps = [make("select", k=3), make("log1p"), make("min-max")]
    for step in steps:
        carry_out(step.fit_over(runtime, ledger), runtime)
    assert all(host.private is None for host in runtime.hosts)  # no label is left
    known, _ = set_up(runtime)
    pooled = steps[0].fit_transform(data.X, data.y)
    wanted = make("min-max").fit_transform(np.log1p(pooled))
    assert known.features == 3
    assert np.isclose(known.squared_norm, (wanted**2).sum(), rtol=1e-13)
    assert runtime.hosts[0].data.features == tuple(steps[0].get_feature_names_out(NAMES))
    assert [entry.task for entry in ledger.entries].count("keep") == 3


def test_the_result_does_not_depend_on_how_sites_share_memory():
    data = example()
    for name in ("standard", "tfidf", "max-abs"):
        together = make(name).fit_over(LocalRuntime(data.sites))
        apart = make(name).fit_over(LocalRuntime(data.sites, apart=True))
        for own, other in zip(together.state_, apart.state_, strict=True):
            np.testing.assert_allclose(own, other, rtol=1e-14)


def test_a_site_larger_than_a_block():
    X = np.random.default_rng(0).random((3000, 400))
    for name in ("standard", "tfidf", "min-max"):
        one, many = make(name).fit(X), make(name).fit(X, sites=np.arange(3000) // 30)
        np.testing.assert_allclose(one.transform(X)[:9].sum(1), many.transform(X)[:9].sum(1))
        for own, other in zip(one.state_, many.state_, strict=True):
            np.testing.assert_allclose(own, other, rtol=1e-11)
    X[2500, 7] = -3
    with pytest.raises(ValueError, match=r"site 0: -3.0 at row 2500, column 7"):
        make("log1p").fit(X)
