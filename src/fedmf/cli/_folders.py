"""A run's folder as a command sees it: whether it may be written, and what a command adds to it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from fedmf.errors import ParameterError
from fedmf.files import is_temporary, write_atomically

if TYPE_CHECKING:
    import pandas as pd

    from fedmf.cli._data import Spread
    from fedmf.run import Run

PAGE, CLUSTERS = "report.html", "clusters.csv"


def prepare(folder: Path, *, overwrite: bool) -> None:
    """Make a folder for a new run, or refuse one that holds something else.

    A run to be replaced stays until the new one is saved over it.
    """
    from fedmf.storage import CONFIG, HISTORY, LEDGER, MODEL, RESOLVED

    if folder.exists() and not folder.is_dir():
        raise ParameterError(f"{folder} is a file: name another --out")
    held = sorted(path.name for path in folder.iterdir()) if folder.exists() else []
    own = (MODEL, CONFIG, RESOLVED, HISTORY, LEDGER, PAGE, CLUSTERS)
    others = [name for name in held if name not in own and not is_temporary(name)]
    if others and MODEL not in held:
        raise ParameterError(f"{folder} holds other files ({others[0]}): name another --out")
    if MODEL in held and not overwrite:
        raise ParameterError(
            f"{folder} holds a run already: go on with it by --resume {folder}, "
            "replace it by --overwrite, or name another --out"
        )
    folder.mkdir(parents=True, exist_ok=True)


@contextmanager
def prepared(folder: Path, *, overwrite: bool) -> Iterator[None]:
    """Prepare a folder; take a new one away again where an error comes before its first file."""
    new = not folder.exists()
    prepare(folder, overwrite=overwrite)
    try:
        yield
    except BaseException:
        if new:
            with suppress(OSError):  # it is not empty
                folder.rmdir()
        raise


def write_clusters(folder: Path, run: Run, spread: Spread) -> None:
    """Write each sample's site and cluster, in the order of the data."""
    frame = samples_of(spread)
    order = np.argsort(np.concatenate(spread.places), kind="stable")
    frame["cluster"] = np.concatenate(run.labels)[order]
    write_atomically(folder / CLUSTERS, frame.to_csv)


def samples_of(spread: Spread) -> pd.DataFrame:
    """Return a frame with each sample's site, by its name or its number, in the data's order."""
    import pandas as pd

    sizes = [len(place) for place in spread.places]
    order = np.argsort(np.concatenate(spread.places), kind="stable")
    names: Any = spread.names or range(len(sizes))
    site = np.repeat(np.asarray(list(names)), sizes)[order]
    samples = spread.table.samples
    index = pd.Index(samples if samples is not None else np.arange(len(order)), name="sample")
    return pd.DataFrame({"site": site}, index=index)


def is_run(folder: Path) -> bool:
    """Whether a folder holds a run."""
    from fedmf.storage import MODEL

    return (folder / MODEL).is_file()


def need_out(out: str | None) -> Path:
    """Return the folder that the user named."""
    if out is None:
        raise click.UsageError("where shall the run go? Say --out FOLDER")
    return Path(out).expanduser()
