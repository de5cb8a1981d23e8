"""Two noisy quantiles of a column: scores of bins at the least epsilon."""

import numpy as np
import pytest

from dpstats.engines.units import PARTS
from dpstats.privacy import ADD_REMOVE, GDP, RELATIONS, Cost, PureDP
from dpstats.privacy.costs import LEAST_EPSILON
from dpstats.range_estimation.quantiles import center_and_spread
from dpstats.rows.privacy_unit import ONE
from tests.checks.replay import check_distances, check_flow, run

# What one of a few columns has of the least epsilon.
COSTS = PureDP(LEAST_EPSILON).part(0.01), GDP.of(LEAST_EPSILON, 1e-30).part(1e-4)


def choices(values: np.ndarray, cost: Cost, neighbors: str, one: int):
    """The choice of a median and of a distance, where all rows are of persons of their own."""
    batch = {"x": values} if one == 1 else {"x": values, PARTS: np.full(len(values), one)}
    return lambda noise: center_and_spread(
        lambda each: each(batch), {"x": cost}, 1.0, noise, neighbors, one
    )


@pytest.mark.parametrize("one", [1, ONE])
@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("cost", COSTS, ids=("pure", "gdp"))
def test_far_bins_stay_unlikely_at_the_least_epsilon(cost, neighbors, one):
    """Beside so much noise what makes them unlikely left 63 bits, and a row moved it by 2^64."""
    values = np.random.default_rng(1).normal(size=60)
    for new in (0.0, 1e-9, 1e6, -1e6):
        other = np.append(values[1:], [] if neighbors == ADD_REMOVE else [new])
        first = run(choices(values, cost, neighbors, one), cost, 1)
        answers = [asked.answer for asked in first.asked]
        second = run(choices(other, cost, neighbors, one), cost, 1, answers)
        check_flow(first, second)
        check_distances(first, second)
        assert all(score <= 0 for asked in first.asked for score in asked.values)
