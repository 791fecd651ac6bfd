"""Maps of all samples in the plane, by t-SNE of their principal components.

A map takes a minute and needs the data, so it is kept beside the results, as maps/NAME-KEY.npz,
and drawn from there. What is shown of it is a sample of the points, the same ones in every panel.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fedmf import datasets
from fedmf.arrays import Array, IntArray
from fedmf.clustering.metrics import contingency
from fedmf.errors import FileFormatError
from fedmf.files import write_atomically
from fedmf.paper.exhibit import Exhibit
from fedmf.plugins import with_options
from fedmf.report.runs.plane import sampled, tsne
from fedmf.trials import Store, Trial
from fedmf.trials.trial import digest

DEFAULTS = {"components": 50, "perplexity": 30, "seed": 0, "shown": 3000}


@dataclass(frozen=True, eq=False)
class Map:
    """Samples in the plane."""

    points: Array  # (n, 2), of those that are shown
    shown: IntArray  # (n,), which of all samples they are
    classes: IntArray  # (N,), indices of the names
    names: list[str]


def path_of(exhibit: Exhibit, store: Store) -> Path:
    """Return where an exhibit's map is, or would be."""
    trial = exhibit.trials[0]
    key = digest({"data": trial.place["data"], **_settings(exhibit)})
    return store.folder / "maps" / f"{exhibit.name}-{trial.source}-{key}.npz"


def _settings(exhibit: Exhibit) -> dict[str, Any]:
    return {**DEFAULTS, **exhibit.map}


def compute(exhibit: Exhibit, store: Store, data_dir: str | None = None) -> None:
    """Make an exhibit's map, unless it is there."""
    path, settings = path_of(exhibit, store), _settings(exhibit)
    if path.is_file():
        return
    X, labels = _data(exhibit.trials[0], data_dir)
    names, classes = np.unique(labels, return_inverse=True)
    places = _placed(X, settings)
    shown = sampled(len(places), settings["shown"])
    arrays: dict[str, Any] = {
        "points": places[shown].astype(np.float32),
        "shown": shown.astype(np.int32),
        "classes": classes.astype(np.int16),
        "names": names.astype(np.str_),
    }

    def save(temporary: Path) -> None:
        with temporary.open("wb") as file:
            np.savez_compressed(file, allow_pickle=False, **arrays)

    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, save)


def _data(trial: Trial, data_dir: str | None) -> tuple[Any, Any]:
    """Return all samples and their classes, in the order in which results have them."""
    name, options = with_options(trial.data, datasets.names())
    table = datasets.load(name, data_dir=data_dir, **options)
    return table.X, table.labels


def _placed(X: Any, settings: dict[str, Any]) -> Array:
    """Return the samples' places, (N, 2)."""
    from sklearn.decomposition import PCA

    dense = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    count = min(settings["components"], *dense.shape)
    columns = PCA(count, random_state=settings["seed"]).fit_transform(dense)
    return tsne(columns, settings["perplexity"], settings["seed"])


def load(exhibit: Exhibit, store: Store) -> Map | None:
    """Return an exhibit's map, if it was made."""
    path = path_of(exhibit, store)
    if not path.is_file():
        return None
    try:
        with np.load(path, allow_pickle=False) as file:
            found = {name: file[name] for name in ("points", "shown", "classes", "names")}
    except (OSError, ValueError, KeyError) as error:
        raise FileFormatError(f"{path} is damaged: {' '.join(str(error).split())}") from None
    return Map(
        found["points"].astype(np.float64),
        found["shown"].astype(np.int64),
        found["classes"].astype(np.int64),
        found["names"].tolist(),
    )


def matched(found: Map, labels: IntArray) -> tuple[IntArray, list[str]]:
    """Return for each sample the class that its cluster is matched with, and all names.

    A cluster that is left over gets a number of its own after the classes.
    """
    from scipy.optimize import linear_sum_assignment

    clusters, own = np.unique(labels, return_inverse=True)
    rows, columns = linear_sum_assignment(-contingency(found.classes, own))
    classes = np.full(len(clusters), -1)
    classes[columns] = rows
    spare = np.flatnonzero(classes < 0)
    classes[spare] = len(found.names) + np.arange(len(spare))
    return classes[own], [*found.names, *(f"spare {i}" for i in range(1, len(spare) + 1))]
