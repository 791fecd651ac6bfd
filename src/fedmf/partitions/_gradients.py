"""How far the sites' gradients are apart at the paper's random start: an estimate of its zeta.

The paper bounds ||grad_W F_p - grad_W F||_F^2 <= zeta^2 for all W and H. Here both sides are taken
at W0, H0 uniform on [0, a), a = sqrt(mean |X| / K), where with G_p = grad_W F_p

    G_p = (2 / N_p) (W H_p H_p' - X_p H_p'),    G = sum_p omega_p G_p,    zeta_p = ||G_p - G||_F.

A site of few samples strays from G by chance alone. Were the same sizes dealt out at random, the
omega-weighted mean of zeta_p^2 would be (P - 1) / (N - 1) times the mean over samples of
||g_i - G||_F^2, where g_i = 2 (W h_i - x_i) h_i' is the gradient of one sample: the measure that
the estimate is read against.

Samples are read in blocks, a group of sites at a time: as many as have room for their sums.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fedmf import rng
from fedmf.partitions._rows import blocks, row_bytes, row_squares, take

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fedmf.partitions._rows import Indices, Matrix

SUM_BYTES = 2**26


@dataclass(frozen=True)
class Spread:
    """zeta_p of each site, ||G||_F, and the mean zeta_p^2 that random sites would have."""

    zeta: NDArray[np.float64]
    gradient_norm: float
    random_square: float


@dataclass(frozen=True)
class _Start:
    """The random start: W (M, K), the scale a, and the seed of the streams that make each H_p."""

    W: NDArray[np.float64]
    scale: float
    seed: int

    def site_stream(self, site: int) -> np.random.Generator:
        """Return the stream of a site's H_p, sample by sample."""
        return rng.stream(self.seed, "describe H", site=site)


def gradient_spread(
    X: Matrix, sites: Sequence[Indices], rank: int, seed: int, mean_size: float
) -> Spread:
    """Estimate the spread of the sites' gradients; `mean_size` is the mean of |X|."""
    scale = float(np.sqrt(mean_size / rank))
    W = scale * rng.stream(seed, "describe W").random((X.shape[1], rank))
    start = _Start(W, scale, seed)
    share = np.array([len(rows) for rows in sites]) / X.shape[0]
    groups = _groups(len(sites), W.nbytes)
    G, squares, kept = np.zeros_like(W), 0.0, np.empty(0)
    for group in groups:
        kept, more = _group_gradients(X, sites, group, start)
        G += np.tensordot(share[group.start : group.stop], kept, axes=1)
        squares += more
    zeta = np.empty(len(sites))
    for group in groups:
        if len(groups) > 1:
            kept, _ = _group_gradients(X, sites, group, start)
        zeta[group.start : group.stop] = np.sqrt(((kept - G) ** 2).sum(axis=(1, 2)))
    norm = float(np.linalg.norm(G))
    scatter = max(squares / X.shape[0] - norm**2, 0.0)
    return Spread(zeta, norm, scatter * (len(sites) - 1) / max(X.shape[0] - 1, 1))


def _groups(n_sites: int, bytes_a_site: int) -> list[range]:
    """Return runs of sites whose sums have room in memory at once."""
    step = max(1, SUM_BYTES // bytes_a_site)
    return [range(at, min(at + step, n_sites)) for at in range(0, n_sites, step)]


def _group_gradients(
    X: Matrix, sites: Sequence[Indices], group: range, start: _Start
) -> tuple[NDArray[np.float64], float]:
    """Return G_p for the sites of a group (P', M, K), and the sum of their ||g_i||_F^2."""
    M, K = start.W.shape
    XH, HH = np.zeros((len(group), M, K)), np.zeros((len(group), K, K))
    gram, squares = start.W.T @ start.W, 0.0
    streams = [start.site_stream(p) for p in group]
    for rows, bounds in _runs([sites[p] for p in group], row_bytes(X)):
        block = take(X, rows, np.float64)
        counts = np.diff(bounds)
        H = start.scale * np.concatenate(
            [s.random((n, K)) for s, n in zip(streams, counts, strict=True)]
        )
        for p in np.flatnonzero(counts):
            run = slice(bounds[p], bounds[p + 1])
            XH[p] += block[run].T @ H[run]
            HH[p] += H[run].T @ H[run]
        squares += _sample_squares(block, H, start.W, gram)
    XH -= start.W @ HH
    XH *= (-2 / np.array([len(sites[p]) for p in group]))[:, None, None]
    return XH, squares


def _runs(sites: Sequence[Indices], bytes_a_row: int) -> Iterator[tuple[Indices, Indices]]:
    """Yield blocks of the sites' rows: near each other in X, then in the order of the sites.

    With each block come the bounds (P' + 1) of each site's run in it.
    """
    rows = np.concatenate(sites)
    site = np.repeat(np.arange(len(sites)), [len(rows) for rows in sites])
    order = np.argsort(rows, kind="stable")
    for part in blocks(len(rows), bytes_a_row):
        of_site = order[part]
        of_site = of_site[np.argsort(site[of_site], kind="stable")]
        yield rows[of_site], np.searchsorted(site[of_site], np.arange(len(sites) + 1))


def _sample_squares(
    block: Matrix, H: NDArray[np.float64], W: NDArray[np.float64], gram: NDArray[np.float64]
) -> float:
    """Return the sum over samples of ||g_i||_F^2 = 4 ||W h_i - x_i||^2 ||h_i||^2."""
    residual = ((H @ gram - 2 * (block @ W)) * H).sum(axis=1) + row_squares(block)
    return 4 * float(residual @ row_squares(H))
