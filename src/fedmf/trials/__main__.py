"""`python -m fedmf.trials`: run plans without a terminal, in pieces of limited time.

    python -m fedmf.trials PLAN.toml... --store DIR [--workers 16] [--max-seconds 560]

What is in the store is not run again, so the same command goes on where it stopped. The status is
0 when all is done, 1 when trials failed, 75 when the time was up before all were done, and 130
after Ctrl-C.
"""

from __future__ import annotations

import sys
from pathlib import Path
from signal import SIGTERM, default_int_handler, signal

import click

from fedmf.errors import FedMFError
from fedmf.trials.agenda import Outcome
from fedmf.trials.crew import run_all
from fedmf.trials.plan import read_plan
from fedmf.trials.printer import Printer
from fedmf.trials.store import Store
from fedmf.trials.trial import Trial

FAILED, UNFINISHED, INTERRUPTED = 1, 75, 130


@click.command(context_settings={"max_content_width": 100})
@click.argument("plans", nargs=-1, required=True, metavar="PLAN.toml...")
@click.option("--store", required=True, metavar="DIR", help="Where the results are kept.")
@click.option("--cache", metavar="DIR", help="Keep the data, dealt out, for the next call.")
@click.option("--data-dir", metavar="DIR", help="Where the data sets' files lie.")
@click.option("--workers", type=click.IntRange(min=1), help="Processes  [default: all cores]")
@click.option("--max-seconds", type=click.FloatRange(min=0), help="Stop after this time.")
@click.option("--list", "listed", is_flag=True, help="Say what there is to do, and do nothing.")
def command(
    plans: tuple[str, ...],
    store: str,
    cache: str | None,
    data_dir: str | None,
    workers: int | None,
    max_seconds: float | None,
    listed: bool,
) -> int:
    """Run the trials of plans that are not in the store yet."""
    found = [read_plan(plan) for plan in plans]
    trials = [trial for plan in found for trial in plan.trials]
    kept = Store(store)
    if listed:
        for plan in found:
            _list(plan.name, plan.trials, kept)
        return 0
    outcome = run_all(trials, kept, workers, cache=cache, data_dir=data_dir,
                      max_seconds=max_seconds, progress=Printer())  # fmt: skip
    return _conclude(outcome, Path(store))


def _list(name: str, trials: list[Trial], store: Store) -> None:
    """Print a plan's trials and which are there."""
    there = {trial.key for trial in trials if store.has(trial)}
    print(f"{name}: {len(trials)} trials, {len(there)} of them done")
    for trial in trials:
        print(f"  {'done' if trial.key in there else '    '} {trial.name}-{trial.key}")


def _conclude(outcome: Outcome, store: Path) -> int:
    """Print what became of the trials; return the status."""
    print(
        f"{len(outcome.done)} done in {outcome.seconds:.0f} s, {len(outcome.before)} were there, "
        f"{len(outcome.failed)} failed, {len(outcome.left)} left; results in {store}"
    )
    for trial, error in outcome.failed:
        print(f"failed: {trial.name}: {error.strip().splitlines()[-1]}", file=sys.stderr)
    return FAILED if outcome.failed else UNFINISHED if outcome.left else 0


def main() -> None:
    """Run the command; a mistake of the user's is one line."""
    signal(SIGTERM, default_int_handler)  # a polite kill ends the workers too
    try:
        sys.exit(command.main(standalone_mode=False))
    except click.Abort:
        print("stopped by the user; the same command goes on", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except (FedMFError, click.ClickException) as error:
        text = error.format_message() if isinstance(error, click.ClickException) else error
        print(f"error: {text}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
