"""Synthetic clusters of the JNKM linear model, X = max(0, WH + gE), as the paper's Section V uses.

Here X has samples in rows. W is uniform on [0, 1], each column of H has one unit entry (or none:
an unclustered sample is pure noise), E is standard Gaussian, and g is such that
SNR = 10 log10(||WH||^2 / ||X - WH||^2): the noise that counts is what is left of it after the
clipping at zero. Outliers, samples replaced by 5 times uniform noise, are put in after that, as in
the authors' published generator, so they are no part of the SNR.

The scale g is a root of F(t) = sum_ij min(s_ij^2, t e_ij^2) over e_ij < 0, plus t e_ij^2 over the
others, at t = g^2, s the entries of WH. F is increasing, concave and piecewise linear, so Newton's
method from t = 0 climbs to the root from below and ends after a few passes over E; the published
loop rescales and clips again and again. Where rounding X to single precision moves the SNR, a few
entries are moved to a neighbouring float to make up for it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fedmf.datasets._card import Card
from fedmf.datasets._table import Table, blocks, float_type
from fedmf.errors import ParameterError
from fedmf.readers import Vector
from fedmf.rng import resolve_seed, stream

CARD = Card(
    name="synthetic",
    title="Gaussian clusters of the JNKM linear model, made on the spot",
    samples=10000,
    features=2000,
    classes=20,
    source="Yang, Fu, Sidiropoulos, Learning from hidden traits, IEEE TSP 65(1), 2017",
    licence="none needed: nothing is copied",
    notes="preset `paper`: 3 % outliers, 10 % unclustered (class 0), clusters of uneven size",
)

PRESETS: dict[str, dict[str, Any]] = {
    "clean": {"sizes": "equal", "outliers": 0.0, "unclustered": 0.0},
    "paper": {"sizes": "uneven", "outliers": 0.03, "unclustered": 0.1},
}
OUTLIER_SCALE = 5.0
MAX_PASSES = 100
EXACT = 1e-13
ENOUGH = 1e-10


class Sample(NamedTuple):
    """What the generator made; labels 1 ... K, or `unclustered_label`."""

    X: Vector
    """(N, M)"""
    labels: Vector
    """(N,)"""
    cluster: Vector
    """(N,) the column of W that a sample comes from, -1 for none"""
    W: Vector
    """(M, K)"""
    outlier: Vector
    """(N,) of bool"""
    scale: float
    """g"""


def load(
    _data_dir: Path | None,
    *,
    preset: str = "clean",
    seed: int | None = 0,
    M: int = 2000,
    N: int = 10000,
    K: int = 20,
    snr: float = -3.0,
    sizes: str | Sequence[float] | None = None,
    outliers: float | None = None,
    unclustered: float | None = None,
    unclustered_label: int = 0,
    dtype: npt.DTypeLike = np.float64,
) -> Table:
    """Return a fresh data set; what is not given comes from the preset.

    snr: in dB, met to 1e-9 dB by the numbers that are returned, unless the noise is so little, or
        float32 entries so few (some hundred), that their type cannot hold it; infinite for no
        noise at all.
    sizes: "equal"; "uneven" (drawn, as the authors do); or K positive weights.
    outliers, unclustered: shares of N.
    unclustered_label: 0, a class of their own; the authors' published code gives them the label of
        the first cluster, which is 1 here.
    """
    if preset not in PRESETS:
        raise ParameterError(f"preset must be one of {', '.join(PRESETS)}, got {preset!r}")
    given = {"sizes": sizes, "outliers": outliers, "unclustered": unclustered}
    chosen = PRESETS[preset] | {name: value for name, value in given.items() if value is not None}
    seed = resolve_seed(seed)
    made = generate(
        seed, M=M, N=N, K=K, snr=snr, unclustered_label=unclustered_label, dtype=dtype, **chosen
    )
    source = f"made with preset {preset!r}, seed {seed}, M={M}, N={N}, K={K}, SNR {snr} dB"
    return Table(made.X, made.labels, name="synthetic", source=source)


def generate(
    seed: int,
    *,
    M: int,
    N: int,
    K: int,
    snr: float,
    sizes: str | Sequence[float] = "equal",
    outliers: float = 0.0,
    unclustered: float = 0.0,
    unclustered_label: int = 0,
    dtype: npt.DTypeLike = np.float64,
) -> Sample:
    """Return X with all that it was made of; the memory used is X and a few blocks."""
    check(M=M, N=N, K=K, snr=snr, outliers=outliers, unclustered=unclustered, dtype=dtype)
    without = round(unclustered * N)
    counts = cluster_sizes(seed, N - without, K, sizes)
    cluster = np.repeat(np.arange(-1, K), [without, *counts])
    cluster = stream(seed, "synthetic/order").permutation(cluster)
    W = stream(seed, "synthetic/W").uniform(size=(M, K))
    X = np.empty((N, M), dtype)
    noise = stream(seed, "synthetic/E")
    for rows, block in blocks(X):
        X[rows] = noise.standard_normal(block.shape)
    centres = np.vstack([W.T, np.zeros(M)])  # row -1: no cluster
    scale = noise_scale(X, centres, cluster, snr)
    for rows, block in blocks(X):
        X[rows] = np.maximum(0.0, centres[cluster[rows]] + scale * block.astype(np.float64))
    _settle(X, centres, cluster, _noise_wanted(centres, cluster, snr))
    outlier = _put_outliers(seed, X, round(outliers * N))
    labels = np.where(cluster < 0, unclustered_label, cluster + 1)
    return Sample(X, labels, cluster, W, outlier, scale)


def noise_scale(E: Vector, centres: Vector, cluster: Vector, snr: float) -> float:
    """Return g with ||max(-WH, gE)||^2 = ||WH||^2 / 10^(snr/10).

    E: (N, M); centres: (K+1, M), of which row cluster[j] is the clean sample j.
    """
    wanted = _noise_wanted(centres, cluster, snr)
    t = reached = 0.0
    for _ in range(MAX_PASSES):
        slope, clipped = _pass(E, centres, cluster, math.sqrt(t))
        reached = slope * t + clipped
        if abs(reached - wanted) <= EXACT * wanted:
            break
        if slope == 0.0:  # a handful of entries, all of whose noise is negative and clipped away
            raise ParameterError(f"snr {snr} dB cannot be met by so few entries, {E.shape}")
        t = (wanted - clipped) / slope
    # twelve digits are 1e-11 dB, and keep the last bits of a sum, which are the machine's, out of X
    return float(f"{math.sqrt(t):.12g}")


def _pass(E: Vector, centres: Vector, cluster: Vector, g: float) -> tuple[float, float]:
    """Return sum e^2 over the entries of gE that stay whole, sum s^2 over the clipped ones."""
    slope = clipped = 0.0
    for rows, block in blocks(E):
        e, s = block.astype(np.float64), centres[cluster[rows]]
        lost = (g * e <= -s) & (e < 0.0)
        slope += float(np.square(np.where(lost, 0.0, e)).sum())
        clipped += float(np.square(np.where(lost, s, 0.0)).sum())
    return slope, clipped


def _noise_wanted(centres: Vector, cluster: Vector, snr: float) -> float:
    """Return ||X - WH||^2 as the SNR wants it."""
    power = (centres**2).sum(axis=1)
    return float(power[cluster].sum() / 10.0 ** (snr / 10.0))


def _settle(X: Vector, centres: Vector, cluster: Vector, wanted: float) -> None:
    """Move entries of X, in place, to a neighbouring float until ||X - WH||^2 is as wanted."""
    noises = (block - centres[cluster[rows]] for rows, block in blocks(X))
    missing = wanted - sum(float(np.square(noise).sum()) for noise in noises)
    for rows, block in blocks(X):
        if abs(missing) <= ENOUGH * wanted:
            break
        noise = block - centres[cluster[rows]]
        away = np.copysign(np.inf, noise * missing).astype(X.dtype)
        moved = np.nextafter(block, away)
        share = ((moved - block) * (noise + (moved - centres[cluster[rows]])) / missing).ravel()
        share[(block <= 0.0).ravel() | (share <= 0.0)] = np.nan
        chosen, left = _shares_of_one(share)
        X[rows] = np.where(chosen.reshape(block.shape), moved, block)
        missing *= left


def _shares_of_one(share: Vector) -> tuple[Vector, float]:
    """Return which shares to take for a sum near 1, and what is left; NaN cannot be taken."""
    total = np.nancumsum(share)
    chosen = (total <= 1.0) & ~np.isnan(share)
    left = 1.0 - float(share[chosen].sum())
    miss = np.where(chosen, np.nan, np.abs(share - left))
    if not np.isnan(miss).all() and np.nanmin(miss) < left:
        last = int(np.nanargmin(miss))
        chosen[last] = True
        left -= float(share[last])
    return chosen, left


def cluster_sizes(seed: int, total: int, K: int, sizes: str | Sequence[float]) -> list[int]:
    """Return K sizes that sum to `total`, each at least 1.

    "uneven" draws as the authors do: in turn, each cluster takes a uniform share between 1 and
    150 per cent of an equal split of what is left (scaled to sum to `total`).
    """
    if isinstance(sizes, str):
        if sizes not in ("equal", "uneven"):
            raise ParameterError(f"sizes must be equal, uneven or K weights, got {sizes!r}")
        weights = np.ones(K) if sizes == "equal" else _uneven(seed, K)
    else:
        weights = np.asarray(sizes, dtype=np.float64)
    if weights.shape != (K,) or not (np.isfinite(weights) & (weights > 0)).all():
        raise ParameterError(f"sizes must be {K} positive weights, got {sizes!r}")
    if total < K:
        raise ParameterError(f"K must be at most the {total} clustered samples, got {K}")
    exact = 1.0 + (total - K) * weights / weights.sum()
    counts = np.floor(exact).astype(int)
    short = total - int(counts.sum())
    counts[np.argsort(counts - exact, kind="stable")[:short]] += 1
    return [int(count) for count in counts]


def _uneven(seed: int, K: int) -> Vector:
    shares = stream(seed, "synthetic/sizes").uniform(0.01, 1.5, size=K)
    left, weights = 1.0, np.empty(K)
    for i, share in enumerate(shares):
        weights[i] = min(share / (K - i), 1.0) * left
        left = max(left - weights[i], 1e-3)
    return weights


def _put_outliers(seed: int, X: Vector, count: int) -> Vector:
    rng = stream(seed, "synthetic/outliers")
    chosen = np.sort(rng.choice(X.shape[0], size=count, replace=False))
    for row in chosen:
        X[row] = OUTLIER_SCALE * rng.uniform(size=X.shape[1])
    outlier = np.zeros(X.shape[0], dtype=bool)
    outlier[chosen] = True
    return outlier


def check(**given: Any) -> None:
    """Refuse what no data set can be made of."""
    for name in ("M", "N", "K"):
        value = given[name]
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
            raise ParameterError(f"{name} must be a whole number of at least 1, got {value!r}")
    for name in ("outliers", "unclustered"):
        if not _is_number(given[name]) or not 0.0 <= given[name] < 1.0:
            raise ParameterError(f"{name} must be a share in [0, 1), got {given[name]!r}")
    if not _is_number(given["snr"]) or not (given["snr"] >= -300.0):
        raise ParameterError(f"snr must be a number of dB over -300, got {given['snr']!r}")
    float_type(given["dtype"])


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
