"""What a user passes: what is taken as it is, what is converted, what is refused in one line."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import cases
import fedmf
from fedmf.border import as_sites
from fedmf.errors import FedMFError

ONES = np.ones((3, 4))
MGS = fedmf.FedMGS(q1=2, q2=3)


def refused(what, kind=ValueError):
    """Return a context that expects a one-line error of fedmf's that also is of that kind."""
    return _Refused(what, kind)


class _Refused:
    def __init__(self, what, kind):
        self.kind, self.context = kind, pytest.raises(FedMFError, match=what)

    def __enter__(self):
        self.info = self.context.__enter__()

    def __exit__(self, *error):
        done = self.context.__exit__(*error)
        assert isinstance(self.info.value, self.kind)
        assert "\n" not in str(self.info.value)
        return done


def always(value):
    """Return a schedule that says the same every time."""

    def schedule(*anything):
        return value

    return schedule


def with_entry(value, kind=np.float64):
    bad = np.ones((3, 4), dtype=kind)
    bad[2, 1] = value
    return bad


# ------------------------------------------------------------------ sites


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("layout", [np.array, sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize(("value", "said"), [(np.nan, "nan"), (np.inf, "inf"), (-np.inf, "-inf")])
def test_an_entry_that_is_not_finite_is_named(value, said, layout, kind):
    sites = [layout(ONES.astype(kind)), layout(with_entry(value, kind))]
    with refused(rf"^site 1: {said} at row 2, column 1: every entry must be a finite number$"):
        fedmf.fit(sites, fedmf.Problem(2), MGS)


def test_an_entry_far_down_is_named(monkeypatch):
    """The place is that in the site, not in the block of rows that is being looked at."""
    monkeypatch.setattr("fedmf.blocks.LARGE", 4096)
    monkeypatch.setattr("fedmf.blocks.SMALL", 64)
    rows = np.ones((3000, 4))
    rows[2718, 3] = np.nan
    with refused("^site 1: nan at row 2718, column 3:"):
        fedmf.fit([ONES, rows], fedmf.Problem(2), MGS)


@pytest.mark.parametrize(
    ("sites", "what", "kind"),
    [
        (ONES, "^sites must be a list .* for one, pass", TypeError),
        (sparse.csr_array(ONES), "^sites must be a list .* for one, pass", TypeError),
        (pd.DataFrame(ONES), "^sites must be a list .* got DataFrame", TypeError),
        ("abc", "^sites must be a list .* got str", TypeError),
        (None, "^sites must be a list .* got NoneType", TypeError),
        ({"a": ONES}, "^sites must be a list .* got dict", TypeError),
        ((own for own in [ONES]), "^sites must be a list .* got generator", TypeError),
        ([], "^there is no site", ValueError),
        ([ONES, np.ones((0, 4))], "^site 1 is empty: it has no sample", ValueError),
        ([ONES, sparse.csr_array((0, 4))], "^site 1 is empty: it has no sample", ValueError),
        ([np.ones((3, 0))], "^site 0 has no feature", ValueError),
        ([ONES, np.ones(4)], "^site 1: expected a 2-D array .* got 1-D", ValueError),
        ([ONES, np.ones((2, 2, 2))], "^site 1: expected a 2-D array .* got 3-D", ValueError),
        ([1.0], "^site 0: expected a 2-D array .* got 0-D", ValueError),
        ([ONES, [[1, 2, 3, 4], [1]]], "^site 1: the rows differ in length", ValueError),
        ([ONES, np.full((3, 4), "a")], "^site 1: expected numbers, got .* <U1", TypeError),
        ([ONES, ONES.astype(object)], "^site 1: expected numbers, got .* object", TypeError),
        ([ONES, ONES * 1j], "^site 1: expected numbers, got .* complex128", TypeError),
        ([sparse.csr_array(ONES * 1j)], "^site 0: expected numbers, got .* complex", TypeError),
        ([ONES, ONES.astype("M8[s]")], "^site 1: expected numbers, got .* datetime64", TypeError),
        ([ONES, None], "^site 1: expected numbers, got .* object", TypeError),
        ([ONES, pd.DataFrame({"a": ["x"]})], "^site 1: expected numbers", TypeError),
        ([np.ma.masked_array(ONES, ONES > 0)], "^site 0: a masked array has missing", TypeError),
        ([ONES, np.ones((2, 5))], "^site 1 has 5 features, site 0 has 4: all sites", ValueError),
    ],
)
def test_sites_that_cannot_be_used(sites, what, kind):
    with refused(what, kind):
        fedmf.fit(sites, fedmf.Problem(2), MGS)


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_a_bare_matrix_is_refused():
    with refused("^sites must be a list .* for one, pass", TypeError):
        fedmf.fit(np.matrix(ONES), fedmf.Problem(2), MGS)


def frame(names, rows=2):
    return pd.DataFrame(np.ones((rows, len(names))), columns=list(names))


@pytest.mark.parametrize(
    ("sites", "what"),
    [
        (
            [frame("abcd"), frame("abdc")],
            "^feature 2 is 'd' at site 1 and 'c' at site 0: all sites",
        ),
        ([frame("abcd"), ONES, frame("xbcd")], "^feature 0 is 'x' at site 2 and 'a' at site 0"),
        ([ONES, frame("abcd"), frame("abce")], "^feature 3 is 'e' at site 2 and 'd' at site 1"),
        ([frame(["a\nb", "c"]), frame(["a", "c"])], r"^feature 0 is 'a' at site 1 and 'a\\nb' at"),
        ([frame("abcd"), frame("abc")], "^site 1 has 3 features, site 0 has 4"),
    ],
)
def test_sites_with_other_feature_names(sites, what):
    with refused(what):
        fedmf.fit(sites, fedmf.Problem(2), MGS)


def test_names_are_compared_only_where_there_are_any():
    numbered = pd.DataFrame(ONES)
    run = fedmf.fit([frame("abcd"), ONES, numbered, frame("abcd")], fedmf.Problem(2), MGS, rounds=2)
    assert run.features == ("a", "b", "c", "d")


def test_data_too_large_for_their_squares(sites):
    for scale in (1e160, 1e200, 1e308):
        with refused(r"^site 0: entries up to 9\.\de\+\d+ are too large, their squares do not"):
            cases.play([scale * own for own in sites], MGS)


@pytest.mark.parametrize("algorithm", cases.RUNS.values(), ids=cases.RUNS)
def test_huge_data_that_still_have_squares_end_in_numbers_or_one_line(algorithm, sites):
    for scale in (1e70, 1e100, 1e150):
        try:
            run = cases.play([scale * own for own in sites], algorithm, 2)
        except FedMFError as error:
            assert re.match(r"round \d, s.*left the finite numbers", str(error))  # noqa: PT017
        else:
            assert np.isfinite(run.W).all()


@pytest.mark.parametrize("algorithm", cases.RUNS.values(), ids=cases.RUNS)
@pytest.mark.parametrize("scale", [0.0, 1e-300, 1e-150, 1e-20, 1e20])
def test_data_of_any_other_size_are_taken(scale, algorithm, sites):
    run = cases.play([scale * own for own in sites], algorithm, 3)
    assert np.isfinite(run.W).all()
    assert np.isfinite(run.history["objective"]).all()


def test_all_zero_data_stay_at_zero(sites):
    run = cases.play([0 * own for own in sites], MGS, 9, tol=1e-8)
    assert not run.W.any()
    assert run.converged
    assert run.position.objective == 0


def test_negative_data_with_a_nonnegative_problem(sites):
    for bounds in ("nonnegative", (0, 1), fedmf.constraints.Box(0.5, 1)):
        with refused("^the data hold negative values .smallest -0.99"):
            cases.play([-own for own in sites], MGS, problem=fedmf.Problem(3, bounds=bounds))
    for settings in ({"bounds": "data"}, {"bounds": "free"}, {"bounds": (-1, 1)}):
        cases.play([-own for own in sites], MGS, problem=fedmf.Problem(3, **settings))
    free_H = fedmf.Problem(3, bounds="nonnegative", h_bounds="free")
    cases.play([-own for own in sites], MGS, problem=free_H)


# ------------------------------------------------------------------ layouts and types


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


# ------------------------------------------------------------------ the start


def start(W=None, H=None):
    W0, H0 = cases.federation()[1]
    return (W0 if W is None else W, H0 if H is None else H)


H0 = cases.federation()[1][1]


@pytest.mark.parametrize(
    ("given", "what", "kind"),
    [
        (
            start(W=np.ones((3, 7))),
            r"^init: W0 must have the shape \(7, 3\), got \(3, 7\)",
            ValueError,
        ),
        (start(W=np.ones(7)), r"^init: W0 must have the shape \(7, 3\), got \(7,\)", ValueError),
        (start(H=H0[:3]), "^init has H0 for 3 sites, there are 4", ValueError),
        (start(H=[*H0, H0[0]]), "^init has H0 for 5 sites, there are 4", ValueError),
        (
            start(H=[own.T for own in H0]),
            r"^init: H0 of site 0 must have the shape \(3, 1\), got \(1, 3\)",
            ValueError,
        ),
        (start(W=np.full((7, 3), np.nan)), "^init: W0 holds a number that is not fin", ValueError),
        (
            start(H=[*H0[:3], np.full((3, 2), np.inf)]),
            "^init: H0 of site 3 holds a number that is not finite",
            ValueError,
        ),
        (start(W=np.full((7, 3), "a")), "^init: W0: expected numbers, got .* <U1", TypeError),
        (start(W=1j * np.ones((7, 3))), "^init: W0: expected numbers, got .* complex", TypeError),
        (start(H=[[[1, 2], [3]], *H0[1:]]), "^init: H0 of site 0: the rows differ", ValueError),
        (start(H=5), "^init: H0 must be a list with one of each site, got int", TypeError),
        (start(W=object()), "^init: W0: expected numbers", TypeError),
        (5, "^init must be None, a name, a Run, or a pair", TypeError),
        (start()[:1], "^init must be None, a name, a Run, or a pair", TypeError),
        ("ab", "^init must be one of kmeans, random; got .ab.", ValueError),
    ],
)
def test_a_start_that_cannot_be_used(given, what, kind, sites):
    with refused(what, kind):
        cases.play(sites, MGS, init=given)


def test_a_start_is_copied_and_converted(sites, init):
    W, H = init[0].round(), [own.round() for own in init[1]]
    whole = [W.astype(int), [own.astype(np.float32) for own in H]]
    kept = W.copy()
    cases.same(cases.play(sites, MGS, init=whole), cases.play(sites, MGS, init=(W, H)))
    np.testing.assert_array_equal(W, kept)


def test_a_run_is_a_start(sites, init):
    first = cases.play(sites, MGS, init=init)
    again = cases.play(sites, MGS, init=first)
    cases.same(again, cases.play(sites, MGS, init=(first.W, first.H)))
    assert again.initial_objective == pytest.approx(first.position.objective, rel=1e-12)


# ------------------------------------------------------------------ settings


@pytest.mark.parametrize(
    ("settings", "what", "kind"),
    [
        ({"rank": 0}, "^rank must be an integer of at least 1, got 0", ValueError),
        ({"rank": -2}, "^rank must be an integer of at least 1, got -2", ValueError),
        ({"rank": True}, "^rank must be an integer of at least 1, got True", TypeError),
        ({"rank": 2.5}, r"^rank must be an integer of at least 1, got 2\.5", TypeError),
        ({"rank": "3"}, "^rank must be an integer of at least 1, got '3'", TypeError),
        ({"rank": None}, "^rank must be an integer of at least 1, got None", TypeError),
        ({"rho": -1}, "^rho must be a finite number of at least 0, got -1", ValueError),
        ({"nu": np.nan}, "^nu must be a finite number of at least 0, got nan", ValueError),
        ({"mu": np.inf}, "^mu must be a finite number of at least 0, got inf", ValueError),
        ({"rho": "a"}, "^rho must be a finite number of at least 0, got 'a'", TypeError),
        ({"nu": True}, "^nu must be a finite number", TypeError),
        ({"bounds": (2, 1)}, r"^bounds must have lower <= upper, got \(2.0, 1.0\)", ValueError),
        (
            {"bounds": "dat"},
            "^bounds must be one of 'data', 'nonnegative', 'free'; got 'd",
            ValueError,
        ),
        ({"bounds": (1, 2, 3)}, "^bounds must be a name or a pair", TypeError),
        ({"bounds": 3}, "^bounds must be a name or a pair .* got 3", TypeError),
        ({"bounds": ("a", 1)}, "^bounds must be a number, got 'a'", TypeError),
        ({"bounds": (0, np.nan)}, "^bounds must be a number, got nan", ValueError),
        ({"h_bounds": "data"}, "^h_bounds must be one of 'nonnegative', 'free'; got", ValueError),
        ({"loss": "squarred"}, "^loss must be one of squared.* did you mean 'squared'", ValueError),
        ({"loss": 3}, "^loss must be a Loss, got int", TypeError),
        (
            {"weights": "rel"},
            "^weights must be one of 'relative', 'absolute'; got 'rel'",
            ValueError,
        ),
    ],
)
def test_a_problem_that_makes_no_sense(settings, what, kind):
    with refused(what, kind):
        fedmf.Problem(**{"rank": 2, **settings})


@pytest.mark.parametrize(
    ("algorithm", "settings", "what", "kind"),
    [
        (fedmf.FedMGS, {"q1": 0}, "^q1 must be an integer of at least 1, got 0", ValueError),
        (fedmf.FedMGS, {"q2": 1.0}, "^q2 must be an integer of at least 1, got 1.0", TypeError),
        (
            fedmf.FedMGS,
            {"gamma_h": 1.0},
            "^gamma_h must be a finite number above 1, got 1",
            ValueError,
        ),
        (
            fedmf.FedMGS,
            {"gamma_w": 1.0},
            "^gamma_w must be a finite number above 1, got 1",
            ValueError,
        ),
        (fedmf.FedMGS, {"gamma_w": "2"}, "^gamma_w must be a finite number above 1", TypeError),
        (fedmf.FedMAvg, {"gamma_h": 0.5}, "^gamma_h must be a finite number above 1", ValueError),
        (
            fedmf.FedMAvg,
            {"divisor": 0},
            "^divisor must be a finite number above 0, got 0",
            ValueError,
        ),
        (fedmf.FedMAvg, {"divisor": np.inf}, "^divisor must be a finite number abo", ValueError),
        (fedmf.FedMAvg, {"q1": 0}, "^q1 must be an integer of at least 1, got 0", ValueError),
        (fedmf.FedMAvg, {"q2": 0}, "^q2 must be an integer of at least 1, got 0", ValueError),
        (fedmf.FedMAvg, {"q2": "5"}, "^q2 must be an integer of at least 1, got '5'", TypeError),
        (fedmf.FedMAvg, {"q2": always(0)}, "^q2 must be an integer of at least 1, g", ValueError),
        (fedmf.FedMAvg, {"q2": always(1.5)}, "^q2 must be an integer of at least 1", TypeError),
        (
            fedmf.FedMAvg,
            {"common_step": "x"},
            "^common_step must be one of 'exact', 'la",
            ValueError,
        ),
        (fedmf.FedMAvg, {"participation": "pc"}, "^participation must be one of 'pcc'", ValueError),
        (fedmf.FedPALM, {"steps": 0}, "^steps must be an integer of at least 1, got 0", ValueError),
        (fedmf.Diminishing, {"qhat": -1}, "^qhat must be an integer of at least 0", ValueError),
    ],
)
def test_an_algorithm_that_makes_no_sense(algorithm, settings, what, kind):
    with refused(what, kind):
        algorithm(**settings)


@pytest.mark.parametrize("algorithm", [fedmf.FedMGS, fedmf.FedMAvg, fedmf.FedPALM])
def test_the_number_of_participants(algorithm, sites):
    with refused("^participants must be at most the number of sites, 4; got 5"):
        cases.play(sites, algorithm(participants=5))
    with refused("^participants must be an integer of at least 1, got 0"):
        algorithm(participants=0)
    with refused("^participants must be an integer of at least 1, got True", TypeError):
        algorithm(participants=True)


def test_a_schedule_that_ends_in_nothing_is_refused_when_it_does(sites):
    with refused("^q2 must be an integer of at least 1, got 0"):
        cases.play(sites, fedmf.FedMAvg(q2=lambda s: 3 - s), 9)


@pytest.mark.parametrize(
    ("options", "what", "kind"),
    [
        ({"rounds": 0}, "^rounds must be an integer of at least 1, got 0", ValueError),
        ({"rounds": 2.0}, r"^rounds must be an integer of at least 1, got 2\.0", TypeError),
        ({"tol": -1}, "^tol must be a number of at least 0, got -1", ValueError),
        ({"tol": np.nan}, "^tol must be a number of at least 0, got nan", ValueError),
        ({"tol": "x"}, "^tol must be a number of at least 0, got 'x'", TypeError),
        ({"max_seconds": -1}, "^max_seconds must be a number of at least 0, got -1", ValueError),
        ({"threads": 0}, "^threads must be an integer of at least 1, got 0", ValueError),
        ({"threads": 1.5}, "^threads must be an integer of at least 1", TypeError),
        ({"seed": -1}, "^seed must be an integer from 0 to", ValueError),
        ({"seed": "a"}, "^seed must be an integer from 0 to .* got 'a'", ValueError),
        ({"problem": 3}, "^problem must be a Problem, got int", TypeError),
        ({"penalty": always(np.nan)}, "^penalty must be a finite number", ValueError),
        ({"penalty": always(-1.0)}, "^penalty must be a finite number", ValueError),
        ({"penalty": always("a")}, "^penalty must be a finite number", TypeError),
    ],
)
def test_options_of_fit_that_make_no_sense(options, what, kind, sites):
    with refused(what, kind):
        cases.play(sites, MGS, **options)


def test_an_algorithm_is_an_algorithm(sites):
    with refused("^algorithm must be an Algorithm, got str", TypeError):
        cases.play(sites, "fedmgs")


# ------------------------------------------------------------------ unusual sizes, right results


@pytest.mark.parametrize("algorithm", cases.RUNS.values(), ids=cases.RUNS)
@pytest.mark.parametrize(
    ("sizes", "features", "rank"),
    [([1], 1, 1), ([1, 1, 1, 1], 3, 2), ([5, 6, 7, 8], 1, 2), ([2, 1, 1, 3], 5, 12)],
    ids=["one number", "one sample a site", "one feature", "K over M and N"],
)
def test_unusual_sizes(sizes, features, rank, algorithm):
    sites, init = cases.federation(1, sizes, features, rank)
    if algorithm.participants is not None:
        algorithm = type(algorithm)(
            **{**vars(algorithm), "participants": min(len(sizes), algorithm.participants)}
        )
    run = cases.play(sites, algorithm, 4, fedmf.Problem(rank, nu=1e-3), init=init)
    cases.agree(run, cases.replay(run, sites, init))
