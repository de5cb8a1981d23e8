"""Within-group cross-products against exact fractions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpstats.numerics.grouped_moments import GroupedMoments
from tests.checks.grouped_moments import BOX, check_exact, check_large, rows_of


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


@pytest.mark.parametrize("n", [(1 << 22) - 1, 1 << 22, (1 << 22) + 3, 1 << 40])
def test_large_groups_are_exact(n):
    check_large(n)


def test_no_rows_give_zeros():
    none = GroupedMoments.of(np.zeros((0, 2)), np.zeros(0), np.zeros(0), BOX)
    assert not none.within().any() and none.degrees == 0
