"""Colours: told apart without one kind of cone, and seen on their ground."""

from itertools import combinations

import numpy as np
import pytest

from fedmf.report import palette

# How a colour looks without one kind of cone, in linear RGB (Machado, Oliveira and Fernandes 2009).
VISIONS = {
    "full": np.eye(3),
    "protan": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deutan": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritan": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
APART = 10  # of two colours in CIELAB, where 2 is just seen


def linear(colour):
    c = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def lab(colour, vision):
    seen = np.clip(np.asarray(VISIONS[vision]) @ linear(colour), 0, 1)
    t = TO_XYZ @ seen / [0.9505, 1, 1.089]
    f = np.where(t > 0.008856, np.cbrt(t), 7.787 * t + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def contrast(first, second):
    low, high = sorted(float(linear(one) @ TO_XYZ[1]) for one in (first, second))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("vision", VISIONS)
@pytest.mark.parametrize("ground", [0, 1], ids=["light", "dark"])
def test_methods_are_told_apart(vision, ground):
    seen = {name: lab(one.colour[ground], vision) for name, one in palette.METHODS.items()}
    for first, second in combinations(seen, 2):
        assert np.linalg.norm(seen[first] - seen[second]) > APART, (first, second)


@pytest.mark.parametrize("ground", [0, 1], ids=["light", "dark"])
def test_colours_are_seen_on_their_ground(ground):
    for name, method in palette.METHODS.items():
        assert contrast(method.colour[ground], palette.GROUND[ground]) >= 3, name
    for text in (palette.INK, palette.FAINT, palette.GOOD, palette.BAD, palette.OPEN):
        assert contrast(text[ground], palette.GROUND[ground]) >= 4.5


def test_no_two_variables_have_the_same_light_form():
    light = [colour.light for colour in palette.variables().values()]
    assert len(light) == len(set(light))


def test_a_method_that_is_not_listed_has_the_same_colour_every_time():
    assert palette.colour("mine") == palette.colour("mine")
    assert palette.colour("mine") in palette.OTHERS
