"""A small part of the grid of `make accuracy`, with floors: defaults, no argument but the number of components."""

from functools import partial

import numpy as np
import pytest

from benchmarks import cells as grid
from boundsep import sources

pytestmark = pytest.mark.compiled
SEEDS = range(3000, 3005)


def median(way, kind, d, n, method="BSM", snr=np.inf):
    cell = grid.Cell("", "", partial(grid.mixture_of, kind, d, n, snr=snr), "", way, noisy=np.isfinite(snr))
    reached = np.array([grid.run(cell, method, seed)[0] for seed in SEEDS])
    return float(np.median(np.where(np.isnan(reached), np.inf, reached)))  # what is exact has no finite SIR


@pytest.mark.parametrize(
    ("way", "kind", "d", "n", "floor"),
    [
        ("stream", sources.uniform, 3, 3000, 39.0),
        ("stream", sources.uniform, 10, 10_000, 40.0),
        ("stream", sources.uniform, 10, 100_000, 62.0),
        ("fit", sources.uniform, 10, 3000, 34.0),
        ("fit", sources.pam, 5, 20_000, 80.0),
        ("fit", sources.sines, 5, 20_000, 80.0),
        ("fit", sources.shared_amplitude, 5, 50_000, 36.0),
        ("fit", sources.l1_ball, 5, 50_000, 60.0),
        ("fit", partial(sources.copula, rho=0.5), 5, 50_000, 40.0),
        ("fit", partial(sources.sparse, kind="laplace"), 5, 60_000, 36.0),
    ],
)
def test_floors(way, kind, d, n, floor):
    assert median(way, kind, d, n) > floor


@pytest.mark.parametrize(("n", "ahead"), [(3000, 0.0), (10_000, 6.0), (50_000, 12.0)])
def test_ahead_of_fastica(n, ahead):
    assert median("fit", sources.uniform, 5, n) > median("fit", sources.uniform, 5, n, "FastICA, cube") + ahead


@pytest.mark.parametrize("snr", [20.0, 40.0])
def test_noise_does_not_harm(snr):
    """Neither stage one alone nor an ICA is better."""
    reached = median("fit", sources.uniform, 5, 50_000, snr=snr)
    for other in ("stage one", "FastICA, cube"):
        assert reached > median("fit", sources.uniform, 5, 50_000, other, snr=snr) - 0.5


def test_stage_one_alone_is_ahead_of_fastica():
    """Both given the true whitening."""
    cell = grid.Cell("", "", partial(grid.white, 10, 100_000), "", "stage one")
    reached = [np.median([grid.run(cell, m, seed)[0] for seed in SEEDS]) for m in ("BSM", "FastICA, cube")]
    assert reached[0] > reached[1] + 4.0
