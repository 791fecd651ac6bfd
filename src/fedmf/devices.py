"""A site's samples and columns on a device, such as a GPU.

The tasks of the algorithms are written once: what they do with a site's arrays is in the array API
standard (`@`, `.T`, slices, `clip`), and what is small (W, sums over samples) is numpy's on either
side. So a host may run a task on its cohort as it is, or on this one, whose samples were copied to
the device once and whose H stays there from round to round.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from types import ModuleType
from typing import Any, TypeVar

import numpy as np

from fedmf.arrays import Array, beside, here
from fedmf.blocks import stack
from fedmf.errors import DataError, ParameterError
from fedmf.kernels import outer
from fedmf.private import kinds
from fedmf.problem import Goal
from fedmf.sites import Cohort

Private = TypeVar("Private", bound=tuple[Any, ...])


@dataclass(frozen=True)
class Device:
    """A device of a library that has the array API."""

    space: ModuleType  # the library's namespace
    name: Any  # what the library calls the device

    def put(self, A: Array) -> Any:
        """Copy numpy's array there."""
        forward = A if min(A.strides) > 0 else A.copy()  # a single row may be stored backwards
        return self.space.asarray(np.ascontiguousarray(forward), device=self.name, copy=True)


def brought_here(private: Any) -> Any:
    """Return a private state, or none, as numpy's arrays."""
    return None if private is None else type(private)(*map(here, private))


@dataclass(frozen=True)
class There(Cohort):
    """A cohort whose samples are on a device; it has numpy's, too."""

    device: Device = field(kw_only=True)

    @classmethod
    def copy_of(cls, data: Cohort, device: Device) -> There:
        """Return the cohort with its samples on a device, from the first product on."""
        if not isinstance(data.blocks[0], np.ndarray):
            raise DataError(f"site {data.sites[0]}: sparse samples cannot be put on a device")
        return cls(data.blocks, data.sites, data.edges, data.features, device=device)

    def settled(self, goal: Goal, private: Private) -> Private:
        """Return a private state with its columns on the device; those that are stay."""
        if not goal.squared:
            raise ParameterError(f"a device needs the squared loss, got {goal.loss.name!r}")
        if goal.h_set.interval is None:
            raise ParameterError("a device needs h_bounds that are an interval")
        moved: dict[int, Any] = {}  # an array that is in two fields is copied once
        for kind, value in zip(kinds(type(private)), private, strict=True):
            if kind == "columns" and isinstance(value, np.ndarray) and id(value) not in moved:
                moved[id(value)] = self.device.put(value.T).T  # in memory, sample after sample
        return type(private)(*(moved.get(id(value), value) for value in private))

    @contextmanager
    def named(self) -> Iterator[None]:
        """Say of which site it is what a device refuses: mostly, there is no room."""
        try:
            yield
        except RuntimeError as error:  # torch's
            raise DataError(f"site {self.sites[0]}: the device refuses: {_why(error)}") from None

    @cached_property
    def samples(self) -> Any:
        """All samples, (n, M), on the device."""
        return self.device.put(stack(self.blocks))

    def cross(self, W: Array) -> Any:
        """Return W'X, (K, n), on the device."""
        return (self.samples @ beside(W, self.samples)).T

    def moment(self, H: Any, before: Any = None) -> Array:
        """Return X (H - before)', (M, K), for both on the device."""
        return here(((H if before is None else H - before) @ self.samples).T)

    def grams(self, H: Any) -> Array:
        """Return H_p H_p' of every site, (b, K, K), in double precision."""
        return np.stack([outer(part) for part in self.split(H)])


def find(name: str) -> Device:
    """Return a device by torch's name for it: "cuda", "cuda:1", "cpu"."""
    try:
        torch: Any = import_module("array_api_compat.torch")
    except ImportError:
        raise ParameterError('a device needs torch: pip install "fedmf[torch]"') from None
    try:
        here(torch.zeros(1, dtype=torch.float64, device=name))
    except (RuntimeError, TypeError, AssertionError) as error:
        raise ParameterError(f"device {name!r} is not to be had: {_why(error)}") from None
    return Device(torch, name)


def _why(error: Exception) -> str:
    """Return the first sentence of what torch says, which may go on for pages."""
    return str(error).split(". ")[0].splitlines()[0]
