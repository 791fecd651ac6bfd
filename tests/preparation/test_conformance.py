"""What holds for every preparation that there is, found by listing the folder."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from fedmf.errors import DataError, ParameterError
from fedmf.ledger import Ledger
from fedmf.messages import Nothing
from fedmf.preparation import Labels, Preparation, make, names, options, sends
from fedmf.preparation._classes import Classes
from fedmf.preparation._sums import Centre
from fedmf.preparation._words import pack
from fedmf.private import take
from fedmf.runtimes.local import LocalRuntime
from preparation.partitioned import NAMES, FarSites, dense, example, fitted

DENSE_ONLY = {name for name in names() if not make(name).takes_sparse()}
every = pytest.mark.parametrize("name", names())


def transformed(preparation, data):
    return np.vstack([dense(own) for own in preparation.transform(data.sites, features=NAMES)])


def privates(data):
    return [Labels(own.astype(object)) for own in data.labels]


def test_the_listing_holds_the_preparations_and_nothing_else():
    expected = {"align", "log1p", "max-abs", "min-max", "select", "standard", "tfidf"}
    assert expected <= set(names())
    assert list(names()) == sorted(names())
    assert options("standard") == {"with_mean": True, "with_std": True}
    assert make("min-max", feature_range=(0, 2)).feature_range == (0, 2)


def test_a_wrong_name_or_option_is_met_with_the_likely_one():
    with pytest.raises(ParameterError, match=r"preparation must be one of align, .*'minmax'; did"):
        make("minmax")
    with pytest.raises(ParameterError, match=r"option of preparation 'tfidf' .* mean 'smooth_idf'"):
        make("tfidf", smoth_idf=True)


@every
def test_it_says_in_one_line_what_leaves_a_site(name):
    kind = type(make(name))
    assert sends()[name] == kind.sends
    assert "\n" not in kind.sends
    assert "What leaves a site:" in kind.__doc__
    assert isinstance(make(name), Preparation)


@every
def test_it_is_cloned_with_its_options(name):
    preparation = fitted(make(name), example())
    copy = clone(preparation)
    assert copy.get_params() == preparation.get_params() == options(name)
    assert not hasattr(copy, "ledger_")
    assert copy.set_params(**options(name)) is copy
    assert type(preparation).__name__ in repr(copy)


@every
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_list_of_sites_and_rows_with_ids_give_the_same_numbers(name, dtype):
    data = example(dtype)
    there = fitted(make(name), data)
    shuffled = np.random.default_rng(0).permutation(len(data.ids))
    first = np.argsort(data.ids[shuffled], kind="stable")  # rows of one site stay in order
    mixed = shuffled[np.argsort(first, kind="stable")]
    words = np.array(["north", "east", "south", "west"])
    here = make(name).fit(data.X[mixed], data.y[mixed], words[data.ids[mixed]], NAMES)
    back = make(name).fit(data.X, data.y, sites=data.ids, features=NAMES)
    assert transformed(there, data).tolist() == transformed(back, data).tolist()
    np.testing.assert_allclose(transformed(here, data), transformed(back, data), rtol=1e-6)
    assert back.sites_ == there.sites_ == [0, 1, 2, 3]
    assert here.sites_ == list(dict.fromkeys(words[data.ids[mixed]]))
    assert here.ledger_.frame().equals(back.ledger_.frame()) or name == "select"
    whole = back.transform(data.X, features=NAMES)
    assert dense(whole).tolist() == transformed(there, data).tolist()


@every
def test_sites_are_the_same_as_all_rows_at_one_site(name):
    data = example()
    one = make(name).fit(data.X, data.y, features=NAMES)
    assert one.sites_ == [0]
    np.testing.assert_allclose(
        transformed(one, data), transformed(fitted(make(name), data), data), rtol=1e-13, atol=1e-15
    )


@every
def test_the_exchange_runs_over_a_wire_and_the_ledger_is_what_passed_through_it(name):
    data, ledger = example(), Ledger()
    runtime = FarSites(name, data.sites, tuple(NAMES), privates(data))
    far = make(name).fit_over(runtime, ledger)
    near = fitted(make(name), data)
    assert far.ledger_ is ledger
    frame = ledger.frame().groupby("site").sum(numeric_only=True)
    assert frame["uplink_bytes"].tolist() == runtime.up.tolist()
    assert frame["downlink_bytes"].tolist() == runtime.down.tolist()
    assert frame["uplink_reals"].tolist() == runtime.reals.tolist()
    assert (runtime.up > 0).all()
    assert near.ledger_.frame().equals(ledger.frame())
    for own, other in zip(far.state_, near.state_, strict=True):
        np.testing.assert_allclose(own, other, rtol=1e-13, atol=1e-15)


@every
@pytest.mark.parametrize("storage", ["dense", "csr"])
def test_what_is_added_up_is_weighted_site_by_site(name, storage):
    data, method = example(storage=storage), make(name)
    runtime = LocalRuntime(data.sites)
    runtime.place(privates(data))
    (host,) = runtime.hosts  # all sites in one cohort
    payloads = {"spread": Centre(np.arange(5.0)), "per class": Classes(pack("abc"))}
    weights = np.array([0.5, 0.0, 2.0, 1.0])
    for task, (run, each, *_) in method.tasks().items():
        if not each:
            payload = payloads.get(task, Nothing())
            _, whole = run(None, host.private, payload, host.data, weights)
            sites = enumerate(host.data.apart())
            states = [take(host.private, host.data, np.array([k])) for k in range(4)]
            ones = [run(None, states[k], payload, own, np.ones(1))[1] for k, own in sites]
            for place, found in enumerate(whole):
                wanted = sum(w * one[place] for w, one in zip(weights, ones, strict=True))
                np.testing.assert_allclose(found, wanted, rtol=1e-13)


@every
@pytest.mark.parametrize("storage", ["dense", "csr"])
def test_what_is_passed_stays_as_it_is_and_nothing_is_shared_with_it(name, storage):
    data = example(storage=storage)
    if storage == "csr" and name == "min-max":
        return
    keep = make(name, **({"with_mean": False} if name == "standard" else {}))
    before = [dense(own).copy() for own in data.sites]
    given = data.sites
    for own in given:
        for part in (own.data, own.indices, own.indptr) if storage == "csr" else (own,):
            part.flags.writeable = False
    keep.fit(given, data.labels, features=NAMES)
    for after in keep.transform(given, features=NAMES):
        (after.data if storage == "csr" or sparse.issparse(after) else after)[...] = -7
    assert all((dense(own) == old).all() for own, old in zip(given, before, strict=True))


@every
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, bool])
@pytest.mark.parametrize("storage", ["dense", "csr"])
def test_precision_and_storage_are_kept(name, dtype, storage):
    data = example(dtype, storage)
    if storage == "csr" and name in DENSE_ONLY:
        return
    wanted = dtype if np.dtype(dtype).kind == "f" else np.float64
    for own in fitted(make(name), data).transform(data.sites, features=NAMES):
        assert own.dtype == wanted
        assert sparse.issparse(own) == (storage == "csr" or name == "tfidf")
        assert not sparse.issparse(own) or own.format == "csr"


def test_what_would_fill_sparse_data_up_says_so_to_scikit_learn():
    assert {"min-max", "standard"} == DENSE_ONLY
    assert all(
        get_tags(make(name)).input_tags.sparse == (name not in DENSE_ONLY) for name in names()
    )
    assert get_tags(make("standard", with_mean=False)).input_tags.sparse


@every
def test_dense_and_sparse_data_give_the_same_numbers(name):
    if name not in DENSE_ONLY:
        both = [example(storage=storage) for storage in ("dense", "csr")]
        one, other = (transformed(fitted(make(name), data), data) for data in both)
        np.testing.assert_allclose(one, other, rtol=1e-14)


@every
def test_it_is_a_step_of_a_pipeline(name):
    data = example()
    steps = Pipeline([("first", make("log1p")), ("second", make(name))])
    ids = {"first__sites": data.ids, "second__sites": data.ids, "second__features": NAMES}
    if name == "align":
        steps = Pipeline([("second", make(name))])
        del ids["first__sites"]
        assert steps.fit(data.X, data.y, **ids).get_feature_names_out().tolist() == NAMES
        return
    found = steps.fit_transform(data.X, data.y, **ids)
    logs = np.log1p(data.X)
    alone = make(name).fit(logs, data.y, sites=data.ids).transform(logs)
    assert dense(found).tolist() == dense(alone).tolist()
    assert dense(steps.transform(data.X)).tolist() == dense(alone).tolist()


@every
def test_names_come_out_for_what_comes_out(name):
    data = example()
    preparation = fitted(make(name), data)
    out = preparation.get_feature_names_out()
    assert len(out) == preparation.transform(data.sites, features=NAMES)[0].shape[1]
    assert set(out) <= set(NAMES)
    if name != "align":
        unnamed = make(name).fit(data.sites, data.labels)
        assert set(unnamed.get_feature_names_out()) <= {f"x{column}" for column in range(5)}
        assert list(unnamed.get_feature_names_out(NAMES)) == list(out)


@every
def test_a_second_fit_leaves_nothing_of_the_first(name):
    data = example()
    preparation = fitted(make(name), data)
    preparation.left_over_ = 1
    fitted(preparation, data._replace(X=data.X + 1))
    fresh = fitted(make(name), data._replace(X=data.X + 1))
    assert vars(preparation).keys() == vars(fresh).keys()
    assert preparation.ledger_.frame().equals(fresh.ledger_.frame())


@every
def test_before_fit_it_says_so(name):
    with pytest.raises(NotFittedError, match=r"this Federated\w+ is not fitted yet: call fit"):
        make(name).transform(example().X)


@every
@pytest.mark.parametrize("storage", ["dense", "csr"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_number_that_is_none_is_refused_with_its_place(name, storage, value):
    sites = [own.copy() for own in example().sites]
    sites[2][4, 3] = value
    sites = [sparse.csr_array(own) if storage == "csr" else own for own in sites]
    text = f"^site 2: {value} at row 4, column 3: every entry must be a finite number$"
    data = example()
    with pytest.raises(DataError, match=text):
        make(name).fit(sites, data.labels, features=NAMES)
    if storage == "dense" or name not in DENSE_ONLY:
        with pytest.raises(DataError, match=text):
            fitted(make(name), data).transform(sites, features=NAMES)


@pytest.mark.parametrize("name", sorted(set(names()) - {"align"}))
def test_other_features_than_those_fitted_are_refused(name):
    data = example()
    preparation = fitted(make(name), data)
    with pytest.raises(DataError, match=r"site 1 has 4 features, this \w+ was fitted with 5"):
        preparation.transform([data.X, data.X[:, :4]])
    with pytest.raises(DataError, match=r"feature 0 of site 0 is 'z', this \w+ .* with 'v' there"):
        preparation.transform(data.X, features=NAMES[::-1])
    with pytest.raises(DataError, match=r"names of site 3 are not those of site 0: .*Align"):
        make(name).fit(data.sites, data.labels, features=[NAMES] * 3 + [NAMES[::-1]])
    with pytest.raises(DataError, match="site 3 has 2 features, site 0 has 5: all sites need"):
        make(name).fit([*data.sites[:3], data.sites[3][:, :2]], data.labels)


@pytest.mark.parametrize("name", ["log1p", "max-abs", "min-max", "standard"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("storage", ["dense", "csr"])
def test_what_can_be_undone_is_undone(name, dtype, storage):
    data = example(dtype, storage)
    if storage == "csr" and name in DENSE_ONLY:
        return
    preparation = fitted(make(name), data)
    for own, back in zip(
        data.sites, preparation.inverse_transform(preparation.transform(data.sites)), strict=True
    ):
        assert back.dtype == dtype
        assert sparse.issparse(back) == (storage == "csr")
        np.testing.assert_allclose(dense(back), dense(own), atol=16 * np.finfo(dtype).eps)
