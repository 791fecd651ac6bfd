"""Every constraint projects onto the nearest point of its set, and only once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from fedmf.constraints import Box, Free, Nonnegative

SETS = [Free(), Nonnegative(), Box(0.0, 1.0), Box(-2.0, -1.0), Box(-np.inf, 3.0), Box(2.0, 2.0)]

matrices = st.sampled_from([np.float32, np.float64]).flatmap(
    lambda kind: arrays.arrays(
        kind,
        arrays.array_shapes(min_dims=2, max_dims=2, max_side=5),
        elements={"allow_nan": False, "allow_infinity": False, "min_value": -100, "max_value": 100},
    )
)


@pytest.mark.parametrize("onto", SETS, ids=str)
@given(A=matrices)
def test_a_projection_is_idempotent_in_the_set_and_in_the_arrays_type(onto, A):
    once = onto.project(A)
    lower, upper = onto.interval
    assert once.dtype == A.dtype
    assert (once >= lower).all()
    assert (once <= upper).all()
    np.testing.assert_array_equal(onto.project(once), once)


@pytest.mark.parametrize("onto", SETS, ids=str)
@given(A=matrices, data=st.data())
def test_no_point_of_the_set_is_nearer(onto, A, data):
    nearest = onto.project(A).astype(float)
    lower, upper = np.clip(onto.interval, -50, 50)
    other = data.draw(arrays.arrays(float, A.shape, elements=st.floats(lower, upper)))
    assert (abs(A - nearest) <= abs(A - other)).all()


@pytest.mark.parametrize("onto", SETS, ids=str)
def test_a_point_of_the_set_stays_and_the_argument_is_left_alone(onto):
    A = np.array([[-5.0, 0.5], [2.0, 9.0]])
    before = A.copy()
    inside = onto.project(A)
    np.testing.assert_array_equal(A, before)
    np.testing.assert_array_equal(onto.project(inside), inside)
