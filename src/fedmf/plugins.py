"""Finding what a folder of the package holds, so that an addition is one new file."""

from __future__ import annotations

import inspect
import pkgutil
from difflib import get_close_matches
from importlib import import_module
from typing import Any, TypeVar

from fedmf.errors import ParameterError

T = TypeVar("T")


def classes_in(package: str, kind: Any, what: str) -> Named[Any]:
    """Return the concrete classes derived from `kind` in the package's modules, by `name`."""
    found: dict[str, Any] = {}
    for info in pkgutil.iter_modules(import_module(package).__path__):
        module = import_module(f"{package}.{info.name}")
        for value in vars(module).values():
            if inspect.isclass(value) and issubclass(value, kind) and not inspect.isabstract(value):
                found[getattr(value, "name")] = value  # noqa: B009
    return Named(found, what)


class Named(dict[str, T]):
    """Things by name, with a helpful error for a name that is not there."""

    def __init__(self, found: dict[str, T], what: str) -> None:
        super().__init__(sorted(found.items()))
        self._what = what

    def __missing__(self, name: str) -> T:
        near = get_close_matches(str(name), self, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise ParameterError(f"{self._what} must be one of {', '.join(self)}; got {name!r}{hint}")
