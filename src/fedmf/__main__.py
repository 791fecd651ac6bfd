"""`python -m fedmf` is the same as `fedmf`."""

from __future__ import annotations

from fedmf.cli import main

main(prog_name="fedmf")
