"""A number for each site that tells its data from others of the same figures."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import cases
from fedmf.fingerprints import differ, fingerprints
from fedmf.runtimes.local import cohorts


def literal(own):
    """Return f_p as a loop over all entries."""
    places = np.ndindex(own.shape)
    return sum(np.sin(i + 1) * np.cos(j + 1) * float(own[i, j]) for i, j in places)


def figures(sites):
    rows = [(*own.shape, np.sum(own.astype(float) ** 2), 0, 0, 0) for own in sites]
    return np.array(rows, dtype=float)


@pytest.mark.parametrize("fill", [0, 300, 2**40])
@pytest.mark.parametrize("convert", [np.array, sparse.csr_array, np.float32])
def test_it_is_the_double_sum_for_any_cohorts(fill, convert, sites):
    given = [convert(own) for own in sites]
    found = np.concatenate([fingerprints(cohort) for cohort in cohorts(given, None, fill)])
    wanted = [literal(np.asarray(own, dtype=convert(own).dtype)) for own in sites]
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    assert not differ(found, np.array(wanted), figures(sites)).any()


@given(
    seed=st.integers(0, 999),
    n=st.integers(2, 40),
    M=st.integers(2, 40),
    scale=st.sampled_from([1e-150, 1.0, 1e140]),
)
def test_one_entry_changed_is_seen_and_rounding_is_not(seed, n, M, scale):
    (own,), _ = cases.federation(seed, [n], M)
    own = scale * own
    (cohort,) = cohorts([own], None, 0)
    before = fingerprints(cohort)
    by_loops = np.array([literal(own)])
    assert not differ(before, by_loops, figures([own]))
    own[n // 2, M // 2] *= 1.001
    assert differ(before, fingerprints(cohort), figures([own]))


def test_one_that_is_not_known_differs_from_none():
    assert not differ(np.ones(3), np.full(1, np.nan), np.ones((3, 6))).any()
