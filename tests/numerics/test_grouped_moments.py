"""Within-group cross-products against exact fractions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpstats.numerics import Rows
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
    rows = Rows(X, y, keys=keys)
    whole = GroupedMoments.of(rows, BOX)
    order = np.random.default_rng(seed + 1).permutation(40)
    parts = [part for part in np.split(order, sorted(cuts))]
    total = GroupedMoments.of(rows[:0], BOX)
    for part in parts:
        total = total + GroupedMoments.of(rows[part], BOX)
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
    one, two = (
        GroupedMoments.of(Rows(z[:, :2], z[:, 2], keys=keys), BOX).within() for z in (Z, moved)
    )
    assert np.abs((one - two).astype(float)).max() <= 9


@pytest.mark.parametrize("n", [(1 << 22) - 1, 1 << 22, (1 << 22) + 3, 1 << 40])
def test_large_groups_are_exact(n):
    check_large(n)


def test_no_rows_give_zeros():
    none = GroupedMoments.of(Rows(np.zeros((0, 2)), np.zeros(0), keys=np.zeros(0)), BOX)
    assert not none.within().any() and none.degrees == 0
