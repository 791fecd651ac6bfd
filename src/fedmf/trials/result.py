"""What is kept of a trial: curves, scores, what was sent, and what computed it. A few kilobytes.

The file is JSON with a line for each entry:

    trial       everything that decided the result, all defaults filled in
    status      in words, why the run ended;  converged, rounds, seconds (without the measuring)
    curve       columns with a value for each round that was looked at, the start (0) and the last
                among them: round, objective (F with that round's rho), rho, loss (||X - WH||^2 over
                N), uplink_reals and uplink_bytes (from the start on, round 0 included), and with
                known classes accuracy and nmi. Empty for methods without such rounds.
    scores      at the end: loss, silhouette, sizes (of the clusters), empty; with known classes
                accuracy, nmi, ari, purity; for factorisations objective and orthogonality
    uplink_reals, uplink_bytes, downlink_bytes
    raw_samples how many samples left their sites as they are
    labels      where the trial asks for them: see `Result.labels`
    versions, machine
"""

from __future__ import annotations

import json
import zlib
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from fedmf.arrays import IntArray
from fedmf.errors import FileFormatError

if TYPE_CHECKING:
    import pandas as pd

DIGITS = 8  # of the numbers in a file


@dataclass(frozen=True)
class Result:
    """What came out of a trial; the entries are told at the top of this module."""

    key: str
    trial: dict[str, Any]
    status: str
    converged: bool
    rounds: int
    seconds: float
    curve: dict[str, list[float]]
    scores: dict[str, Any]
    uplink_reals: int
    uplink_bytes: int
    downlink_bytes: int
    raw_samples: int
    versions: dict[str, str]
    machine: dict[str, Any]
    packed_labels: str | None = field(default=None, repr=False)

    @property
    def raw_samples_sent(self) -> bool:
        """Whether samples left their sites as they are."""
        return self.raw_samples > 0

    @property
    def labels(self) -> IntArray | None:
        """Each sample's cluster, in the order of the data; None where they were not kept."""
        if self.packed_labels is None:
            return None
        data = zlib.decompress(b64decode(self.packed_labels))
        return np.frombuffer(data, dtype="<u2").astype(np.int64)

    def frame(self) -> pd.DataFrame:
        """Return the curve as a data frame."""
        import pandas as pd

        return pd.DataFrame(self.curve)

    def to_json(self) -> str:
        """Return the text of the file."""
        entries = {one.name: _short(getattr(self, one.name)) for one in fields(self)}
        lines = [
            f"{json.dumps(name)}: {json.dumps(value, separators=(',', ':'))}"
            for name, value in entries.items()
            if value is not None
        ]
        return "{\n" + ",\n".join(lines) + "\n}\n"

    @classmethod
    def from_json(cls, text: str, where: object) -> Result:
        """Return the result in a file's text; `where` names the file in an error."""
        try:
            return cls(**json.loads(text))
        except (ValueError, TypeError) as error:
            said = " ".join(str(error).split())
            raise FileFormatError(f"{where} is damaged or no result of a trial ({said})") from None


def pack(labels: IntArray) -> str:
    """Return labels below 2^16 as a short text."""
    return b64encode(zlib.compress(labels.astype("<u2").tobytes(), 9)).decode()


def _short(value: Any) -> Any:
    """Return plain values with floats cut to the digits that are kept."""
    if isinstance(value, Mapping):
        return {name: _short(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_short(part) for part in value]
    if isinstance(value, float | np.floating):
        return float(f"{value:.{DIGITS}g}")
    return int(value) if isinstance(value, np.integer) else value
