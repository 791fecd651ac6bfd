"""Three clusters of samples at four sites."""

import numpy as np
import pytest


@pytest.fixture
def X():
    random = np.random.default_rng(5)
    W, classes = random.random((8, 3)), np.repeat([0, 1, 2], 20)
    return (W[:, classes] * random.uniform(0.5, 2, 60) + 0.1 * random.random((8, 60))).T


@pytest.fixture
def ids():
    """Four unbalanced sites, in no order."""
    return np.random.default_rng(6).choice(["b", "d", "a", "c"], 60, p=[0.1, 0.2, 0.3, 0.4])
