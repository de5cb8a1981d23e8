"""What the rows of groups count for."""

import numpy as np
import pytest

from dpstats.estimators.newton.within.group_sizes import GroupSizes
from dpstats.numerics import Rows


def rows_of(keys, parts=None):
    none = np.zeros((len(keys), 0))
    return Rows(none, np.zeros(len(keys)), parts=parts, keys=np.array(keys, dtype=np.int64))


def test_without_weights_groups_have_their_numbers_of_rows():
    sizes = GroupSizes.of(rows_of([1, 0, 1, 1, 2]))
    assert sizes.rows == 5 and sizes.squares == (11, 11) and not sizes.weighted
    assert sizes.freedom == 2
    assert sizes.norms(10) == [int(11**0.5 * 1024)]


def test_with_weights_groups_have_their_sums():
    parts = np.array([0.5, 1.0, 0.25, 0.125, 0.0])
    sizes = GroupSizes.of(rows_of([1, 0, 1, 1, 2], parts))
    assert sizes.rows == 5 and sizes.squares[1] == 11 and sizes.weighted
    assert sizes.total / 2**20 == 1.875
    pairs = (0.5 * 0.25 + 0.5 * 0.125 + 0.25 * 0.125) / 0.875
    assert sizes.freedom / 2**20 == pytest.approx(2 * pairs, abs=1e-6)
    assert sizes.norms(10) == [int((1 + 0.875**2) ** 0.5 * 1024), int(11**0.5 * 1024)]


def test_no_rows_are_in_no_groups():
    for parts in (None, np.zeros(0)):
        sizes = GroupSizes.of(rows_of([], parts))
        assert sizes.freedom == 0 and not any(sizes.norms(10))


@pytest.mark.parametrize("parts", [None, np.array([0.5, 1.0, 0.25, 0.125, 0.0])])
def test_sizes_of_groups_add_up(parts):
    keys = np.array([1, 0, 1, 1, 2])
    one, two = (
        rows_of(keys[own], None if parts is None else parts[own]) for own in (keys == 1, keys != 1)
    )
    assert GroupSizes.of(one) + GroupSizes.of(two) == GroupSizes.of(rows_of(keys, parts))


def test_squares_of_the_weights_of_a_large_group_are_exact():
    """Those of more than 2^23 rows do not fit in 63 bits."""
    n = (1 << 23) + 1
    sizes = GroupSizes.of(rows_of(np.zeros(n), np.broadcast_to(1.0, n)))
    assert sizes.freedom == (n - 1) << 20
