"""The search for the smallest epsilon: its grid, its target and its Monte Carlo error."""

import numpy as np

import dpstats as dp
from dpstats.planning.epsilon_search import GRID, Target
from dpstats.planning.trials import Trials, median_ranks
from tests.checks.plans import CALL, cells


def test_the_least_epsilon_is_the_least_of_the_grid():
    """Checked against every epsilon of a small grid."""
    grid = [0.25, 0.5, 1, 2, 4]
    every = cells(dp.plan("y ~ x", epsilon=grid, methods=["adassp"], **CALL))["width"]
    for target in (every.loc["adassp", 1] * 1.01, every.loc["adassp", 4] * 1.01):
        found = dp.plan("y ~ x", epsilon=grid, methods=["adassp"], target_width=target, **CALL)
        expected = min(e for e in grid if every.loc["adassp", e] <= target)
        (row,) = found.least.itertuples()
        assert row.epsilon == expected and row.low <= row.epsilon <= row.high
        visited = cells(found).loc["adassp"]["width"]
        assert visited[expected] <= target and set(visited.index) <= set(grid)
    assert found.least["method"].tolist() == ["adassp"]


def test_a_target_out_of_reach_or_without_intervals():
    made = dp.plan("y ~ x", methods=["adassp", "exp_theil_sen"], target_width=1e-4, epsilon=[1, 8],
                   **CALL)  # fmt: skip
    least = made.least.set_index("method")["epsilon"]
    assert np.isinf(least["adassp"]) and np.isnan(least["exp_theil_sen"])
    assert "not enough" in str(made) and "no interval" in str(made)
    assert dp.plan("y ~ x", methods=["adassp"], epsilon=1, **CALL).least.empty


def test_the_search_states_its_monte_carlo_error():
    """Widths around 1 / epsilon: the ends of the interval for the median are found alike."""
    rng = np.random.default_rng(1)
    spread = rng.lognormal(0, 0.8, 101)

    def trials_at(epsilon):
        ends = np.stack([np.zeros(101), spread / epsilon], -1)[:, None]
        return Trials(np.zeros((101, 1)), ends, np.zeros(1))

    least, visited = Target(1.0, 0, "").search("m", trials_at, GRID)
    low, high = (np.sort(spread)[round(q * 1.01) - 1] for q in median_ranks(101))
    expected = [min(e for e in GRID if e >= q) for q in (np.median(spread), low, high)]
    assert [least.epsilon, least.low, least.high] == expected
    assert least.low < least.epsilon < least.high and len(visited) < 25


def test_the_grid_is_public_and_fine():
    assert (GRID[0], GRID[-1], len(GRID)) == (0.01, 100, 129)
    steps = np.array(GRID[1:]) / GRID[:-1]
    assert 1.06 < steps.min() and steps.max() < 1.09
