"""Damaged copies of files, and what is said of them."""

import numpy as np

from fedmf.errors import FedMFError


def mutations(data, count):
    """Yield damaged copies: every third is cut short, the others have a few other bytes."""
    random = np.random.default_rng(1)
    for k in range(count):
        if k % 3 == 0:
            yield data[: random.integers(len(data))]
            continue
        changed = bytearray(data)
        for place in random.integers(len(data), size=random.integers(1, 4)):
            changed[place] = random.integers(256)
        yield bytes(changed)


def complaint(load):
    """Return why something is refused, or None where it is not; another error goes through."""
    try:
        load()
    except FedMFError as error:
        return str(error)
    return None
