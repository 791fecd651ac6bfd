"""Finding what a folder of the package holds, so that an addition is one new file.

A folder's modules are its plugins; those whose names begin with an underscore are shared parts. A
plugin's name is its file's, with hyphens. Names and options that are not there get one kind of
error: what is allowed, what came, and what may have been meant.
"""

from __future__ import annotations

import ast
import inspect
import pkgutil
from collections.abc import Callable, Collection, Iterable, Sequence
from difflib import get_close_matches
from importlib import import_module
from types import ModuleType
from typing import Any, TypeVar

from fedmf.errors import ParameterError

T = TypeVar("T")


def names_in(package: str) -> tuple[str, ...]:
    """Return the names of a package's plugins, sorted."""
    found = (module.name for module in pkgutil.iter_modules(import_module(package).__path__))
    return tuple(sorted(name.replace("_", "-") for name in found if not name.startswith("_")))


def module_in(package: str, name: str, what: str) -> ModuleType:
    """Return the module of one plugin; `what` says in an error what its kind is called."""
    known, wanted = names_in(package), str(name).replace("_", "-")
    if wanted not in known:
        raise unknown_name(what, name, known)
    return import_module(f"{package}.{wanted.replace('-', '_')}")


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
        raise unknown_name(self._what, name, self)


def options_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the keyword-only options that a plugin's function declares, with their defaults."""
    declared = inspect.signature(function).parameters.values()
    return {one.name: one.default for one in declared if one.kind is one.KEYWORD_ONLY}


def call(
    function: Callable[..., Any], what: str, *given: Any, beside: Sequence[str] = (), **options: Any
) -> Any:
    """Call a plugin's function; an option that it does not have is a ParameterError.

    beside: options that are allowed as well, but were dealt with before.
    """
    allowed = [*beside, *options_of(function)]
    for name in options:
        if name not in allowed:
            hint = did_you_mean(name, allowed)
            raise ParameterError(
                f"{what} has no option {name!r}{hint} (allowed: {shorten(allowed)})"
            )
    return function(*given, **options)


def with_options(text: str, names: Iterable[str]) -> tuple[str, dict[str, Any]]:
    """Return a name and the options behind its colon, as in `dirichlet:alpha=0.3`.

    What is not one of the names, such as a path, is left as it is.
    """
    name, colon, rest = text.partition(":")
    if not colon or name not in names:
        return text, {}
    options = {}
    for part in filter(None, rest.split(",")):
        key, equals, value = part.partition("=")
        if not equals:
            raise ParameterError(f"options are written NAME:KEY=VALUE,KEY=VALUE; got {text!r}")
        options[key.strip()] = _value(value.strip())
    return name, options


def _value(text: str) -> Any:
    """Return a number, a boolean or None where the text is one."""
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def unknown_name(what: str, name: object, known: Iterable[str]) -> ParameterError:
    """Return the error for a name that is not there."""
    allowed = list(known)
    hint = did_you_mean(str(name), allowed)
    return ParameterError(f"{what} must be one of {', '.join(allowed)}; got {name!r}{hint}")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return "; did you mean 'x'?" for the nearest known name, or nothing."""
    near = get_close_matches(name, list(known), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def shorten(names: Collection[str], limit: int = 12) -> str:
    """Return the names in one line, cut off where there are very many."""
    shown = ", ".join(" ".join(name.split()) for name in list(names)[:limit])
    return f"{shown}, ... ({len(names)} in all)" if len(names) > limit else shown or "none"
