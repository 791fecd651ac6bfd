"""A short description of a federation: sizes, class mix, and how far its gradients are apart.

Everything is computed over blocks of rows, so that a memory-mapped matrix is never loaded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fedmf import rng
from fedmf.errors import DataError, InputError
from fedmf.partitions._gradients import Spread, gradient_spread
from fedmf.partitions._request import check_count, encode
from fedmf.partitions._rows import as_matrix, blocks, is_sparse, one_blas_thread, row_bytes
from fedmf.partitions._text import many, span

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from fedmf.partitions._rows import Indices, Matrix

PAPER_RANK = 20


@dataclass(frozen=True, eq=False)
class ClassMix:
    """The classes and how many samples of each every site has (P, C)."""

    names: NDArray[Any]
    counts: Indices

    @property
    def distance(self) -> float:
        """Share of samples that would have to change class for every site to have the pooled mix.

        It is the mean, weighted by size, of the total variation distance between a site's mix and
        the pooled one.
        """
        sizes = self.counts.sum(axis=1)
        pooled = self.counts.sum(axis=0) / sizes.sum()
        return float(np.abs(self.counts - sizes[:, None] * pooled).sum() / (2 * sizes.sum()))

    @property
    def present(self) -> Indices:
        """How many classes each site has."""
        return np.asarray(np.count_nonzero(self.counts, axis=1))


@dataclass(frozen=True, eq=False)
class FederationDescription:
    """What `describe` found; `str()` is a short text, `picture(path)` writes a picture."""

    sizes: Indices
    n_features: int
    dtype: str
    density: float
    rank: int
    seed: int
    spread: Spread
    mix: ClassMix | None = None

    @property
    def n_sites(self) -> int:
        """The number of sites, P."""
        return len(self.sizes)

    @property
    def n_samples(self) -> int:
        """The number of samples, N."""
        return int(self.sizes.sum())

    @property
    def effective_sites(self) -> float:
        """How many sites of equal size would be as uneven: 1 / sum of omega_p^2."""
        return float(1 / ((self.sizes / self.n_samples) ** 2).sum())

    @property
    def zeta(self) -> float:
        """The largest ||G_p - G||_F over the sites: the paper's bound at this start."""
        return float(self.spread.zeta.max())

    @property
    def zeta_mean(self) -> float:
        """The root of the omega-weighted mean of ||G_p - G||_F^2."""
        return float(np.sqrt((self.sizes * self.spread.zeta**2).sum() / self.n_samples))

    @property
    def zeta_excess(self) -> float | None:
        """zeta_mean^2 over what random sites of these sizes would have; about 1 for iid sites.

        None where there is nothing to compare: one site, or gradients that are all the same.
        """
        by_chance = self.spread.random_square
        return self.zeta_mean**2 / by_chance if by_chance > 0 else None

    def figures(self) -> dict[str, int | float | None]:
        """Return the figures of the text by name, for tables and files."""
        return {
            "sites": self.n_sites,
            "samples": self.n_samples,
            "features": self.n_features,
            "density": self.density,
            "smallest_site": int(self.sizes.min()),
            "median_site": float(np.median(self.sizes)),
            "largest_site": int(self.sizes.max()),
            "effective_sites": self.effective_sites,
            "classes": None if self.mix is None else len(self.mix.names),
            "mix_distance": None if self.mix is None else self.mix.distance,
            "zeta": self.zeta,
            "zeta_mean": self.zeta_mean,
            "zeta_excess": self.zeta_excess,
            "gradient_norm": self.spread.gradient_norm,
        }

    def __str__(self) -> str:
        lines = [self._data_line(), self._size_line(), *self._class_line(), self._gradient_line()]
        return "\n".join(lines)

    def picture(self, path: str | Path) -> Path:
        """Write a picture of the sites, largest first, as .svg, .png or .pdf; return its path."""
        from fedmf.partitions._picture import write_picture

        return write_picture(self, path)

    def _data_line(self) -> str:
        return (
            f"{many(self.n_sites, 'site')}, {many(self.n_samples, 'sample')}, "
            f"{many(self.n_features, 'feature')} ({self.dtype}, {100 * self.density:.3g}% nonzero)"
        )

    def _size_line(self) -> str:
        if self.sizes.min() == self.sizes.max():
            return f"sizes      {self.sizes[0]:,} each"
        return f"sizes      {span(self.sizes)}; worth {self.effective_sites:,.1f} equal sites"

    def _class_line(self) -> list[str]:
        if self.mix is None:
            return []
        return [
            f"classes    {len(self.mix.names):,}; a site has {span(self.mix.present)}; "
            f"{self.mix.distance:.0%} of the samples would have to change class to give all one mix"
        ]

    def _gradient_line(self) -> str:
        text = (
            f"gradients  zeta {self.zeta:.3g} at the farthest site, {self.zeta_mean:.3g} on average"
            f", beside a gradient of {self.spread.gradient_norm:.3g} (random start, rank "
            f"{self.rank})"
        )
        if self.zeta_excess is None:
            return text
        return f"{text}; zeta^2 is {self.zeta_excess:.3g} times that of random sites"


def describe(
    X: Matrix,
    sites: Sequence[Indices],
    labels: Sequence[object] | None = None,
    rank: int | None = None,
    seed: int | None = 0,
) -> FederationDescription:
    """Describe the federation in which site p holds the rows `sites[p]` of X (N, M).

    `rank` is K of the start at which the gradients are taken: the number of classes where there are
    labels, else the paper's 20. X may be dense, CSR or memory-mapped and is read in blocks, twice;
    three times where the sites are so many that their gradients do not fit into memory together.
    """
    matrix = as_matrix(X)
    parts = [np.asarray(rows) for rows in sites]
    _check_cover(parts, matrix.shape[0])
    mix = None if labels is None else _class_mix(labels, parts)
    K = check_count("rank", rank) if rank is not None else _default_rank(mix)
    root = rng.resolve_seed(seed)
    with one_blas_thread():
        mean_size, density = _survey(matrix)
        spread = gradient_spread(matrix, parts, K, root, mean_size)
    sizes = np.array([len(rows) for rows in parts])
    return FederationDescription(
        sizes, matrix.shape[1], str(matrix.dtype), density, K, root, spread, mix
    )


def _default_rank(mix: ClassMix | None) -> int:
    return PAPER_RANK if mix is None else len(mix.names)


def _check_cover(sites: Sequence[Indices], n_samples: int) -> None:
    """Refuse sites that do not hold each row exactly once, or of which one is empty."""
    for p, rows in enumerate(sites):
        if rows.ndim != 1 or rows.dtype.kind not in "iu" or rows.size == 0:
            raise InputError(f"sites must be arrays of row indices, none empty; site {p} is not")
    rows = np.concatenate(sites) if sites else np.empty(0, np.int64)
    inside = rows.size == n_samples and rows.min() >= 0 and rows.max() < n_samples
    if not inside or (np.bincount(rows, minlength=n_samples) != 1).any():
        raise InputError(f"sites must hold each of the {n_samples} rows of X exactly once")


def _class_mix(labels: Sequence[object], sites: Sequence[Indices]) -> ClassMix:
    """Count the classes of each site."""
    n_samples = sum(len(rows) for rows in sites)
    names, classes = encode("labels", labels, n_samples)
    counts = [np.bincount(classes[rows], minlength=len(names)) for rows in sites]
    return ClassMix(names, np.array(counts))


def _survey(X: Matrix) -> tuple[float, float]:
    """Return the mean of |X| and the share of its entries that are not 0."""
    total, nonzero = 0.0, 0
    for rows in blocks(X.shape[0], row_bytes(X)):
        block = X[rows]
        values = block.data if is_sparse(block) else block
        size = float(np.abs(values).sum(dtype=np.float64))
        if not np.isfinite(size):
            raise DataError(
                f"X has a value in rows {rows.start} to {rows.stop - 1} that is not finite"
            )
        total += size
        nonzero += int(np.count_nonzero(values))
    entries = X.shape[0] * X.shape[1]
    return total / entries, nonzero / entries
