"""Whether the files of a built-in data set are there, seen without reading them."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fedmf.datasets import Card


def present(card: Card, data_dir: str | None) -> bool:
    """Whether one of the layouts that a card names is complete in the data folder."""
    given = data_dir or os.environ.get("FEDMF_DATA")
    if not card.files:
        return True
    if not given:
        return False
    folder = Path(given).expanduser()
    return any(_complete(layout, (folder, folder / card.name)) for layout in card.files)


def _complete(layout: str, places: tuple[Path, ...]) -> bool:
    """Whether all files of a layout are there; it reads "a and b (remarks)"."""
    names = re.sub(r"\(.*?\)", "", layout).split(" and ")
    return all(any(_there(place / name.strip()) for place in places) for name in names)


def _there(path: Path) -> bool:
    return path.is_file() or (path.suffix == ".gz" and path.with_suffix("").is_file())
