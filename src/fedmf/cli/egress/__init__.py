"""Look at the record of what left a site."""

from __future__ import annotations

from fedmf.cli._group import Commands

command = Commands("egress", __name__, help=__doc__)
