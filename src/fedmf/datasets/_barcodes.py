"""TCGA's barcodes, TCGA-AA-1234-01A-...: the second field is the hospital, the fourth the tissue.

https://docs.gdc.cancer.gov/Encyclopedia/pages/TCGA_Barcode/ lists the fields; the sample types
01 (solid), 03 and 09 (blood and bone marrow) are the primary tumours, one a patient.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from fedmf.errors import DataError, ParameterError
from fedmf.readers import Vector

PRIMARY = (1, 3, 9)


def hospitals(barcodes: Iterable[str]) -> Vector:
    """Return the tissue source site of each sample: a federation as it really is."""
    return np.array([_fields(barcode)[1] for barcode in barcodes])


def sample_type(barcode: str) -> int:
    """Return the two digits of the sample type; 0 where the barcode has none."""
    fields = _fields(barcode)
    digits = fields[3][:2] if len(fields) > 3 else ""
    return int(digits) if digits.isdigit() else 0


def check_sites(sites: str | None, *allowed: str) -> None:
    """Refuse a way to form sites that the data set does not have."""
    if sites is not None and sites not in allowed:
        raise ParameterError(f"sites must be None or {' or '.join(allowed)}, got {sites!r}")


def _fields(barcode: str) -> list[str]:
    fields = re.split(r"[-.]", barcode)  # R writes dots where the barcode has hyphens
    if len(fields) < 3 or fields[0] != "TCGA":
        raise DataError(f"{barcode!r} is no TCGA barcode (TCGA-AA-1234-...)")
    return fields
