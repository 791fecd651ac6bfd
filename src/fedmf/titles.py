"""What methods are called where people read of them: names of algorithms, rivals, references."""

from __future__ import annotations

TITLES = {
    "fedmgs": "FedMGS",
    "fedmavg": "FedMAvg",
    "fedpalm": "FedPALM",
    "km-parallel": "KM-parallel",
    "bel": "BEL",
    "cal": "CAL",
    "k-fed": "k-FED",
    "kmeans++": "pooled k-means++",
    "central-sncp": "pooled SNCP",
}


def title(name: str) -> str:
    """Return what a method is called; one that is not listed by its name."""
    return TITLES.get(name, name)
