"""Sums over pairs of rows within groups."""

import itertools

import numpy as np
import pytest

from dpstats.numerics import PairGroups, pairs

ONE, NONE = 2.0**20, np.zeros(0)


def plain(*given):
    """Return groups as loops take them."""
    return tuple(PairGroups.of(*given))


def table(n=60, p=3, seed=0):
    """Rows, residuals and groups of 1, 4, 15 and 40 rows, one of them empty."""
    generator = np.random.default_rng(seed)
    starts = np.array([0, 1, 1, 5, 20, n])
    return generator.normal(size=(n, p)), generator.normal(size=n), starts


def each_pair(rows, left, starts):
    """Pairs of rows one by one: the group, its size, and the two differences."""
    for g, (start, stop) in enumerate(zip(starts[:-1], starts[1:], strict=True)):
        for i in range(start, stop):
            for j in range(start, i):
                yield g, stop - start, rows[i] - rows[j], left[i] - left[j]


def test_scores_are_clipped_pair_by_pair_and_added_up_by_group():
    rows, left, starts = table()
    sums, squares = np.zeros((5, 3)), np.zeros(5)
    for g, n, a, r in each_pair(rows, left, starts):
        s = a * r
        sums[g] += s * min(1, 1.5 / np.linalg.norm(s)) / n
        squares[g] += 0.3 * min(abs(r) / 0.8, 1) ** 2 / n
    found = pairs.scores(rows.T.copy(), left, 1.5, 0.8, 0.3, plain(starts), ONE) / ONE
    np.testing.assert_allclose(1.5 * found[:, :3], sums, atol=1e-4)
    np.testing.assert_allclose(found[:, 3], squares, atol=1e-4)


def test_unclipped_scores_are_those_of_deviations_from_means():
    rows, left, starts = table()
    found = (
        pairs.scores(rows.T.copy(), left, 1e3, 1e3, 0.0, plain(starts), 2.0**40)[:, :3]
        / 2.0**40
        * 1e3
    )
    for g, (start, stop) in enumerate(zip(starts[:-1], starts[1:], strict=True)):
        own = slice(start, stop)
        centred = rows[own] - rows[own].mean(axis=0) if stop > start else rows[own]
        np.testing.assert_allclose(found[g], centred.T @ left[own], atol=1e-6)


def test_products_are_of_pairs_that_are_cut():
    rows, left, starts = table()
    sums = np.zeros((3, 3))
    for _, n, a, _ in each_pair(rows, left, starts):
        sums += np.outer(a, a) * min(1, 2 / (a @ a)) / n
    found = pairs.products(rows.T.copy(), np.sqrt(2.0), plain(starts), ONE) * 2 / ONE**2
    np.testing.assert_allclose(found, sums, atol=1e-4)


@pytest.mark.parametrize("scored", [False, True])
def test_counts_are_of_pairs_in_bins(scored):
    rows, left, starts = table()
    limits, expected = np.array([0.5, 1.0, 4.0]), np.zeros(4)
    for _, n, a, r in each_pair(rows, left, starts):
        size = a @ a * (r**2 if scored else 1)
        expected[(size > limits).sum()] += 1 / n
    found = pairs.counts(rows.T.copy(), left[: 60 * scored], limits, plain(starts), 1 << 20) / ONE
    np.testing.assert_allclose(found, expected, atol=1e-4)
    assert found.sum() == pytest.approx((60 - 4) / 2, abs=1e-4)


def test_the_order_of_rows_in_a_group_changes_no_bit():
    rows, left, _ = table(n=60)
    starts, order = np.array([0, 60]), np.random.default_rng(1).permutation(60)
    one = plain(starts), plain(starts)
    weights = np.random.default_rng(2).integers(1 << 20, size=60) / ONE
    two = (plain(starts, w, 1 << 20) for w in (weights, weights[order]))
    for (groups, ordered), function in itertools.product((one, tuple(two)), (
        lambda a, r, g: pairs.scores(a.T.copy(), r, 1.5, 0.8, 0.3, g, ONE),
        lambda a, r, g: pairs.products(a.T.copy(), 1.4, g, ONE),
        lambda a, r, g: pairs.counts(a.T.copy(), r, np.array([0.5, 1.0]), g, 1 << 20),
    )):  # fmt: skip
        found = function(rows[order], left[order], ordered)
        assert (function(rows, left, groups) == found).all()


def test_products_of_many_pairs_are_exact():
    """Products at their largest of 250,000 pairs, whose sum doubles do not hold exactly."""
    rows, starts = np.arange(1000.0)[:, None] % 2, np.array([0, 1000])
    whole = int(2.0**20 - 1)
    assert (
        pairs.products(rows.T.copy(), 0.5, plain(starts), float(whole)).item()
        == whole**2 * 250000 // 1000
    )


def test_pairs_count_for_the_product_of_their_weights_over_the_sum_of_the_groups():
    rows, left, starts = table()
    weights = np.round(np.random.default_rng(2).uniform(0.01, 1, 60) * ONE) / ONE
    groups, limits = plain(starts, weights, 1 << 20), np.array([0.5, 1.0, 4.0])
    sums, gram, counted = np.zeros((5, 4)), np.zeros((3, 3)), np.zeros(4)
    for g, (start, stop) in enumerate(zip(starts[:-1], starts[1:], strict=True)):
        for i in range(start, stop):
            for j in range(start, i):
                a, r = rows[i] - rows[j], left[i] - left[j]
                both = weights[i] * weights[j] / weights[start:stop].sum()
                sums[g, :3] += both * a * r * min(1, 1.5 / np.linalg.norm(a * r))
                sums[g, 3] += both * 0.3 * min(abs(r) / 0.8, 1) ** 2
                gram += both * np.outer(a, a) * min(1, 2 / (a @ a))
                counted[(a @ a > limits).sum()] += both
    found = pairs.scores(rows.T.copy(), left, 1.5, 0.8, 0.3, groups, ONE) / ONE
    np.testing.assert_allclose(found * [1.5, 1.5, 1.5, 1], sums, atol=1e-5)
    np.testing.assert_allclose(
        pairs.products(rows.T.copy(), np.sqrt(2.0), groups, ONE) * 2 / ONE**2, gram, atol=1e-4
    )
    found = pairs.counts(rows.T.copy(), NONE, limits, groups, 1 << 20) / ONE
    np.testing.assert_allclose(found, counted, atol=1e-5)


def test_sums_of_many_weighted_pairs_are_exact():
    """3,000 rows of the largest weight in one group: 4.5 million pairs of the largest values."""
    n, unit = 3000, 1 << 20
    groups = plain(np.array([0, n]), np.ones(n), unit)
    left = np.arange(n, dtype=float)
    found = pairs.scores(left[None], left, 0.5, 0.5, 1.0, groups, float(unit - 1))
    between = n * (n - 1) // 2
    assert found.tolist() == [[between * (unit - 1) * unit // (n * unit)] * 2]
    limits = np.array([0.5])
    found = pairs.counts(left[None], NONE, limits, groups, unit)
    assert found.tolist() == [0, between * unit**2 // (n * unit)]
    found = pairs.products(left[None] % 2, 0.5, groups, float(unit - 1))
    assert found.item() == (n // 2) ** 2 * (unit - 1) ** 2 // n


@pytest.mark.parametrize("limits", [
    [0.0, 5e-324, 1e-310, 1.0, 1.0, 1.05, 1.1, 1.9, 2.0, 1e300], 2.0 ** np.arange(-80, 80, 0.1), [],
])  # fmt: skip
def test_a_size_is_in_the_bin_that_a_search_finds(limits):
    """Rows at 0 beside others: sizes at limits, between close ones, subnormal and infinite."""
    limits, generator = np.asarray(limits, dtype=float), np.random.default_rng(3)
    places = np.sqrt(np.concatenate([limits, 2.0 ** generator.uniform(-90, 90, 50), [0, np.inf]]))
    expected = np.zeros(len(limits) + 1)
    np.add.at(expected, np.searchsorted(limits, places * places), 1)
    columns = np.ravel(np.column_stack([places, np.zeros(len(places))]))[None]
    found = pairs.counts(columns, NONE, limits, plain(np.arange(len(places) + 1) * 2), 2)
    assert found.tolist() == expected.tolist()


def test_no_rows_have_no_pairs():
    rows, left, starts = np.zeros((0, 2)), np.zeros(0), np.array([0])
    assert (pairs.products(rows.T.copy(), 1.0, plain(starts), ONE) == 0).all()
    assert pairs.scores(rows.T.copy(), left, 1.0, 1.0, 0.3, plain(starts), ONE).shape == (0, 3)
    assert (pairs.counts(rows.T.copy(), left, np.ones(1), plain(starts), 1) == 0).all()
