"""What is remembered from one call to the next, and what is not."""

import numpy as np

from fedmf.arrays import largest_eigenvalue, remember_last


def remembering():
    """Return a remembering function and the list of its calls that were worked out."""
    calls = []

    @remember_last
    def add(A, number):
        calls.append((A, number))
        return A + number

    return add, calls


def test_the_very_same_arguments_are_worked_out_once():
    add, calls = remembering()
    A = np.zeros(2)
    assert add(A, 2.0) is add(A, 1.0 + 1.0)
    assert len(calls) == 1


def test_another_array_or_another_number_is_worked_out_anew():
    add, calls = remembering()
    A = np.zeros(2)
    for args in ((A, 1.0), (A, 2.0), (A.copy(), 2.0), (A, 2.0)):
        np.testing.assert_array_equal(add(*args), args[0] + args[1])
    assert len(calls) == 4


def test_an_array_in_the_place_of_one_that_is_gone_is_not_taken_for_it():
    """The last argument is kept, so that no other object can come to have its address."""
    add, _ = remembering()
    for number in range(50):
        assert add(np.full(1000, float(number)), 0.0)[0] == number


def test_the_largest_eigenvalue():
    assert largest_eigenvalue(np.array([[2.0, 1.0], [1.0, 2.0]])) == 3
    assert largest_eigenvalue(np.array([[-5.0]])) == -5
