"""Every layout and type of data gives the run that it should."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import cases
import fedmf
from border.refusals import refused
from fedmf.border import as_sites

MGS = fedmf.FedMGS(q1=2, q2=3)


def strided(own):
    wide = np.zeros((2 * own.shape[0], 3 * own.shape[1]))
    wide[::2, ::3] = own
    return wide[::2, ::3]


def read_only(own):
    own = own.copy()
    own.flags.writeable = False
    return own


def unsorted_read_only(own):
    """CSR with each row's entries in descending order, and arrays that nobody may write to."""
    flipped = sparse.csr_array(own[:, ::-1])
    columns = own.shape[1] - 1 - flipped.indices
    kept = sparse.csr_array((flipped.data, columns, flipped.indptr), shape=own.shape)
    for part in (kept.data, kept.indices, kept.indptr):
        part.flags.writeable = False
    return kept


LAYOUTS = {
    "Fortran": np.asfortranarray,
    "strided view": strided,
    "reversed view": lambda own: own[::-1, ::-1].copy()[::-1, ::-1],
    "read-only": read_only,
    "matrix": np.matrix,
    "big-endian": lambda own: own.astype(">f8"),
    "long double": lambda own: own.astype(np.longdouble),
    "lists": lambda own: own.tolist(),
    "frame": pd.DataFrame,
    "CSR": sparse.csr_array,
    "CSC": sparse.csc_matrix,
    "COO": sparse.coo_array,
    "read-only CSR": unsorted_read_only,
    "CSR, long indices": lambda own: sparse.csr_array(own).astype(float),
}


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
@pytest.mark.usefixtures("layout")
@pytest.mark.parametrize("convert", LAYOUTS.values(), ids=LAYOUTS)
def test_any_layout_gives_the_same_run_and_is_left_alone(convert, sites, init):
    given = [convert(own) for own in sites]
    before = [np.array(own.toarray() if sparse.issparse(own) else own) for own in given]
    run = cases.play(given, MGS, init=init)
    cases.alike(run, cases.play(sites, MGS, init=init))
    assert run.W.dtype == np.float64
    assert type(run.W) is np.ndarray
    for own, old in zip(given, before, strict=True):
        np.testing.assert_array_equal(own.toarray() if sparse.issparse(own) else own, old)


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [
        (np.float16, np.float32),
        (np.float32, np.float32),
        (">f4", np.float32),
        (np.int8, np.float64),
        (np.uint64, np.float64),
        (np.bool_, np.float64),
    ],
)
def test_other_types_become_a_float_that_holds_them(kind, wanted):
    numbers = np.array([[0, 1, 1, 0], [1, 0, 1, 1], [0, 0, 1, 0]])
    run = cases.play([numbers.astype(kind)], MGS)
    same = cases.play([numbers.astype(wanted)], MGS)
    assert run.W.dtype == wanted
    cases.same(run, same)


def test_memory_maps_are_used_in_place(tmp_path, sites, init):
    for place, own in enumerate(sites):
        np.save(tmp_path / f"{place}.npy", own)
    maps = [np.load(tmp_path / f"{place}.npy", mmap_mode="r") for place in range(len(sites))]
    assert all(isinstance(own, np.memmap) for own in as_sites(maps).rows)
    cases.same(cases.play(maps, MGS, init=init), cases.play(sites, MGS, init=init))


def views(kind):
    """Return two sites that are views of one array, in ways that are easily mistaken."""
    base = np.random.default_rng(0).random((10, 4))
    flat = base.ravel()
    return {
        "adjoining": [base[1:4], base[4:9]],
        "apart": [base[1:4], base[5:9]],
        "overlapping": [base[1:4], base[3:9]],
        "swapped": [base[4:9], base[1:4]],
        "begun in mid-row": [flat[1:9].reshape(2, 4), flat[9:17].reshape(2, 4)],
        "of another type": _as_another_type(base),
        "on one buffer": _on_one_buffer(base),
    }[kind]


def _as_another_type(base):
    whole = np.empty((10, 4), dtype=np.int64)
    seen = whole.view(np.float64)
    seen[:] = base
    return [seen[:4], seen[4:]]


def _on_one_buffer(base):
    data = base.tobytes()
    return [np.ndarray((5, 4), buffer=data), np.ndarray((5, 4), buffer=data, offset=160)]


@pytest.mark.parametrize(
    "kind",
    [
        *("adjoining", "apart", "overlapping", "swapped"),
        *("begun in mid-row", "of another type", "on one buffer"),
    ],
)
def test_views_of_one_array_are_read_where_they_are(kind):
    sites = views(kind)
    copies = [own.copy() for own in sites]
    cases.same(cases.play(sites, MGS), cases.play(copies, MGS))


def test_duplicate_entries_of_a_sparse_matrix_are_added_and_left_alone():
    data = np.array([1.0, 2.0, 3.0, 1.0])
    twice = sparse.csr_array((data, [2, 0, 2, 0], [0, 3, 4]), shape=(2, 4))
    run = cases.play([twice], MGS)
    cases.alike(run, cases.play([np.array([[2.0, 0, 4, 0], [1, 0, 0, 0]])], MGS))
    np.testing.assert_array_equal(twice.data, [1, 2, 3, 1])
    assert run.goal.known.squared_norm == 4 + 16 + 1


@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize(
    ("part", "place", "value"),
    [("indices", 3, 1000), ("indices", 3, -5), ("indptr", 4, 1000), ("indptr", 4, -3)],
)
def test_sparse_data_whose_indices_point_out_of_them_are_refused(form, part, place, value):
    good = sparse.random_array((50, 20), density=0.3, format="csr", rng=0)
    bad = good.asformat(form).copy()
    getattr(bad, part)[place] = value
    model = fedmf.FederatedNMF(3, max_iter=2).fit(good)
    clusters = fedmf.FederatedClustering(3, max_iter=2)
    with refused("site 1 is a damaged sparse matrix: "):
        cases.play([good, bad], MGS)
    with refused("site 1 is a damaged sparse matrix: "):
        clusters.fit([good, bad])
    for use in (model.transform, lambda X: clusters.fit(X, sites=[0, 1] * 25)):
        with refused("X is a damaged sparse matrix: "):
            use(bad)
