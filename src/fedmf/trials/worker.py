"""A worker: a process that runs the trials it is handed, one after the other, on one thread.

    python -m fedmf.trials.worker STORE CACHE [DATA_DIR]

A line of JSON comes in for each piece of work and one goes out with what became of it: a process
of its own rather than a fork or a spawned function, so that nothing is pickled, a user's script
needs no guard around its main part, and a worker that dies takes nothing with it. It ends when
its input does.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from time import perf_counter
from traceback import format_exc
from typing import Any

from fedmf.errors import FedMFError
from fedmf.trials.federation import Cache
from fedmf.trials.running import run
from fedmf.trials.store import Store
from fedmf.trials.trial import Trial


def main(store: Store, cache: Cache) -> None:
    """Serve until the input ends."""
    answers, sys.stdout = sys.stdout, sys.stderr  # what a library prints is no answer
    for line in sys.stdin:
        answer = serve(json.loads(line), store, cache)
        print(json.dumps(answer), file=answers, flush=True)


def serve(order: dict[str, Any], store: Store, cache: Cache) -> dict[str, Any]:
    """Do one piece of work; whatever goes wrong is the answer."""
    start = perf_counter()
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("default")
        try:
            facts = _do(order, store, cache)
        except (FedMFError, OSError) as error:
            return {"error": " ".join(str(error).split())}
        except Exception:  # noqa: BLE001 it is told, and the other trials go on
            return {"error": format_exc()}
    told = sorted({" ".join(str(one.message).split()) for one in raised})
    return {**facts, "wall": perf_counter() - start, "warnings": told}


def _do(order: dict[str, Any], store: Store, cache: Cache) -> dict[str, Any]:
    """Make a federation or run a trial."""
    trial = Trial.of(order["trial"])
    if order["what"] == "federation":
        spread = cache.get(trial)
        stored = sum(getattr(own, "size", 0) for own in spread.rows)
        return {"entries": int(stored)}
    result = run(trial, cache.get(trial))
    store.put(trial, result)
    return {"rounds": result.rounds, "seconds": result.seconds, "scores": result.scores}


if __name__ == "__main__":
    folders = sys.argv[1:]
    main(Store(folders[0]), Cache(Path(folders[1]), folders[2] if len(folders) > 2 else None))
