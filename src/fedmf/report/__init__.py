"""Figures and pages from runs.

record -> figures -> svg -> page: a run as it is shown, matplotlib figures of its history, these as
inline SVG whose colours the page chooses, and the page. Nothing here needs a network or a script.
"""

from __future__ import annotations

from fedmf.report.page import write_page
from fedmf.report.record import Record, read

__all__ = ["Record", "read", "write_page"]
