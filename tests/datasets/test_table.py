import numpy as np
import pytest
from scipy import sparse

from fedmf.datasets import _table as tables
from fedmf.datasets import check_finite, figures
from fedmf.errors import DataError


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    monkeypatch.setattr(tables, "BLOCK", 8)


def _forms(X):
    return [X, np.asfortranarray(X), sparse.csr_matrix(X)]


@pytest.mark.parametrize("form", range(3))
def test_figures(form):
    X = np.array([[0.0, -2.0, 3.0], [0.0, 0.0, 1.0], [4.0, 0.0, 0.0], [1.0, 1.0, 0.0]])
    assert figures(_forms(X)[form]) == (-2.0, 4.0, 0.5)


def test_what_a_sparse_matrix_does_not_store_is_zero():
    assert figures(sparse.csr_matrix(np.array([[2.0, 0.0]]))) == (0.0, 2.0, 0.5)
    assert figures(sparse.csr_matrix((3, 4))) == (0.0, 0.0, 1.0)
    assert figures(np.array([[2.0, 3.0]])) == (2.0, 3.0, 0.0)


@pytest.mark.parametrize("form", range(3))
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_bad_value_is_found(form, value):
    X = np.arange(1.0, 41.0).reshape(8, 5)
    X[6, 3] = value
    with pytest.raises(DataError) as error:
        check_finite(_forms(X)[form], "some.npy")
    assert str(error.value) == f"some.npy: row 7, column 4 is {value}, not a finite number"


@pytest.mark.parametrize("form", range(3))
def test_finite_values_pass(form):
    check_finite(_forms(np.eye(9))[form], "some.npy")
