"""What computed a result: versions and the machine, to be kept with it."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

PACKAGES = ("fedmf", "numpy", "scipy", "pandas", "pyarrow", "safetensors", "scikit-learn")


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that results may depend on."""
    return {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}}


def machine() -> dict[str, Any]:
    """Return the system, the number of cores and, where the system tells it, the processor."""
    found: dict[str, Any] = {"system": platform.platform(), "cores": os.cpu_count() or 0}
    cpu = Path("/proc/cpuinfo")
    lines = cpu.read_text().splitlines() if cpu.exists() else []
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return found | ({"processor": models[0]} if models else {})
