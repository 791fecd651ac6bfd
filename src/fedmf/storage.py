"""A run's folder: written file by file, read without running anything.

The model holds the whole run, tables and settings included, and is one file: whatever happens
while a folder is written, it is either the run before or the run after. The other files say parts
of it again, for people and other programs.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import save as to_bytes

from fedmf.algorithms import Algorithm
from fedmf.config import algorithm_from, penalty_from, penalty_table, problem_from, to_table
from fedmf.engine import Position
from fedmf.errors import FedMFError, FileFormatError, MissingDataError, ParameterError
from fedmf.files import remove_leftovers, write_atomically, write_bytes, write_text
from fedmf.ledger import Entry, Ledger
from fedmf.machine import machine, versions
from fedmf.problem import Known, Problem
from fedmf.run import Run
from fedmf.wire import arrays, read_file

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T", bound=tuple[Any, ...])
Tensors = dict[str, np.ndarray[Any, Any]]

CONFIG, RESOLVED = "config.toml", "resolved.toml"
MODEL, HISTORY, LEDGER = "model.safetensors", "history.parquet", "ledger.parquet"
FORMAT = 4
LISTS = ("participants", "missing", "late")  # columns of the history


def save(run: Run, folder: str | os.PathLike[str]) -> None:
    """Write a run's folder."""
    import tomli_w

    place = Path(folder)
    if place.exists() and not place.is_dir():
        raise ParameterError(f"{place} is a file: a run needs a folder")
    history, ledger = run.history, _ledger_table(run.ledger)
    tables = {f"table.{name}": _packed(table) for name, table in
              (("history", history), ("ledger", ledger))}  # fmt: skip
    write_bytes(place / MODEL, pack(run, tables))
    write_text(place / CONFIG, tomli_w.dumps(_config(run)))
    write_text(place / RESOLVED, tomli_w.dumps(_resolved(run)))
    write_atomically(place / HISTORY, history.to_parquet)
    write_atomically(place / LEDGER, ledger.to_parquet)
    remove_leftovers(place)


def load(
    folder: str | os.PathLike[str],
    *,
    problem: Problem | None = None,
    algorithm: Algorithm | None = None,
) -> Run:
    """Read a run from its folder's model; the other files are for people and other programs.

    `problem` and `algorithm` are only needed where they hold a loss, a constraint or a schedule
    of the user's own, which no file can hold. A penalty of the user's own is passed to `resume`.
    """
    with _reading(Path(folder) / MODEL) as path:
        tensors, state = _read(path.read_bytes(), path)
        rows = _rows(_table(tensors["table.history"]))
        ledger = _ledger(_table(tensors["table.ledger"]))
        return unpack(tensors, state, rows, ledger, problem, algorithm)


def pack(run: Run, tensors: Tensors, **more: Any) -> bytes:
    """Return the bytes of a file with a run, all but its tables, and further arrays and values."""
    about = json.dumps({**_state(run), **more})
    return to_bytes({**_tensors(run), **tensors}, metadata={"fedmf": about})


def read_packed(data: bytes, path: Path) -> tuple[Tensors, dict[str, Any]]:
    """Return the arrays and the values of such a file, whose bytes are these."""
    with _reading(path):
        return _read(data, path)


def unpack(
    tensors: Tensors,
    state: dict[str, Any],
    rows: list[dict[str, Any]],
    ledger: Ledger,
    problem: Problem | None = None,
    algorithm: Algorithm | None = None,
) -> Run:
    """Return the run that these arrays, values and tables are of."""
    algorithm = algorithm or algorithm_from(state["algorithm"])
    problem = problem or problem_from(state["problem"])
    server = _unpacked(tensors, "server", algorithm.server_type)
    apart = not any(name.startswith("private.") for name in tensors)
    return Run(
        problem=problem,
        algorithm=algorithm,
        goal=problem.goal(Known(*state["known"])),
        position=Position(server=server, participants=tensors["participants"], **state["position"]),
        private=None if apart else _unpacked(tensors, "private", algorithm.private_type),
        figures=tensors["figures"],
        penalty=penalty_from(state["penalty"]),
        fingerprints=tensors["fingerprints"],
        rows=rows,
        ledger=ledger,
        terms=tensors.get("terms"),
        features=None if state["features"] is None else tuple(state["features"]),
        **state["run"],
    )


@contextmanager
def _reading(path: Path) -> Iterator[Path]:
    """Turn whatever is wrong with a file into one line that names it."""
    if not path.is_file():
        raise MissingDataError(f"{path} is missing: is {path.parent} the folder of a run?")
    try:
        yield path
    except FedMFError:
        raise
    except (SafetensorError, LookupError, TypeError, ValueError, AttributeError) as error:
        said = " ".join(f"{type(error).__name__}: {error}".split())
        raise FileFormatError(f"{path} is damaged or not of a run of fedmf ({said})") from None


def _config(run: Run) -> dict[str, dict[str, Any]]:
    """Return the settings as they were given, the user's own notes among them."""
    tables = {
        "problem": to_table(run.problem),
        "algorithm": to_table(run.algorithm),
        "run": run.settings,
    }
    if run.penalty is not None:
        tables["penalty"] = penalty_table(run.penalty) or {}
    own = {name: {**tables.get(name, {}), **table} for name, table in run.notes.items()}
    return {**tables, **own}


def _resolved(run: Run) -> dict[str, Any]:
    """Return the configuration with what the data filled in, and what computed it."""
    weights = {name: getattr(run.goal, name) for name in ("rho", "nu", "mu")}
    return {
        **_config(run),
        "seed": run.seed,
        "sites": len(run.sizes),
        "data": run.goal.known._asdict(),
        "absolute_weights": weights,
        "versions": versions(),
        "machine": machine(),
        "outcome": {
            "status": run.status,
            "round": run.position.round,
            "objective": run.position.objective,
        },
    }


def _tensors(run: Run) -> Tensors:
    server = {f"server.{name}": value for name, value in arrays(run.position.server).items()}
    own = {} if run.private is None else arrays(run.private)  # without, it stays at the sites
    private = {f"private.{name}": value for name, value in own.items()}
    others = {name: getattr(run, name) for name in ("figures", "fingerprints")}
    if run.terms is not None:
        others["terms"] = run.terms
    return {**others, "participants": run.position.participants, **server, **private}


def _state(run: Run) -> dict[str, Any]:
    """Return what is not an array; Python writes its floats so that they come back exactly."""
    numbers = ("round", "rho", "objective", "change", "seconds")
    kept = ("seed", "initial_objective", "status", "converged", "settings", "notes")
    return {
        "format": FORMAT,
        "problem": to_table(run.problem),
        "algorithm": to_table(run.algorithm),
        "penalty": penalty_table(run.penalty),
        "known": list(run.goal.known),
        "position": {name: getattr(run.position, name) for name in numbers},
        "run": {name: getattr(run, name) for name in kept},
        "features": run.features,
    }


def _read(data: bytes, path: Path) -> tuple[Tensors, dict[str, Any]]:
    tensors, state = read_file(data)
    if state["format"] != FORMAT:
        raise FileFormatError(f"{path} has the format {state['format']}; this reads {FORMAT}")
    return tensors, state


def _unpacked(tensors: Tensors, prefix: str, kind: type[T]) -> T:
    """Return the named tuple whose fields are stored under a prefix.

    A site's arrays are stored row by row but have always one sample after the other in memory.
    """
    names = kind._fields  # type: ignore[attr-defined]
    return kind(*(tensors[f"{prefix}.{name}"] for name in names))


def _rows(history: pd.DataFrame) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = history.to_dict("records")  # type: ignore[assignment]
    for each in rows:
        each |= {k: each[k].tolist() for k in LISTS if k in each}
    return rows


def _ledger_table(ledger: Ledger) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(ledger.entries, columns=Entry._fields)


def _ledger(table: pd.DataFrame) -> Ledger:
    return Ledger([Entry(*values) for values in table.itertuples(index=False, name=None)])


def _packed(table: pd.DataFrame) -> np.ndarray[Any, Any]:
    """Return a table as the bytes of a parquet file."""
    return np.frombuffer(table.to_parquet(None), dtype=np.uint8)


def _table(packed: np.ndarray[Any, Any]) -> pd.DataFrame:
    """Return the table that such bytes hold."""
    import pandas as pd
    from pyarrow import ArrowException

    try:
        return pd.read_parquet(BytesIO(packed.tobytes()))
    except (ArrowException, OSError) as error:  # Arrow's words for damaged bytes
        raise ValueError(str(error)) from None
