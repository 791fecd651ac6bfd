"""Sites and runs in words, the same in the terminal and on the page."""

from __future__ import annotations

from typing import Any

from fedmf.monitor.scene import Course, Site
from fedmf.report.words import data_size, time


def facts(course: Course) -> list[tuple[str, str]]:
    """Return where a run stands, as names and words."""
    about = course.about
    found = [("round", f"{course.round:,} of {about['rounds']:,}")]
    if course.left is not None:
        found.append(("time left, at most", time(course.left)))
    if course.rows:
        last = course.rows[-1]
        found += [("objective F", f"{last['objective']:.6g}"), ("change", f"{last['change']:.1e}")]
    found += [
        ("sent by sites", data_size(course.sent("uplink"))),
        ("sent to sites", data_size(course.sent("downlink"))),
        ("time in rounds", time(course.spent)),
    ]
    if about["waiting"]:
        found.append(("waiting for", ", ".join(about["waiting"])))
    return found


def state_of(about: dict[str, Any]) -> str:
    """Return how a run stands."""
    stopping = about["stopping"] and about["state"] == "running"
    return "stopping" if stopping else str(about["state"])


def presence(site: Site) -> str:
    """Return whether a site is there."""
    return "not there yet" if site.presence == "never" else site.presence


def heard(site: Site) -> str:
    """Return when a site was last heard of."""
    return "never" if site.quiet is None else f"{site.quiet:.0f} s ago"


def clock(when: str) -> str:
    """Return a time of the server's log."""
    return f"{when.removesuffix('+00:00')} UTC"
