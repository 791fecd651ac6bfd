"""The how-to for three sites on one machine, every block of it after the installation."""

import os
import subprocess
import sys

from docs.test_docs import ROOT, blocks
from network.real import free_port

PAGE = ROOT / "docs" / "how-to" / "three-sites.md"
WAITS = {  # what a reader sees before going on
    "fedmf status": "grep -qs listening kits/server/server.log",
    "ls kits/north": "ls kits/north/results/*/clusters.csv",
    "cmp kits/east": "ls kits/east/results/$RUN/factors.safetensors",
}
EXPECTED = (
    *("hearts, sites", "limit of 150 rounds", "none changed", "min_samples"),
    *("the server was away", "the same", "uplink_bytes", "at the end"),
)
CLEAN = "trap 'kill $(jobs -p) 2> /dev/null || true' EXIT"


def shim(folder, name, words):
    path = folder / name
    path.write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n')
    path.chmod(0o700)


def test_every_command_of_the_how_to_works(tmp_path):
    home, tools = tmp_path / "try", tmp_path / "tools"
    home.mkdir()
    tools.mkdir()
    shim(tools, "python", "")
    shim(tools, "fedmf", "-m fedmf")
    install, folder, *rest = blocks(PAGE, "sh")
    assert "pip install" in install
    assert folder == "mkdir try\ncd try\n"
    for beginning, sign in WAITS.items():
        (place,) = (place for place, block in enumerate(rest) if block.startswith(beginning))
        rest.insert(place, f"until {sign} > /dev/null 2>&1; do sleep 0.1; done")
    script = "\n".join([CLEAN, *rest, "echo at the end"]).replace("8443", str(free_port()))
    result = subprocess.run(
        ["bash", "-eu"], input=script, cwd=home, text=True,  # noqa: S607
        capture_output=True, timeout=180, check=False,
        env={**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"},
    )  # fmt: skip
    told = f"{result.stdout}\n{result.stderr}"
    assert result.returncode == 0, told
    for expected in EXPECTED:
        assert expected in told, told
    assert alive(home) == []


def alive(home):
    """Return the processes that still hold a kit."""
    import fcntl

    found = []
    for path in home.rglob("*.pid"):
        with path.open("a") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                found.append(path)
    return found
