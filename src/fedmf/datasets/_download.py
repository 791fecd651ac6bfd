"""Fetch a file with a public address: resumed where it broke off, checked, put in place at once.

The transfer goes to NAME.part, with the server's tag for that version in NAME.tag, and is renamed
when it is whole and its checksum is right: NAME is never half a file. NAME.sha256 records what came
(the format of sha256sum). Where the published checksum is not known the first download is trusted,
and every later one has to be the same.
"""

from __future__ import annotations

import hashlib
import http.client
import os
import re
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from fedmf.datasets._card import Remote
from fedmf.errors import FileFormatError, MissingDataError

Progress: TypeAlias = Callable[[str, int, int | None], None]
"""Called with the file's name, the bytes that are here and the bytes in all (None: not told)."""

CHUNK = 1 << 18
TRIES = 3
SECONDS = 30.0
"""How long a server may be silent."""


def fetch(remote: Remote, folder: Path, progress: Progress | None = None) -> Path:
    """Return the file in the folder, fetched unless it is there already."""
    target = folder / remote.name
    if target.is_file():
        _check_kept(target)
        return target
    folder.mkdir(parents=True, exist_ok=True)
    reasons = []
    for url in remote.urls:
        try:
            return _from(url, remote, target, progress)
        except (OSError, http.client.HTTPException, FileFormatError) as problem:
            reasons.append(f"{url}: {' '.join(str(problem).split()) or type(problem).__name__}")
    raise MissingDataError(f"{target} could not be fetched: {'; '.join(reasons)}")


def sha256(path: Path) -> str:
    """Return the checksum of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _beside(target: Path, ending: str) -> Path:
    return target.with_name(f"{target.name}.{ending}")


def _recorded(target: Path) -> str | None:
    """Return the checksum of an earlier download, if there was one."""
    record = _beside(target, "sha256")
    return record.read_text().split()[0] if record.is_file() else None


def _check_kept(target: Path) -> None:
    """Refuse a file that changed since it was fetched; one that the user put there is theirs."""
    recorded = _recorded(target)
    if recorded is not None and sha256(target) != recorded:
        raise FileFormatError(
            f"{target}: its checksum is no longer that of {target.name}.sha256: delete it to fetch"
            " it again"
        )


def _from(url: str, remote: Remote, target: Path, progress: Progress | None) -> Path:
    part = _beside(target, "part")
    for attempt in range(TRIES):
        try:
            _transfer(url, part, progress)
            break
        except (ConnectionError, TimeoutError, http.client.HTTPException):
            if attempt == TRIES - 1:
                raise
    got, wanted = sha256(part), remote.sha256 or _recorded(target)
    if wanted not in (None, got):
        _forget(part)
        raise FileFormatError(f"checksum {got}, wanted {wanted}")
    _beside(target, "sha256").write_text(f"{got}  {target.name}\n")
    part.replace(target)
    _forget(part)
    return target


def _forget(part: Path) -> None:
    part.unlink(missing_ok=True)
    part.with_suffix(".tag").unlink(missing_ok=True)


def _transfer(url: str, part: Path, progress: Progress | None) -> None:
    """Bring `part` to the whole length; an interrupted one goes on where it stopped."""
    tag = part.with_suffix(".tag")
    have = part.stat().st_size if part.is_file() and tag.is_file() else 0
    headers = {"User-Agent": "fedmf", "Accept-Encoding": "identity"}
    if have:  # If-Range: a server whose file is another one by now sends it whole
        headers |= {"Range": f"bytes={have}-", "If-Range": tag.read_text()}
    try:
        response = _open(url, headers)
    except urllib.error.HTTPError as problem:
        problem.close()
        if problem.code == http.client.REQUESTED_RANGE_NOT_SATISFIABLE and have:
            _forget(part)
            raise ConnectionError("the server cannot go on from where it stopped") from None
        raise
    with response:
        if not _continues(response, have):
            have = 0
            part.unlink(missing_ok=True)  # before the tag of what comes names what is there
        _note_tag(response, tag)
        _append(response, part, have, progress)


def _open(url: str, headers: dict[str, str]) -> Any:
    if not url.startswith(("http://", "https://")):
        raise FileFormatError("the address is neither http nor https")
    request = urllib.request.Request(url, headers=headers)  # noqa: S310 - checked above
    return urllib.request.urlopen(request, timeout=SECONDS)  # noqa: S310


def _continues(response: Any, have: int) -> bool:
    """Return whether the server sends the rest, from the byte that was asked for."""
    found = re.match(r"bytes (\d+)-", response.headers.get("Content-Range", ""))
    partial = response.status == http.client.PARTIAL_CONTENT
    return partial and found is not None and int(found[1]) == have


def _note_tag(response: Any, tag: Path) -> None:
    """Keep what names this version of the file; without it an interrupted transfer starts anew."""
    strong = response.headers.get("ETag", "")
    value = strong if strong.startswith('"') else response.headers.get("Last-Modified")
    if value:
        tag.write_text(value)
    else:
        tag.unlink(missing_ok=True)


def _append(response: Any, part: Path, have: int, progress: Progress | None) -> None:
    told = response.headers.get("Content-Length")
    total = have + int(told) if told and told.isdigit() else None
    with part.open("ab") as file:
        file.truncate(have)
        while chunk := response.read(CHUNK):
            file.write(chunk)
            have += len(chunk)
            if progress is not None:
                progress(part.stem, have, total)
        file.flush()
        os.fsync(file.fileno())
    if total is not None and have != total:
        raise ConnectionError(f"it broke off after {have} of {total} bytes")
