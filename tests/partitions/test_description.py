"""The description's figures against direct formulas, its text, its picture, and `split`."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix

from fedmf import rng
from fedmf.partitions import _gradients, _rows, describe, partition, split

RNG = np.random.default_rng(5)
X = RNG.random((90, 7)) * (RNG.random((90, 7)) < 0.6)
LABELS = RNG.integers(0, 4, 90)
SITES = partition("dirichlet", X, LABELS, 6, alpha=0.3)


def direct_zeta(X, sites, rank, seed):
    """Return ||G_p - G||_F of each site and ||G||_F from dense arrays, as the paper writes them."""
    scale = np.sqrt(np.abs(X).mean() / rank)
    W = scale * rng.stream(seed, "describe W").random((X.shape[1], rank))
    H = [scale * rng.stream(seed, "describe H", site=p).random((len(rows), rank)).T
         for p, rows in enumerate(sites)]  # fmt: skip
    own = [
        2 / len(rows) * (W @ h @ h.T - X[rows].T @ h.T) for rows, h in zip(sites, H, strict=True)
    ]
    everything, H_all = X[np.concatenate(sites)].T, np.hstack(H)
    G = 2 / len(X) * (W @ H_all @ H_all.T - everything @ H_all.T)
    return np.array([np.linalg.norm(g - G) for g in own]), np.linalg.norm(G)


@pytest.mark.parametrize("sums", [_gradients.SUM_BYTES, 600, 1])
@pytest.mark.parametrize("block", [_rows.BLOCK_BYTES, 500, 1])
@pytest.mark.parametrize("kind", [np.asarray, csr_array, csr_matrix])
def test_zeta_is_that_of_the_dense_formula(kind, block, sums, monkeypatch):
    monkeypatch.setattr(_gradients, "SUM_BYTES", sums)
    monkeypatch.setattr(_rows, "BLOCK_BYTES", block)
    found = describe(kind(X), SITES, rank=3, seed=4)
    zeta, norm = direct_zeta(X, SITES, 3, 4)
    np.testing.assert_allclose(found.spread.zeta, zeta, rtol=1e-10)
    weight = np.array([len(rows) for rows in SITES]) / len(X)
    assert found.zeta == pytest.approx(zeta.max(), rel=1e-10)
    assert found.zeta_mean == pytest.approx(np.sqrt(weight @ zeta**2), rel=1e-10)
    assert found.spread.gradient_norm == pytest.approx(norm, rel=1e-10)


def test_singletons_stray_exactly_as_random_sites_do():
    found = describe(X, [np.array([row]) for row in range(len(X))])
    assert found.zeta_excess == pytest.approx(1, rel=1e-10)


def test_random_sites_stray_as_expected_on_average_and_clusters_more():
    centres = np.random.default_rng(1).random((5, 7))
    data = centres[np.arange(2000) % 5] + 0.1 * np.random.default_rng(2).random((2000, 7))
    by_chance = [describe(data, partition("iid", data, None, 20, s)).zeta_excess for s in range(12)]
    # A mean of squares with 19 x (a few) degrees of freedom each: 12 of them stray by < 1/4.
    assert 0.75 < np.mean(by_chance) < 1.25
    assert describe(data, partition("kmeans", data, None, 20)).zeta_excess > 5


def test_one_site_has_nothing_to_stray_from():
    found = describe(X, [np.arange(90)])
    assert found.zeta == pytest.approx(0, abs=1e-12)
    assert found.zeta_excess is None
    assert describe(np.zeros((4, 2)), [np.arange(2), np.arange(2, 4)]).zeta_excess is None


def test_sizes_density_and_mix_are_counted():
    sites = [np.array([0, 1, 2]), np.array([3])]
    data = np.array([[1.0, 0], [0, 0], [2, 3], [0, 4]])
    found = describe(data, sites, ["a", "a", "b", "b"])
    assert found.density == 0.5
    assert found.rank == 2
    assert found.mix.names.tolist() == ["a", "b"]
    assert found.mix.counts.tolist() == [[2, 1], [0, 1]]
    # Pooled 1/2, 1/2; the first site is 1/6 off, the second 1/2: (3/6 + 1/2) / 4.
    assert found.mix.distance == pytest.approx(0.25)
    assert found.effective_sites == pytest.approx(1 / (9 / 16 + 1 / 16))
    figures = found.figures()
    assert (figures["smallest_site"], figures["median_site"], figures["largest_site"]) == (1, 2, 3)


def test_a_mapped_matrix_and_its_copy_are_described_alike(tmp_path):
    np.save(tmp_path / "X.npy", X.astype(np.float32))
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    here = describe(X.astype(np.float32), SITES, LABELS)
    assert describe(mapped, SITES, LABELS).figures() == here.figures()
    assert "float32" in str(here)


def test_the_text_is_short_and_says_what_there_is():
    lines = str(describe(X, SITES, LABELS)).splitlines()
    assert lines[0].startswith("6 sites, 90 samples, 7 features (float64, ")
    assert [line.split()[0] for line in lines[1:]] == ["sizes", "classes", "gradients"]
    assert max(map(len, lines)) < 180
    bare = str(describe(X, [np.arange(90)])).splitlines()
    assert bare[:2] == [lines[0].replace("6 sites", "1 site"), "sizes      90 each"]
    assert len(bare) == 3
    assert "times that of random sites" in lines[-1]
    assert "times that of random sites" not in bare[-1]


MAGIC = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}


@pytest.mark.parametrize("suffix", MAGIC)
@pytest.mark.parametrize("labels", [None, LABELS, np.arange(90)])
def test_a_picture_is_put_in_place_whole(suffix, labels, tmp_path):
    path = tmp_path / f"federation{suffix}"
    assert describe(X, SITES, labels, rank=2).picture(str(path)) == path
    assert path.read_bytes().startswith(MAGIC[suffix])
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("n_sites", [1, 2, 90])
def test_any_number_of_sites_can_be_drawn(n_sites, tmp_path):
    sites = partition("iid", X, n_sites=n_sites)
    assert describe(X, sites, LABELS).picture(tmp_path / "a.png").stat().st_size > 5000


def test_a_picture_that_fails_leaves_nothing(tmp_path, monkeypatch):
    def fail(_, part, **__):
        part.write_text("half a picture")
        raise OSError("disk full")

    monkeypatch.setattr("matplotlib.figure.Figure.savefig", fail)
    with pytest.raises(OSError, match="disk full"):
        describe(X, SITES).picture(tmp_path / "a.png")
    assert not list(tmp_path.iterdir())


def test_split_views_runs_and_copies_the_rest():
    run, rest = split(X, [np.arange(10, 20), np.array([0, 3])])
    assert np.shares_memory(run, X)
    assert np.array_equal(run, X[10:20])
    assert not np.shares_memory(rest, X)
    assert np.array_equal(rest, X[[0, 3]])


def test_a_lazy_split_makes_each_site_when_asked():
    lazy = split(X, SITES, lazy=True)
    assert len(lazy) == 6
    for made, now in zip(lazy, split(csr_array(X), SITES), strict=True):
        assert np.array_equal(made, now.toarray())
    assert np.array_equal(lazy[-1], X[SITES[-1]])
    assert [len(site) for site in lazy[1:3]] == [len(rows) for rows in SITES[1:3]]


def test_the_import_is_light():
    heavy = "scipy sklearn matplotlib pandas threadpoolctl"
    code = (
        "import sys, fedmf.partitions as p; p.names(); "
        f"print([m for m in '{heavy}'.split() if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
