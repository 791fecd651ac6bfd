"""One federation of real processes, started when the first test asks for it."""

import pytest

from network import real


@pytest.fixture(scope="session")
def federation(tmp_path_factory):
    with real.running(tmp_path_factory.mktemp("federation"), real.samples()) as found:
        yield found
