"""What the tests of the estimators share."""

import pytest
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import confusion_matrix

from fedmf import FederatedClustering, FederatedNMF

BOTH = pytest.mark.parametrize("kind", [FederatedNMF, FederatedClustering])


def make(kind=FederatedNMF, rank=3, **settings):
    return kind(rank, **{"max_iter": 15, "random_state": 0, **settings})


def accuracy(classes, clusters):
    counts = confusion_matrix(classes, clusters)
    return counts[linear_sum_assignment(-counts)].sum() / counts.sum()
