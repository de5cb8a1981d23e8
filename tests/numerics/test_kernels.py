"""Compiled loops against the same sums in Python's integers and in numpy."""

import numpy as np
import pytest

from dpstats.numerics import kernels

ONE = 2.0**20


def whole(rng, shape):
    """Whole numbers of at most 2^20 in magnitude, the ends among them."""
    values = rng.integers(-(2**20), 2**20, shape, endpoint=True).astype(float)
    values.flat[:3] = ONE, -ONE, 0.0
    return values


@pytest.mark.parametrize("rows", [1, 2, 1 << 13])
def test_weighted_products_are_exact(rows):
    rng = np.random.default_rng(rows)
    columns, weights = whole(rng, (3, rows)), np.abs(whole(rng, rows))
    high, low = kernels.weighted_products(columns, weights, ONE)
    exact = columns.astype(int).astype(object)
    products = (exact * weights.astype(int)) @ exact.T
    assert (high.astype(int).astype(object) * 2**20 + low.astype(int) == products).all()


@pytest.mark.parametrize("cut", [3.0, 2.0**18, 0.0])
def test_residuals_are_clipped_as_numpy_would(cut):
    rng = np.random.default_rng(5)
    columns, theta, parts = whole(rng, (4, 500)), np.array([0.3, -1.1, 2.0]), rng.uniform(size=500)
    left = columns[-1].copy()
    for j in range(3):
        left -= columns[j] * theta[j]
    with np.errstate(divide="ignore", invalid="ignore"):
        sizes = np.clip(left / cut, -1.0, 1.0)
    found, total = kernels.clipped_residuals(columns, theta, cut, parts, 2.0**39)
    assert np.array_equal(found, parts * sizes)
    assert total == np.trunc(2.0**39 * parts * sizes**2).sum()


def test_a_residual_that_is_no_number_counts_as_one_beyond_the_cut():
    found, total = kernels.clipped_residuals(
        np.ones((2, 1)), np.array([np.nan]), 1.0, np.array([0.5]), 8.0
    )
    assert found.tolist() == [0.5] and total == 4.0


@pytest.mark.parametrize("numbers", [[], [4], [0, 0, 0], [0, 0, 1, 5, 5], [0, 1, 2]])
def test_runs_are_added_up(numbers):
    columns = np.arange(2.0 * len(numbers)).reshape(2, -1)
    sums = kernels.sums_of_runs(columns, np.array(numbers, float))
    of_runs = {n: columns[:, np.equal(numbers, n)].sum(axis=1) for n in numbers}
    assert sums.T.tolist() == [total.tolist() for total in of_runs.values()]


def test_rounded_rows_are_whole_and_within_their_limit():
    columns = np.array([[1.0, -3.0, np.inf], [2.4, 0.5, -np.inf]])
    norms = kernels.round_rows(columns, np.array([1.0, 2.0, 1.0]), 5.0)
    assert columns.tolist() == [[1, -5, 5], [2, 1, -5]]
    assert norms.tolist() == kernels.lengths(columns).tolist()


@pytest.mark.parametrize("order", ["C", "F"])
def test_lengths_are_the_same_beside_others_and_alone(order):
    """numpy's sums of squares of 30 numbers differ in the last bit of half of such columns."""
    columns = np.array(np.random.default_rng(1).normal(size=(30, 400)) * 1e6, order=order)
    beside = kernels.lengths(columns)
    alone = [kernels.lengths(columns[:, [i]])[0] for i in range(400)]
    assert beside.tolist() == alone
    np.testing.assert_allclose(beside, np.linalg.norm(columns, axis=0), rtol=1e-14)


@pytest.mark.parametrize("first", [0, 3, 5])
def test_places_are_those_of_a_search_wherever_it_starts(first):
    rng = np.random.default_rng(first)
    edges = np.sort(rng.choice(np.linspace(-3.0, 3.0, 40), 13))  # some are equal
    near = np.concatenate([edges, np.nextafter(edges, -np.inf), np.nextafter(edges, np.inf)])
    values = np.concatenate([near, rng.normal(0, 2, 500), [np.nan, np.inf, -np.inf, 1e300, -0.0]])
    found = kernels.places(values, edges, first)
    np.testing.assert_array_equal(found, np.searchsorted(edges, values, "right") - 1)


def test_places_do_not_need_a_width():
    found = kernels.places(np.array([-1.0, 2.0, 5.0, np.nan]), np.full(4, 2.0), 1)
    assert found.tolist() == [-1, 3, 3, 3]


def test_halves_are_rounded_to_even_and_beyond_the_limit_to_it():
    values = np.array([[0.5, 1.5, -2.5, 2.0**33 - 0.5, -(2.0**40), np.inf, np.nan]])
    kernels.round_rows(values, np.ones(7), 2.0**33)
    assert values.tolist() == [[0, 2, -2, 2**33, -(2**33), 2**33, 2**33]]
