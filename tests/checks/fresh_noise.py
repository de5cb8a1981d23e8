"""Check fresh noise: its scale, its shape and its grid."""

import itertools

import numpy as np
import pytest
from scipy import stats

from dpstats.noise import Noise, Query
from dpstats.noise import noise as noise_module
from dpstats.privacy import GDP, PureDP
from tests.checks.replay import Violation

ALPHA = 1e-6
DRAWS = 100_000
COSTS = (PureDP(0.5), GDP(0.5))


def query_of(scale, cost, values):
    """A query whose noise has the given natural scale; sensitivities are in units of 2^-40."""
    sensitivity = scale * 0.5 * 2.0**40
    kind = {"l2": sensitivity} if isinstance(cost, GDP) else {"l1": sensitivity}
    return Query("step", values, unit=2.0**-40, **kind)


def check_drawn(draws, scale, distribution):
    """Mean absolute value to 2%, and the shape in 50 bins of equal probability."""
    expected = scale * distribution.expect(abs)
    if not abs(np.abs(draws).mean() / expected - 1) < 0.02:
        raise Violation(f"mean |noise| {np.abs(draws).mean()} where {expected} is stated")
    counts = np.histogram(distribution.cdf(draws / scale), np.linspace(0, 1, 51))[0]
    if not stats.chisquare(counts).pvalue > ALPHA:
        raise Violation(f"noise is not {distribution.dist.name}: {counts}")


def check_fresh(scale, cost):
    """Draw from the operating system and compare with the recorded event."""
    noise = Noise(cost)
    values = [12345 << 40] * DRAWS
    draws = noise.add(query_of(scale, cost, values), cost).values - 12345
    distribution = stats.norm() if isinstance(cost, GDP) else stats.laplace()
    assert noise.private
    assert noise.events[0].scale == pytest.approx(scale, rel=1e-9)
    check_drawn(draws, noise.events[0].scale, distribution)


def check_coarse_grid():
    """By brute force: neighbours on the noise grid are no further apart than its noise allows.

    With 2^3 grid units to a scale, small integers already need the coarse grid. Every pair
    of values within the sensitivity is tried, in one and in two dimensions.
    """
    reached = []
    for size, reach in ((1, 40), (2, 7)):
        points = list(itertools.product(range(-reach, reach + 1), repeat=size))
        for sensitivity, scale in itertools.product((1, 2, 3, 5), (6.0, 16.5, 33.0, 100.0)):
            for norm in (1, 2):
                reached += [_coarse_ratio(points, sensitivity, scale, norm)]
    assert max(reached) > 0.9


def _coarse_ratio(points, sensitivity, scale, norm):
    """The largest share of the grid's sensitivity that any pair of points uses."""
    gaussian, size = norm == 2, len(points[0])
    query = Query("step", [n for point in points for n in point], unit=1.0)
    rounded, _, unit = noise_module.on_noise_grid(query, scale, sensitivity, gaussian)
    one = Query("step", points[0], unit=1.0)
    _, grid_scale, same_unit = noise_module.on_noise_grid(one, scale, sensitivity, gaussian)
    assert unit == same_unit
    points, cells = np.array(points), np.array(rounded, dtype=float).reshape(-1, size)
    apart = np.linalg.norm(points[:, None] - points, norm, axis=2)
    moved = np.linalg.norm(cells[:, None] - cells, norm, axis=2)[apart <= sensitivity].max()
    allowed = grid_scale * sensitivity / scale
    if moved > allowed * (1 + 1e-12):
        raise Violation(f"moved {moved} grid units where the noise allows {allowed}")
    return moved / allowed
