"""A tracker that keeps what it is told, and what TensorBoard's event files hold."""

import struct

import numpy as np
import pytest

from fedmf.tracking import Tracker


class Notes(Tracker):
    """Keeps what it is told."""

    name = "notes"

    def _open(self, where):
        self.where, self.name, self.settings, self.told, self.status = where, None, None, [], None

    def _begin(self, name, settings):
        self.name, self.settings = name, settings

    def _log(self, number, figures):
        self.told.append((number, figures))

    def _end(self, status, well):
        self.status = status, well


def scalars(folder):
    """Return name -> [(round, value)] of all event files of a folder, and the texts."""
    events = pytest.importorskip("tensorboardX.proto.event_pb2", reason="needs tensorboardX")
    found, texts = {}, {}
    for path in sorted(folder.glob("events.*")):
        data, place = path.read_bytes(), 0
        while place < len(data):
            (length,) = struct.unpack_from("<Q", data, place)
            event = events.Event.FromString(data[place + 12 : place + 12 + length])
            place += 16 + length  # the length, its checksum, the event, its checksum
            for value in event.summary.value:
                if value.HasField("simple_value"):
                    found.setdefault(value.tag, []).append((event.step, value.simple_value))
                else:
                    texts[value.tag.split("/")[0]] = value.tensor.string_val[0].decode()
    return found, texts


def near(told, history, name):
    rounds, values = zip(*told[name], strict=True)
    assert list(rounds) == history["round"].tolist()
    np.testing.assert_array_equal(np.float32(values), history[name].to_numpy(np.float32))


@pytest.fixture
def tensorboard():
    pytest.importorskip("tensorboardX", reason="needs tensorboardX")
