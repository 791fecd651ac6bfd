"""Made-up exhibits and results: a few files, and histories that were never run."""

from pathlib import Path

import numpy as np

from fedmf.trials import Result
from fedmf.trials.trial import plain

SETTINGS = """
[common]
dtype = "float32"
n_sites = 4
rounds = 40

[places.here]
name = "made up"
case = "Case 1"
data = "synthetic:M=12,N=60,K=3"
rank = 3
partition = "iid"

[places.other]
name = "other data"
case = "Case 2"
data = "synthetic:M=12,N=60,K=3,seed=1"
rank = 3
partition = "kmeans"
stands_for = "data that nobody has"

[quick]
seeds = 1
rounds = 4
"""

CURVES = """
title = "Two methods"
paper = "Fig. 1"
caption = "A caption."
notes = ["A note."]
seeds = 3
x = "round"
y = "objective"
log = ["x", "y"]
from_round = 2

[[panels]]
name = "a"
place = "here"
title = "by rounds"
curves = [
    { label = "A", method = { name = "fedmgs", q1 = 1, q2 = 2 } },
    { label = "B", method = { name = "fedmgs", q1 = 1, q2 = 3 } },
    { label = "C", method = { name = "fedmavg", q1 = 1, q2 = 2 }, line = "dashed" },
]

[[panels]]
name = "b"
place = "other"
x = "uplink_reals"
curves = "a"
"""

SCORES = """
kind = "table"
title = "Scores"
paper = "Table I"
caption = "A table."
seeds = 2

[common]
cluster = {}

[[columns]]
label = "made up"
place = "here"

[[columns]]
label = "other"
place = "other"

[[rows]]
label = "k-FED"
method = { name = "k-fed" }
apart = true

[[rows]]
label = "FedMGS"
method = { name = "fedmgs", q1 = 1, q2 = 2 }
seeds = 3
paper = { "made up" = 88.4 }

[[rows]]
label = "BEL"
method = { name = "bel" }
paper = { "made up" = 38.7 }

[[claims]]
says = "FedMGS is better than BEL."
measure = "accuracy"
order = ["made up: FedMGS", "made up: BEL"]
"""

MAPS = """
kind = "map"
title = "Maps"
paper = "Fig. 7"
caption = "Maps."
seeds = 1
place = "here"

[map]
components = 4
perplexity = 5
shown = 40

[common]
cluster = {}
labels = true

[[panels]]
name = "a"
title = "classes"

[[panels]]
name = "b"
title = "BEL"
method = { name = "bel" }

[[panels]]
name = "c"
title = "FedMGS"
method = { name = "fedmgs", q1 = 1, q2 = 2 }

[[claims]]
says = "FedMGS is better than BEL."
measure = "accuracy"
order = ["c", "b"]
"""

FILES = {"settings": SETTINGS, "fig1": CURVES, "table1": SCORES, "fig7": MAPS}


def folder(home: Path, **changed: str) -> Path:
    """Return a folder with these files."""
    home.mkdir(exist_ok=True)
    for name, text in {**FILES, **changed}.items():
        (home / f"{name}.toml").write_text(text, encoding="utf-8")
    return home


def result(trial, F=None, accuracy=None, sent=1000, rounds=None, labels=None):
    """Return a result of a trial: F at rounds 0, 1, ..., or `accuracy` at each, or both."""
    curve = {}
    columns = {"objective": F, "accuracy": accuracy if isinstance(accuracy, list) else None}
    count = max((len(own) for own in columns.values() if own), default=0)
    if count:
        curve = {"round": list(map(float, range(count)))}
        curve["uplink_reals"] = [float(sent * (s + 1)) for s in range(count)]
        curve |= {name: own for name, own in columns.items() if own}
    end = accuracy[-1] if isinstance(accuracy, list) else accuracy
    scores = {} if end is None else {"accuracy": end, "sizes": [1, 2]}
    return Result(
        key=trial.key, trial=plain(trial.resolved), status="made up", converged=False,
        rounds=count - 1, seconds=2.0, curve=curve, scores=scores, uplink_reals=sent * count,
        uplink_bytes=0, downlink_bytes=0, raw_samples=0, packed_labels=labels,
        versions={"python": "3", "fedmf": "0"},
        machine={"processor": "abacus", "cores": 1, "system": "wood"},
    )  # fmt: skip


def falling(end, speed=0.2, rounds=40, start=100.0):
    """Return F falling from the start towards an end."""
    return [end + (start - end) * float(np.exp(-speed * s)) for s in range(rounds + 1)]
