"""Cross-products against Python integers; data from fixed seeds, no noise."""

import math
from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpstats.estimators import METHODS
from dpstats.estimators.contract import Problem
from dpstats.estimators.least_squares import adassp
from dpstats.estimators.lines import noisy_stats
from dpstats.noise import Noise
from dpstats.numerics import Box, Moments, Rows, clipping
from dpstats.numerics import cross_products as moments_module
from dpstats.numerics.clipping import ENTRY_BITS
from dpstats.numerics.cross_products import PRODUCT_UNIT
from dpstats.privacy import ADD_REMOVE
from dpstats.testing import insecure_seed
from tests.checks.passes import Summed

LOW, HIGH = np.array([1.0, -3.0, 2.0]), np.array([1.0, 1.0, 10.0])
BOXES = {
    "intercept": Box.symmetric(LOW, HIGH, -3.0, 1.0, 0),
    "short rows": Box.symmetric(LOW, HIGH, -3.0, 1.0, 0, 1.3),
    "no intercept": Box.symmetric(LOW, HIGH, 2.0, 10.0, None),
    "ball": Box.ball(3, 5.0, 2.0, 10.0),
    "norm-clipped rows": Box.symmetric(LOW, HIGH, -3.0, 1.0, 0, 1.3, norm_clip=True),
}


def rows_of(n, seed=1):
    """n rows, some of them far out of range or infinite."""
    generator = np.random.default_rng(seed)
    X = np.column_stack([np.ones(n), generator.normal(0, 4, n), generator.normal(5, 6, n)])
    y = generator.normal(0, 5, n)
    far = generator.choice([1.0, 1e6, 1e300, np.inf, -np.inf], (n, 3), p=[0.8] + [0.05] * 4)
    far[:, 0] = 1.0
    return X * far, y * generator.choice([1.0, np.inf], n, p=[0.95, 0.05])


ends = [0.0, -0.0, 1.0, -3.0, 2.0, 10.0, 5e-324, -5e-324, 1e300, np.inf, -np.inf]
entries = st.floats(-4, 12) | st.floats(allow_nan=False) | st.sampled_from(ends)


def by_definition(row, box):
    """A row's integers, one operation at a time on Python's own doubles."""
    far, places = 2.0**40, [*zip(box.center.tolist(), box.scale.tolist(), strict=True)]
    places.append((box.y_center, box.y_scale))
    limits = [box.limit] * len(box.center) + [1.0]
    z = [(value - center) / scale for value, (center, scale) in zip(row, places, strict=True)]
    limits = [far] * len(z) if box.norm_clip else limits
    z = [max(-limit, min(limit, value)) for value, limit in zip(z, limits, strict=True)]
    if box.norm_clip:
        most = max(1.0, *map(abs, z))
        z = [value / most for value in z]
    if box.norm < box.limit * math.sqrt(len(box.center)):
        bound = box.norm * (1 - 2.0**-30)
        length = math.sqrt(reduce(add, [value * value for value in z[:-1]]))
        z = [value * (bound / max(length, bound)) for value in z]
    return [math.trunc(value * 2.0**ENTRY_BITS) for value in z]


def brute_force(X, y, box):
    """Sums of products as Python integers, a row at a time."""
    rows = [[int(entry) for entry in row] for row in box.integers(X, y)]
    columns = range(X.shape[1] + 1)
    return [[sum(row[j] * row[k] for row in rows) for k in columns] for j in columns]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("name", BOXES)
@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(st.tuples(*[entries] * 4), max_size=40))
def test_rows_become_integers_as_defined(name, order, rows):
    """However long the run is in which compiled loops meet a row, whatever the memory's order."""
    table = np.array(rows, order=order).reshape(-1, 4)
    found = BOXES[name].integers(table[:, :3], table[:, 3])
    assert found.tolist() == [by_definition(row, BOXES[name]) for row in rows]


@pytest.mark.parametrize("name", BOXES)
@pytest.mark.parametrize("n", [0, 1, 2, 300])
def test_moments_are_exact(name, n):
    X, y = rows_of(n)
    found = Moments.of(Rows(X, y), BOXES[name]).cross
    assert found.tolist() == brute_force(X, y, BOXES[name])
    assert found.dtype == object and all(type(entry) is int for entry in found.ravel())


@pytest.mark.parametrize("n", [8191, 8192, 8193, 16385])
def test_block_boundaries_are_exact_at_the_largest_products(n):
    box = BOXES["intercept"]
    X = np.tile([1.0, 1.0, 10.0], (n, 1))
    X[1::2, 1] = -3.0
    y = np.where(np.arange(n) % 3, 1.0, -3.0)
    assert Moments.of(Rows(X, y), box).cross.tolist() == brute_force(X, y, box)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 200), max_size=6), st.sampled_from(sorted(BOXES)))
def test_chunks_merge_to_the_same_sums_however_they_are_cut(cuts, name):
    X, y = rows_of(200)
    box = BOXES[name]
    edges = [0, *sorted(cuts), 200]
    parts = [Moments.of(Rows(X[a:b], y[a:b]), box) for a, b in zip(edges, edges[1:], strict=False)]
    merged = sum(parts[1:], parts[0])
    assert merged.cross.tolist() == Moments.of(Rows(X, y), box).cross.tolist()


@pytest.mark.parametrize("name", BOXES)
def test_the_order_of_rows_does_not_matter(name):
    X, y = rows_of(9000)
    order = np.random.default_rng(2).permutation(9000)
    rows = Rows(X, y)
    one, other = (Moments.of(each, BOXES[name]).cross for each in (rows, rows[order]))
    assert one.tolist() == other.tolist()


def by_weight(X, y, weights, box):
    """Sums of w z z' as Python integers, a row at a time."""
    rows = [[int(entry) for entry in row] for row in box.integers(X, y)]
    whole = [int(weight) for weight in moments_module.whole_weights(weights)]
    pairs, columns = [*zip(whole, rows, strict=True)], range(X.shape[1] + 1)
    return [[sum(w * row[j] * row[k] for w, row in pairs) for k in columns] for j in columns]


@pytest.mark.parametrize("name", BOXES)
@pytest.mark.parametrize("n", [0, 1, 300, 8193])
def test_weighted_moments_are_exact(name, n):
    X, y = rows_of(n)
    weights = np.random.default_rng(3).choice([0.0, 1.0, 2.0**-20, 0.3, 1 - 2.0**-53], n)
    found = Moments.of(Rows(X, y, parts=weights), BOXES[name])
    assert found.cross.tolist() == by_weight(X, y, weights, BOXES[name])
    assert found.extra == n and (found + found).extra == 2 * n
    assert all(type(entry) is int for entry in found.cross.ravel())


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=9))
def test_weights_never_grow_and_are_their_rows_own_affair(weights):
    weights = np.array(weights, dtype=float)
    whole = moments_module.whole_weights(weights)
    assert np.array_equal(whole, [moments_module.whole_weights(w[None])[0] for w in weights])
    assert (whole >= 0).all() and (whole <= 2.0**20).all()
    inside = (weights >= 0) & (weights <= 1)
    assert (whole[inside] <= weights[inside] * 2.0**20).all()


@pytest.mark.parametrize("blocks", [1, 2, 3])
def test_full_int64_sums_are_flushed_into_python_integers(blocks, monkeypatch):
    monkeypatch.setattr(clipping, "BLOCK", 16)
    monkeypatch.setattr(moments_module, "_BLOCKS_IN_INT64", blocks)
    X, y = rows_of(500)
    found = Moments.of(Rows(X, y), BOXES["intercept"]).cross
    assert found.tolist() == brute_force(X, y, BOXES["intercept"])


def test_blocks_are_small_enough_for_exact_arithmetic():
    """Products stay below 2^53 in a block (float64) and below 2^63 in a run of blocks."""
    block = clipping.BLOCK * 2 ** (2 * ENTRY_BITS)
    assert block <= 2**53
    assert block * moments_module._BLOCKS_IN_INT64 < 2**63
    assert PRODUCT_UNIT == 2.0 ** (-2 * ENTRY_BITS)


def test_sums_beyond_63_bits_merge_and_are_released():
    """As many rows as no table has: 2^40 copies of one, by doubling."""
    x_new = np.array([[1.0, 0.0]])
    problem = Problem(
        low=np.array([1.0, -1.0]),
        high=np.array([1.0, 1.0]),
        y_low=-1.0,
        y_high=1.0,
        intercept=0,
        neighbors=ADD_REMOVE,
        row_norm=None,
        estimated=False,
        x_new=x_new,
    )
    X, y = np.array([[1.0, 0.5], [1.0, -0.5]]), np.array([0.5, -0.25])
    total = adassp.summarise(Rows(X, y), problem)
    sums = noisy_stats.summarise(Rows(X, y), problem)
    for _ in range(40):
        total, sums = total + total, sums + sums
    assert total.sums.cross[0, 0] == 2 << 40 + 2 * ENTRY_BITS
    assert sums.n == 2 << 40 and sums.x == 1 << 40 + ENTRY_BITS
    with insecure_seed(1):
        for name, summary in (("adassp", total), ("noisy_stats", sums)):
            method = METHODS[name]
            cost = method.cost(1.0, 1e-6)
            released = method.release(Summed(summary), problem, cost, Noise(cost))
            assert released.params == pytest.approx([0.125, 0.75], abs=1e-5)


@pytest.mark.parametrize("name", BOXES)
def test_infinite_values_are_clipped_like_large_ones(name):
    box = BOXES[name]
    X = np.array([[1.0, np.inf, -np.inf], [1.0, 2.0**90, -(2.0**90)], [1.0, 1e300, -1e300]])
    y = np.array([np.inf, 1e300, 2.0**80])
    rows = box.integers(X, y)
    assert np.all(np.isfinite(rows)) and np.all(np.abs(rows) <= 1 << ENTRY_BITS)
    assert rows[0].tolist() == rows[1].tolist() == rows[2].tolist()
