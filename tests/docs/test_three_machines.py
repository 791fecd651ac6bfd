"""The how-to for three machines: its services are understood by systemd, its plan by us."""

import os
import shutil
import subprocess
import sys

import pytest

from docs.test_docs import ROOT, blocks
from fedmf.network.kits import Plan

PAGE = ROOT / "docs" / "how-to" / "three-machines.md"
BINARY = "/opt/fedmf/bin/fedmf"


def test_the_plan_can_be_read(tmp_path):
    (text,) = blocks(PAGE, "toml")
    (tmp_path / "federation.toml").write_text(text)
    plan = Plan.read(tmp_path / "federation.toml")
    assert plan.sites == ("north", "east", "south")
    assert plan.names == ["fedmf.example.org", "10.77.0.1"]


@pytest.mark.parametrize("place", [0, 1], ids=["server", "site"])
def test_systemd_understands_the_services(place, tmp_path):
    verifier = shutil.which("systemd-analyze")
    if verifier is None:
        pytest.skip("systemd-analyze is not installed")
    text = blocks(PAGE, "ini")[place]
    assert f"ExecStart={BINARY} {('server', 'site')[place]} " in text
    unit = tmp_path / f"fedmf-{place}.service"
    unit.write_text(text.replace(BINARY, sys.executable).replace("User=fedmf", "User=root"))
    result = subprocess.run(
        [verifier, "verify", unit], capture_output=True, text=True, timeout=60, check=False,
        env={**os.environ, "SYSTEMD_LOG_LEVEL": "warning"},
    )  # fmt: skip
    assert (result.returncode, result.stderr) == (0, "")
