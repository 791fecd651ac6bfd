"""The options of `fedmf fit`, by the table of the configuration that they fill."""

from __future__ import annotations

from click import FloatRange

from fedmf.cli._options import F, setting
from fedmf.cli._types import Bounds, Steps

# fmt: off
_PROBLEM = (
    setting("problem", "--rank", metavar="K", type=int,
            help="How many columns W has; always needed."),
    setting("problem", "--rho", type=float,
            help="Weight of the clustering penalty, with --cluster its first  "
            "[default: 1e-8; 1e-4 with --cluster, unless begun at random]"),
    setting("problem", "--nu", type=float, help="Weight of ||H||^2  [default: 1e-10]"),
    setting("problem", "--mu", type=float, help="Weight of ||W||^2  [default: 0]"),
    setting("problem", "--weights", metavar="relative|absolute",
            help="Whether these weights are relative to the data  [default: relative]"),
    setting("problem", "--bounds", type=Bounds(), metavar="NAME|LOW:HIGH",
            help="Where W may lie: data, nonnegative, free, or two numbers  [default: data]"),
    setting("problem", "--h-bounds", metavar="NAME",
            help="Where H may lie: nonnegative or free  [default: nonnegative]"),
    setting("problem", "--loss", metavar="NAME", help="The loss  [default: squared]"),
)
_ALGORITHM = (
    setting("algorithm", "--algorithm", "name", metavar="NAME",
            help="fedmgs, fedmavg or fedpalm  [default: fedmgs]"),
    setting("algorithm", "--participants", metavar="m", type=int,
            help="How many sites are drawn in a round  [default: all]"),
    setting("algorithm", "--q1", type=int, help="Steps on H in a round  [default: 10]"),
    setting("algorithm", "--q2", type=Steps(), metavar="N|diminishing:QHAT",
            help="Steps on W in a round  [default: 100; 10 for fedmavg]"),
    setting("algorithm", "--gamma-h", type=float,
            help="Over 1: a larger one makes steps on H smaller  [default: 1.02]"),
    setting("algorithm", "--gamma-w", type=float,
            help="fedmgs: the same for W  [default: 1.002]"),
    setting("algorithm", "--divisor", type=float,
            help="fedmavg: a larger one makes steps on W smaller  [default: 5]"),
    setting("algorithm", "--participation", metavar="pcc|pcp",
            help="fedmavg: whether sites that are not drawn work too  [default: pcc]"),
    setting("algorithm", "--common-step", metavar="exact|lagged",
            help="fedmavg: the step size of this round or the last  [default: exact]"),
    setting("algorithm", "--steps", type=int,
            help="fedpalm: pairs of steps in a round  [default: 10]"),
)
_RUN = (
    setting("run", "--rounds", metavar="S", type=int,
            help="Stop at this round  [default: 500; 1000 with --cluster]"),
    setting("run", "--tol", type=float,
            help="Stop below this relative change of the objective  [default: 1e-8]"),
    setting("run", "--max-seconds", type=float, help="Stop after this time"),
    setting("run", "--seed", type=int, help="Seed of everything random  [default: 0]"),
    setting("run", "--init", metavar="NAME",
            help="Where to begin: random, or linkage across the sites, linkage:n_min=5  "
            "[default: random; linkage with --cluster]"),
    setting("run", "--cluster/--no-cluster", is_flag=True,
            help="Let the penalty grow until each sample has one cluster (SNCP)"),
)
_OUTPUT = (
    setting("output", "--out", metavar="RUN", help="The folder of the run; always needed."),
    setting("output", "--overwrite", is_flag=True, help="Replace a run that is there"),
    setting("output", "--resume", metavar="RUN", help="Go on with a run that was stopped"),
    setting("output", "--config", metavar="FILE",
            help="Settings from a .toml file such as a run's config.toml; options win over it"),
    setting("output", "--checkpoint-every", metavar="SECONDS", type=FloatRange(min=0),
            help="How often the run is saved while it goes on  [default: 30]"),
    setting("output", "--track", metavar="NAME:PLACE",
            help="Each round's figures also to mlflow:FOLDER or tensorboard:FOLDER"),
    setting("output", "--threads", type=int,
            help="How many threads; changes no result  [default: all cores]"),
    setting("output", "--device", metavar="NAME",
            help="Where the sites compute: cuda, cuda:1, ... (torch)  [default: the processor]"),
)
# fmt: on


def fit_options(command: F) -> F:
    """Add them all."""
    for decorate in reversed((*_PROBLEM, *_ALGORITHM, *_RUN, *_OUTPUT)):
        command = decorate(command)
    return command
