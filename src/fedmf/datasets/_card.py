"""What is known of a data set before it is read: shown by `fedmf data list` and `describe`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Remote:
    """A file with a public address; `urls` are tried in turn.

    sha256: the checksum of the published file, or None where it is not known: then the first
        download is trusted, its checksum recorded beside it, and every later one compared.
    """

    name: str
    urls: tuple[str, ...]
    sha256: str | None = None


@dataclass(frozen=True)
class Card:
    """A data set in words and numbers; `samples` and `features` are those of the defaults.

    files: the layouts that are understood, each one line ("a and b" are needed together).
    """

    name: str
    title: str
    samples: int | None
    features: int | None
    classes: int | None
    source: str
    licence: str
    files: tuple[str, ...] = ()
    remotes: tuple[Remote, ...] = ()
    notes: str = ""
