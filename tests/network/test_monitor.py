"""A real federation is watched: on the page, in a browser, and in the terminal."""

import threading

import pytest
from click.testing import CliRunner

import fedmf
from fedmf.cli import main
from fedmf.monitor.scene import Watcher
from fedmf.monitor.web import Web
from network.real import NAMES, until

pytestmark = pytest.mark.xdist_group("real")

JOB = {"problem": {"rank": 3}, "algorithm": {"name": "fedmgs", "q1": 2, "q2": 3},
       "run": {"rounds": 100_000, "tol": 0.0}, "federation": {"label": "watched"}}  # fmt: skip
STATUS = {"run", "state", "status", "stopping", "told", "by", "submitted", "waiting", "rounds",
          "label", "algorithm", "last", "job", "warnings"}  # fmt: skip


@pytest.fixture
def going(federation):
    """The client of a federation at work, and the run."""
    client = federation.client
    name = client.submit(JOB)
    yield client, name
    client.stop(name)
    client.follow(name)


def test_the_page_of_a_real_run_moves(going, visit):
    client, name = going
    with Web(Watcher(client), 0) as web:
        thread = threading.Thread(target=web.serve_forever)
        thread.start()
        try:
            seen = visit(web.address)
            seen.page.wait_for_selector(f"h2:has-text('{name}')")
            seen.page.wait_for_selector("#curves polyline")
            title = seen.page.title()
            until(lambda: seen.page.title() != title)
            assert seen.complaints == []
            assert seen.violations() == []
            assert [text.strip() for text in seen.page.locator("#sites tbody th").all_inner_texts()
                    ] == list(NAMES)  # fmt: skip
        finally:
            web.shutdown()
            thread.join()


def test_the_terminal_shows_it_until_the_run_has_ended(federation):
    client = federation.client
    short = {**JOB, "run": {"rounds": 5, "tol": 0.0}}
    name = client.submit(short)
    kit = str(federation.kits / "coordinator")
    result = CliRunner().invoke(main, ["status", kit, name, "--watch"], catch_exceptions=False)
    assert result.exit_code == 0
    last = result.output[result.output.rindex(name) :]
    assert "done  stopped at the limit of 5 rounds" in last
    assert "5 of 5" in last
    assert all(f"\n  {site}" in result.output for site in NAMES)
    refused = CliRunner().invoke(main, ["status", kit, "--json", "--watch"])
    assert refused.exit_code == 2
    assert "--json shows one moment" in refused.output


def test_the_server_tells_no_more_than_this(federation):
    """Whoever adds to it thinks about who may see it."""
    client = federation.client
    client.fit(fedmf.Problem(3), fedmf.FedMGS(q1=2, q2=3), rounds=2, tol=0.0)
    found = client.status(client.status()["runs"][-1]["run"])
    assert set(found) == {"federation", "sites", "presence", "order", "runs"}
    assert set(found["runs"][0]) == STATUS
