"""A cohort of sites: its products, its parts, and the private state that goes with it."""

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from fedmf.blocks import cut, pack, stack
from fedmf.private import Columns, PerSite, Shared, gather, put, split_up, take
from fedmf.sites import Cohort

SIZES = np.array([1, 4, 9, 2, 3])


class State(NamedTuple):
    """One field of each layout."""

    H: Columns
    gram: PerSite
    W: Shared


def cohort(sizes=SIZES, first=0, layout=np.array, pieces=1):
    """Return a cohort of such sites, numbered from `first`, its rows in so many blocks."""
    rows = np.random.default_rng(first).random((sizes.sum(), 7))
    edges = np.concatenate([[0], np.cumsum(sizes)])
    blocks = tuple(layout(part) for part in np.array_split(rows, pieces))
    return Cohort(blocks, np.arange(first, first + len(sizes)), edges)


def state(data, seed=0):
    random = np.random.default_rng(seed)
    sites = len(data.sites)
    H = np.asfortranarray(random.random((3, data.shape[0])))
    return State(H, random.random((sites, 3, 3)), random.random((7, 3)))


def dense(rows):
    return rows.toarray() if sparse.issparse(rows) else rows


def equal(one, other):
    for left, right in zip(one, other, strict=True):
        np.testing.assert_array_equal(left, right)


places = st.sets(st.integers(0, len(SIZES) - 1), min_size=1).map(sorted).map(np.array)
pieces = st.integers(1, 19)  # up to one sample each, and so into more than one group
layouts = st.sampled_from([np.array, sparse.csr_array])


@given(places=places, pieces=pieces, layout=layouts)
def test_a_selection_holds_the_rows_of_its_sites(places, pieces, layout):
    data = cohort(layout=layout, pieces=pieces)
    part = data.select(places)
    whole = np.split(dense(data.rows), data.edges[1:-1])
    np.testing.assert_array_equal(dense(part.rows), np.vstack([whole[k] for k in places]))
    np.testing.assert_array_equal(part.sizes, SIZES[places])
    np.testing.assert_array_equal(part.sites, places)
    columns = np.arange(data.shape[0])[data.columns(places)]
    np.testing.assert_array_equal(dense(part.rows), dense(data.rows)[columns])


@given(pieces=pieces, layout=layouts)
def test_the_products_are_those_of_the_whole_matrix(pieces, layout):
    data = cohort(layout=layout, pieces=pieces)
    X, (H, _, W) = dense(data.rows).T, state(data)
    np.testing.assert_allclose(data.cross(W), W.T @ X, rtol=1e-14)
    np.testing.assert_allclose(data.moment(H), X @ H.T, rtol=1e-14)
    assert data.squared_norm == pytest.approx(np.sum(X**2), rel=1e-14)
    assert data.cross(W).T.flags.c_contiguous


def test_grams_and_parts_are_those_of_each_site():
    data = cohort(first=3)
    H = state(data).H
    wanted = [own @ own.T for own in np.split(H, data.edges[1:-1], axis=1)]
    np.testing.assert_allclose(data.grams(H), wanted, rtol=1e-14)
    assert data.grams(H.astype("f4")).dtype == np.float64
    alone = list(data.apart())
    assert [int(own.sites[0]) for own in alone] == [3, 4, 5, 6, 7]
    np.testing.assert_array_equal(np.vstack([own.rows for own in alone]), data.rows)
    np.testing.assert_array_equal(data.spread(np.arange(5)), np.repeat(np.arange(5), SIZES))


# ------------------------------------------------------------------ private state


@given(places=places)
def test_put_gives_back_what_take_took(places):
    data = cohort()
    private = state(data)
    equal(put(private, data, places, take(private, data, places)), private)


@given(places=places)
def test_put_changes_the_asked_sites_and_no_other(places):
    data = cohort()
    old, new = state(data), state(data, seed=1)
    kept = State(*(own.copy() for own in old))
    merged = put(old, data, places, take(new, data, places))
    others = np.setdiff1d(np.arange(5), places)
    equal(take(merged, data, places), take(new, data, places))
    if len(others):
        equal(take(merged, data, others)[:2], take(kept, data, others)[:2])
    equal(old, kept)
    np.testing.assert_array_equal(merged.W, new.W)


@given(borders=st.sets(st.integers(1, 4)))
def test_split_up_and_gather_are_each_others_inverse(borders):
    groups = np.split(np.arange(5), sorted(borders))
    parts = [cohort(SIZES[group], first=int(group[0])) for group in groups]
    private = state(cohort())
    pieces = split_up(private, parts)
    equal(gather(pieces), private)
    for piece, part in zip(pieces, parts, strict=True):
        assert piece.H.shape == (3, part.shape[0])
        assert len(piece.gram) == len(part.sites)


def test_a_state_is_laid_out_the_same_wherever_it_comes_from():
    """Saved, gathered or just computed: each sample's column in one piece, so the same bits."""
    data = cohort()
    private = state(data)._replace(H=np.ascontiguousarray(state(data).H))
    everyone = np.arange(5)
    for own in (put(None, data, everyone, private), *split_up(private, [data])):
        assert own.H.flags.f_contiguous
    assert put(None, data, everyone, None) is None


# ------------------------------------------------------------------ blocks


@pytest.mark.parametrize("layout", [np.array, sparse.csr_array])
@pytest.mark.parametrize("large", [1, 100, 2000, 10**9])
def test_cutting_and_packing_keep_every_row_in_its_place(layout, large, monkeypatch):
    rows = np.random.default_rng(0).random((50, 3))
    monkeypatch.setattr("fedmf.blocks.LARGE", large)
    monkeypatch.setattr("fedmf.blocks.DENSE_ROWS", 1)
    for small in (1, 100, 10**9):
        monkeypatch.setattr("fedmf.blocks.SMALL", small)
        parts = [piece for part in np.array_split(rows, 7) for piece in cut(layout(part))]
        whole = stack(list(pack(parts)))
        np.testing.assert_array_equal(dense(whole), rows)


def test_neighbours_in_one_array_are_put_together_without_a_copy():
    rows = np.zeros((20, 3))
    assert np.shares_memory(stack([rows[2:5], rows[5:9]]), rows)
    assert not np.shares_memory(stack([rows[2:5], rows[6:9]]), rows)
