"""Tails read off histograms, and what limits cut off, beside the same by numpy."""

import numpy as np
import pytest

from dpstats.numerics.tail_loops import (
    cells,
    first_hidden,
    least_costly,
    posterior,
    rows_below,
    squared_losses,
    squares_beyond,
)

EDGES = np.array([0.5, 1.0, 2.0, 4.0, 8.0, 16.0])
INDICES = np.array([0.5, 2.0, 6.0])
COUNTS = np.array([50.0, 30.0, 20.0, 3.0, -1.0, 40.0, 2.0])


def drawn(seed=1):
    """Hypotheses (h, k) of rows, their sizes and probabilities; one has none."""
    rng = np.random.default_rng(seed)
    weights = np.append(rng.dirichlet(np.ones(7)), 0.0)
    return rng.uniform(0, 5, (8, 30)), rng.exponential(2, 30), weights


@pytest.mark.parametrize("most", [np.inf, 3.0])
def test_losses_are_those_of_each_hypothesis_by_its_weight(most):
    counts, sizes, weights = drawn()
    limits = np.array([0.0, 0.3, 1.0, sizes[3], 5.0, 100.0])
    over = np.maximum(sizes - limits[:, None], 0)
    each = counts @ (over**2).T + (0.4 * (counts @ over.T)) ** 2
    wanted = weights @ np.minimum(each, most)
    found = squared_losses(counts, sizes, weights, limits, np.full(6, most), 0.4)
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-12)
    assert found[-1] == 0


def test_rows_below_limits_and_squares_beyond_them_are_added_up():
    counts, sizes, _ = drawn()
    limits = np.array([0.0, 0.5, sizes[4], 3.0, 50.0])
    below = [counts[0][sizes < limit].sum() for limit in limits]
    np.testing.assert_allclose(rows_below(counts[0], sizes, limits), below)
    beyond = [counts[0] @ np.maximum(sizes**2 - limit**2, 0) for limit in limits]
    np.testing.assert_allclose(squares_beyond(counts[0], sizes, limits), beyond, atol=1e-12)


@pytest.mark.parametrize(
    ("start", "clear", "first"), [(0.5, 25.0, 2), (0.5, 40.0, 1), (2.0, 25.0, 3), (0.5, -9.0, 6)]
)
def test_the_first_bin_that_noise_may_hide_comes_after_the_start(start, clear, first):
    assert first_hidden(COUNTS, EDGES, start, clear) == first


def test_cells_have_the_parts_of_pareto_tails():
    sizes, parts = cells(2.0, 64.0, INDICES, 20)
    ends = np.geomspace(2.0, 64.0, 21)
    beyond = (2.0 / ends) ** INDICES[:, None]
    wanted = -np.diff(beyond) / (1 - beyond[:, -1:])
    np.testing.assert_allclose(sizes, np.sqrt(ends[1:] * ends[:-1]))
    np.testing.assert_allclose(parts, wanted, rtol=1e-12)


def test_tails_are_weighed_by_the_bins_that_are_not_taken_as_they_are():
    """Bin 5 stands out, and bins from 16 on are beyond the end of the tail."""
    prior, deviation, end = np.array([0.2, 0.5, 0.3]), 2.0, 12.0
    sizes, parts = cells(2.0, end, INDICES, 10)
    given = prior, (sizes, parts), 4
    rows, weights = posterior(COUNTS, EDGES, 3, end, 7.0, deviation, *given)
    hidden, lower = [3, 4], np.append(0.0, EDGES)
    of_bins = np.stack(
        [
            parts[:, (sizes >= lower[k]) & (sizes < np.append(lower, np.inf)[k + 1])].sum(axis=1)
            for k in hidden
        ],
        axis=1,
    )
    most = COUNTS[hidden].sum() + 3 * deviation * np.sqrt(2)
    numbers = np.linspace(0, most, 4)
    expected = numbers[:, None, None] * of_bins
    unlikely = ((COUNTS[hidden] - expected) ** 2 / (deviation**2 + expected)).sum(axis=2) / 2
    wanted = np.exp(-unlikely) * prior / (numbers[:, None] + deviation)
    np.testing.assert_allclose(weights, (wanted / wanted.sum()).ravel(), rtol=1e-12)
    np.testing.assert_allclose(rows[:, 7:], (numbers[:, None, None] * parts).reshape(12, 10))
    np.testing.assert_array_equal(rows[:, :7], np.tile([50, 30, 20, 0, 0, 40, 0], (12, 1)))


def test_there_are_no_parts_of_a_row():
    """The rows of bins that are below zero are 0, and the smallest number but 0 is 0.5."""
    counts, tail = np.array([9.0, -4.0, -1.0]), cells(1.0, 8.0, INDICES, 8)
    rows, _ = posterior(counts, EDGES[:2], 1, 8.0, 7.0, 0.2, np.ones(3) / 3, tail, 16)
    numbers = np.round(rows[:, 3:].sum(axis=1), 9)
    assert numbers.max() == pytest.approx(3 * 0.2 * np.sqrt(2))
    assert set(numbers[numbers > 0]) and numbers[numbers > 0].min() >= 0.5


@pytest.mark.parametrize("most", [np.inf, 50.0])
def test_the_limit_of_least_error_is_one_that_is_usable(most):
    counts, sizes, weights = drawn(2)
    rows, limits = weights @ counts, np.geomspace(0.1, 20, 40)
    whole = np.array([rows[sizes < limit].sum() for limit in limits]) / rows.sum()
    lost = squared_losses(counts, sizes, weights, limits, most * np.maximum(whole, 1e-9) ** 2, 0.4)
    given = counts, sizes, weights, rows, limits
    for noise in (0.01, 1.0, 100.0):
        with np.errstate(all="ignore"):
            errors = np.where(
                (limits >= 0.7) & (whole >= 0.6), (noise * limits**2 + lost) / whole**2, np.inf
            )
        place, kept = least_costly(*given, (0.7, 0.6), noise, most, 0.4)
        assert place == errors.argmin() and kept == pytest.approx(whole[place])
    assert least_costly(*given, (30.0, 0.6), 1.0, most, 0.4)[0] == -1
