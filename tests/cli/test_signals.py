"""Ctrl-C and a polite kill of a real process: the run is saved and goes on to the same bits."""

import contextlib
import os
import signal
import subprocess
import sys
from time import monotonic, sleep

import numpy as np
import pytest
from click.testing import CliRunner

import fedmf
from fedmf.cli import main
from fedmf.cli._show import Watch, stoppable
from fedmf.engine import Position

DATA = "synthetic:M=40,N=300,K=4"
FIT = ("fit", DATA, "--partition", "iid", "--n-sites", "6", "--rank", "4", "--participants", "3")
PATIENCE = 60  # seconds


def call(*args):
    result = CliRunner().invoke(main, [str(arg) for arg in args], catch_exceptions=False)
    assert result.exit_code == 0, result.output


def start(out, *more):
    """Start a run without an end that is saved after every round; return once it was."""
    words = [*FIT, "--rounds", "1000000", "--tol", "0", "--checkpoint-every", "0", "--out", out]
    command = [sys.executable, "-m", "fedmf", *words, *more]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    end = monotonic() + PATIENCE
    while not (out / "resolved.toml").exists() and process.poll() is None and monotonic() < end:
        sleep(0.01)
    assert process.poll() is None, process.stderr.read()
    return process


@pytest.mark.skipif(os.name != "posix", reason="there are no such signals here")
@pytest.mark.parametrize(
    ("signals", "threads"),
    [((signal.SIGINT,), 1), ((signal.SIGTERM,), 2), ((signal.SIGINT,) * 4, 2)],
    ids=["ctrl-c", "kill", "ctrl-c again and again"],
)
def test_a_stopped_run_is_saved_and_goes_on(signals, threads, tmp_path, monkeypatch):
    monkeypatch.setattr("fedmf.report.write_page", lambda _, target: target)  # takes most time
    out = tmp_path / "run"
    process = start(out, "--threads", str(threads))
    for number in signals:
        process.send_signal(number)
        sleep(0.02)
    try:
        _, said = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert process.returncode == 130, said
    run = fedmf.load(out)
    done = run.position.round
    assert f"stopped by the user after round {done}; go on with: fedmf fit --resume {out}" in said
    assert run.status == f"stopped by the user after round {done}; resume goes on"
    assert not [path for path in out.iterdir() if path.name.startswith(".")]
    call("fit", "--resume", out, "--rounds", done + 3, "--threads", 3 - threads)
    call(*FIT, "--rounds", done + 3, "--tol", 0, "--out", tmp_path / "whole")
    resumed, whole = fedmf.load(out), fedmf.load(tmp_path / "whole")
    np.testing.assert_array_equal(resumed.W, whole.W)
    np.testing.assert_array_equal(np.hstack(resumed.H), np.hstack(whole.H))
    assert resumed.history.drop(columns="seconds").equals(whole.history.drop(columns="seconds"))


@pytest.mark.skipif(os.name != "posix", reason="there are no such signals here")
def test_an_interrupt_that_got_lost_is_raised_again_after_the_round():
    """What is raised in a finaliser, or in what C code calls, may be swallowed."""
    watch = Watch("fedmgs", 10, None)
    position = Position(1, None, 0.0, 1.0, 0.1, np.arange(2), 0.1)
    with stoppable():
        watch(position)
        with contextlib.suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            watch(position)
    watch(position)
