"""Within-group cross-products against exact fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpstats.numerics import Box, Moments
from dpstats.numerics.clipping import ENTRY_BITS
from dpstats.numerics.grouped_moments import GroupedMoments

BOX = Box.symmetric(np.array([-1.0, -1.0]), np.array([1.0, 1.0]), -1.0, 1.0, None)


def rows_of(seed, n):
    """Rows in the box, with many on its corners."""
    generator = np.random.default_rng(seed)
    Z = generator.uniform(-1.5, 1.5, (n, 3))
    return Z[:, :2], Z[:, 2]


def exact(X, y, keys):
    """W by fractions, with each group's s s' / n rounded down as documented."""
    Z = np.array([[int(v) for v in row] for row in BOX.integers(X, y)], dtype=object)
    W = Z.T @ Z if len(Z) else np.zeros((3, 3), dtype=object)
    for key in np.unique(keys):
        own = Z[keys == key]
        s = own.sum(axis=0)
        for j in range(3):
            for l in range(3):
                W[j, l] -= Fraction(s[j] * s[l], len(own)).__floor__()
    return W


def check_exact(seed, n, groups):
    """Against fractions, for random rows in random groups."""
    X, y = rows_of(seed, n)
    keys = np.random.default_rng(seed).integers(groups, size=n).astype(float)
    moments = GroupedMoments.of(X, y, keys, BOX)
    assert (moments.within() == exact(X, y, keys)).all()
    assert moments.degrees == n - len(np.unique(keys))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.integers(0, 60), st.integers(1, 20))
def test_within_equals_exact_fractions(seed, n, groups):
    check_exact(seed, n, groups)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.lists(st.integers(0, 40), min_size=1, max_size=5))
def test_parts_add_up_in_any_order(seed, cuts):
    X, y = rows_of(seed, 40)
    keys = np.random.default_rng(seed).integers(7, size=40).astype(float)
    whole = GroupedMoments.of(X, y, keys, BOX)
    order = np.random.default_rng(seed + 1).permutation(40)
    parts = [part for part in np.split(order, sorted(cuts))]
    total = GroupedMoments.of(X[:0], y[:0], keys[:0], BOX)
    for part in parts:
        total = total + GroupedMoments.of(X[part], y[part], keys[part], BOX)
    assert (total.within() == whole.within()).all()
    for name in ("keys", "counts", "sums"):
        assert np.array_equal(getattr(total, name), getattr(whole, name))


def test_deviations_of_a_shifted_group_are_the_same():
    """Group effects that keep rows inside the box change no entry by more than the rounding."""
    generator = np.random.default_rng(1)
    Z = np.round(generator.uniform(-0.25, 0.25, (300, 3)) * 2**10) / 2**10
    keys = generator.integers(9, size=300)
    effects = np.round(generator.uniform(-0.5, 0.5, (9, 3)) * 2**10) / 2**10
    moved = Z + effects[keys]
    one = GroupedMoments.of(Z[:, :2], Z[:, 2], keys.astype(float), BOX).within()
    two = GroupedMoments.of(moved[:, :2], moved[:, 2], keys.astype(float), BOX).within()
    assert np.abs((one - two).astype(float)).max() <= 9


def check_large(n):
    """Sums of millions of rows at the corners leave int64 where products are formed."""
    unit = 1 << ENTRY_BITS
    generator = np.random.default_rng(2)
    counts = np.array([n, 3, n // 2, 1])
    sums = generator.integers(-unit, unit + 1, (4, 3)) * counts[:, None] // 3 - 1
    zero = Moments(np.zeros((3, 3), dtype=object))
    moments = GroupedMoments(zero, np.arange(4.0), counts, sums)
    expected = [
        [
            -sum(int(s[j]) * int(s[l]) // int(m) for m, s in zip(counts, sums, strict=True))
            for l in range(3)
        ]
        for j in range(3)
    ]
    assert moments.within().tolist() == expected


@pytest.mark.parametrize("n", [(1 << 22) - 1, 1 << 22, (1 << 22) + 3, 1 << 40])
def test_large_groups_are_exact(n):
    check_large(n)


def test_no_rows_give_zeros():
    none = GroupedMoments.of(np.zeros((0, 2)), np.zeros(0), np.zeros(0), BOX)
    assert not none.within().any() and none.degrees == 0
