"""A run of real sites in other tools: the coordinator hands on what the server tells of it."""

import pytest
from click.testing import CliRunner

import fedmf
from fedmf.cli import main
from network.real import RANK
from tracking.told import Notes, near, scalars, tensorboard

__all__ = ["tensorboard"]  # a fixture
pytestmark = pytest.mark.xdist_group("real")

PROBLEM, MGS = fedmf.Problem(RANK, rho=1e-3), fedmf.FedMGS(q1=2, q2=3)


def test_a_run_of_a_federation_is_tracked(federation):
    tracker = Notes("")
    run = fedmf.fit(None, PROBLEM, MGS, 6, 0.0, callback=tracker, runtime=federation.client)
    name = federation.client.status()["runs"][-1]["run"]
    assert (tracker.name, tracker.status) == (name, (run.status, True))
    assert tracker.settings["algorithm.q2"] == "3"
    assert [told["uplink_bytes"] for _, told in tracker.told] == run.history[
        "uplink_bytes"
    ].tolist()
    assert {told["missing"] for _, told in tracker.told} == {0.0}
    with pytest.raises(fedmf.FedMFError, match="are of runs in this process"):
        fedmf.fit(None, PROBLEM, MGS, callback=print, runtime=federation.client)


def test_the_coordinators_command_tracks_its_run(tensorboard, federation, tmp_path):
    config = tmp_path / "settings.toml"
    config.write_text("[problem]\nrank = 3\n\n[run]\nrounds = 6\ntol = 0.0\n")
    words = ["submit", str(federation.kits / "coordinator"), str(config)]
    words += ["--track", f"tensorboard:{tmp_path / 'logs'}"]
    refused = CliRunner().invoke(main, [*words, "--detach"])
    assert refused.exit_code == 2
    assert "leave out --detach" in refused.output
    found = CliRunner().invoke(main, [*words, "--out", str(tmp_path / "run")],
                               catch_exceptions=False)  # fmt: skip
    assert found.exit_code == 0, found.output
    told, texts = scalars(tmp_path / "logs" / found.output.split()[0])
    near(told, fedmf.load(tmp_path / "run").history, "objective")
    assert texts["status"] == "stopped at the limit of 6 rounds"
