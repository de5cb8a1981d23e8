"""Rows by the names of their roles: parts of them, and the units that they belong to."""

import numpy as np
import pytest

from dpstats.numerics import Rows

ROWS = Rows(
    np.arange(10.0).reshape(5, 2), np.arange(5.0), np.array([[0.0], [1], [0], [2], [1]]),
    parts=np.array([0.5, 0.5, 1, 0.25, 0.25]), units=np.array([0, 0, 3, 4, 4]),
    keys=np.array([7.0, 8, 7, 9, 9]),
)  # fmt: skip
ROLES = ("numbers", "response", "codes", "parts", "units", "keys")


def check_same(found, expected):
    for role in ROLES:
        np.testing.assert_array_equal(getattr(found, role), getattr(expected, role))


@pytest.mark.parametrize("chosen", [slice(1, 3), np.array([4, 0]), ROWS.response > 2])
def test_chosen_rows_keep_all_their_roles(chosen):
    found = ROWS[chosen]
    for role in ROLES:
        np.testing.assert_array_equal(getattr(found, role), getattr(ROWS, role)[chosen])
    plain = Rows(ROWS.numbers, ROWS.response)[chosen]
    assert plain.codes is plain.parts is plain.units is plain.keys is None


@pytest.mark.parametrize("size", [1, 2, 5, 9])
def test_blocks_are_views_that_join_to_the_rows(size):
    blocks = list(ROWS.blocks(size))
    assert [len(block) for block in blocks][:-1] == [size] * (len(blocks) - 1)
    assert all(np.shares_memory(block.numbers, ROWS.numbers) for block in blocks)
    check_same(Rows.joined(blocks), ROWS)
    check_same(ROWS[:2] + ROWS[2:], ROWS)
    assert [len(block) for block in ROWS[:0].blocks(size)] == [0]  # loops are called for none too


@pytest.mark.parametrize("units", [[], [0], [0, 0, 1, 1, 1, 5], [3, 2, 2]])
@pytest.mark.parametrize("dtype", [int, float])
def test_units_beside_one_another_are_counted_once(units, dtype):
    rows = Rows(np.ones((len(units), 1)), np.zeros(len(units)), units=np.array(units, dtype))
    assert rows.count == len(set(units)) and rows.unit_starts.tolist() == [
        i for i, unit in enumerate(units) if unit not in units[:i]
    ]
    assert rows.unit_order.tolist() == [list(dict.fromkeys(units)).index(unit) for unit in units]


def test_without_units_rows_are_counted():
    plain = Rows(ROWS.numbers, ROWS.response)
    assert plain.count == len(plain) == 5 and plain.weights.tolist() == [1] * 5
