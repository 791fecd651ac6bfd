"""Messages as bytes and back."""

import json
import struct
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from fedmf import wire
from fedmf.algorithms.averaging import Model
from fedmf.algorithms.fedmgs import Change
from fedmf.errors import FileFormatError
from fedmf.messages import Nothing

TYPES = ["f4", "f8", "i4", "i8", "u1", "?", "f2", "u8"]

anything = st.sampled_from(TYPES).flatmap(
    lambda kind: arrays.arrays(kind, arrays.array_shapes(min_dims=0, max_dims=3, min_side=0))
)


class Scalars(NamedTuple):
    """Numbers that are no arrays."""

    whole: int
    real: float


@given(U=anything, V=anything)
def test_a_message_comes_back_as_it_was(U, V):
    got = wire.decode(wire.encode(Change(U, V)), Change)
    assert type(got) is Change
    for sent, received in zip((U, V), got, strict=True):
        assert received.dtype == sent.dtype
        np.testing.assert_array_equal(received, sent)
        assert received.shape == sent.shape


@given(U=anything, V=anything)
def test_the_size_is_that_of_the_bytes(U, V):
    assert wire.size(Change(U, V)) == len(wire.encode(Change(U, V)))


@pytest.mark.parametrize(
    "array",
    [
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.arange(12.0).reshape(3, 4)[::2, ::-1],
        np.arange(4, dtype=">f8"),
        np.float32(2.5),
        3,
        2.5,
        True,
    ],
)
def test_any_layout_and_plain_numbers_travel(array):
    message = Model(array)
    received = wire.decode(wire.encode(message), Model).W
    np.testing.assert_array_equal(received, array)
    assert wire.size(message) == len(wire.encode(message))


def test_a_message_without_content():
    assert wire.decode(wire.encode(Nothing()), Nothing) == Nothing()
    assert wire.size(Nothing()) == len(wire.encode(Nothing()))


def test_reals_count_floating_numbers_only():
    assert wire.reals(Change(np.zeros((3, 3)), np.zeros((7, 3), "f4"))) == 9 + 21
    assert wire.reals(Scalars(3, 2.5)) == 1
    assert wire.reals(Model(np.zeros(32, "u1"))) == 0
    assert wire.reals(Nothing()) == 0


@pytest.mark.parametrize("message", [Model(np.zeros(2)), Nothing(), Scalars(1, 2.0)])
def test_a_message_of_another_kind_is_refused(message):
    with pytest.raises(FileFormatError, match=r"^a Change message has the arrays U, V; got"):
        wire.decode(wire.encode(message), Change)


def test_a_message_with_more_than_was_asked_for_is_refused():
    with pytest.raises(FileFormatError, match=r"^a Model message has the arrays W; got"):
        wire.decode(wire.encode(_More(np.zeros(1), np.zeros(1))), Model)


class _More(NamedTuple):
    W: object
    extra: object


def raw(header, body=b""):
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body


def entry(kind, size):
    return {"W": {"dtype": kind, "shape": [1], "data_offsets": [0, size]}}


GOOD = wire.encode(Model(np.arange(3.0)))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x01",
        b"junk" * 20,
        GOOD[:-1],
        GOOD + b"x",
        GOOD[1:],
        b"\x80\x04N.",
        raw([1]),
        raw({"W": 3}),
        raw(entry("F64", 4), b"\0" * 4),
        raw(entry("O", 8), b"\0" * 8),
        raw(entry("BF16", 2), b"\0" * 2),
        raw(entry("F8_E4M3", 1), b"\0"),
        struct.pack("<Q", 2**62) + b"{}",
    ],
    ids=range(14),
)
def test_garbage_is_refused_in_one_line(data):
    with pytest.raises(FileFormatError) as refused:
        wire.decode(data, Model)
    assert "\n" not in str(refused.value)


@given(st.binary(max_size=80))
def test_random_bytes_are_refused(data):
    with pytest.raises(FileFormatError):
        wire.decode(data, Model)


@given(place=st.integers(0, len(GOOD) - 1), value=st.integers(0, 255))
def test_one_wrong_byte_is_refused_or_is_a_number(place, value):
    data = GOOD[:place] + bytes([value]) + GOOD[place + 1 :]
    try:
        W = wire.decode(data, Model).W
    except FileFormatError:
        return
    assert W.dtype.kind in "fiub"
