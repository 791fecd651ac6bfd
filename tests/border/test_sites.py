"""Sites that are refused in one line, and unusual ones that are taken."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import cases
import fedmf
from border.refusals import refused
from fedmf.errors import FedMFError

ONES = np.ones((3, 4))
MGS = fedmf.FedMGS(q1=2, q2=3)


def with_entry(value, kind=np.float64):
    bad = np.ones((3, 4), dtype=kind)
    bad[2, 1] = value
    return bad


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
        (
            [ONES, ONES.astype(object)],
            r"^site 1: expected numbers, got .* object; .* X\.astype\(float\)$",
            TypeError,
        ),
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


def test_data_too_small_for_their_precision_are_named_so(sites):
    tiny = [(1e-40 * own).astype(np.float32) for own in sites]
    with pytest.raises(FedMFError, match=r"^round 1, site 0: .*; look for huge or tiny values in"):
        cases.play(tiny, MGS, 3)


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
