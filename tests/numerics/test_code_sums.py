"""Sums by code: exact at sizes where doubles are not, and the same in any batches."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpstats.numerics import CodeSums


def by_hand(codes, columns, size):
    sums = [[0] * columns.shape[1] for _ in range(size)]
    for code, row in zip(codes, columns, strict=True):
        sums[code] = [total + int(value) for total, value in zip(sums[code], row, strict=True)]
    return sums


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(-(2**40), 2**40), st.integers(-(2**40), 2**40)),
        max_size=30,
    ),
    st.integers(0, 30),
)
def test_wide_sums_are_those_of_integers_in_any_batches(rows, cut):
    table = np.array(rows, dtype=np.int64).reshape(-1, 3)
    codes, columns = table[:, 0], table[:, 1:].astype(float)
    sums = CodeSums(4, 2, wide=True)
    sums.add(codes[:cut], columns[:cut])
    sums.add(codes[cut:], columns[cut:])
    assert sums.total().tolist() == by_hand(codes, columns, 4)


@pytest.mark.parametrize("wide", [False, True])
def test_many_rows_add_up(wide):
    """300,000 of the largest: beyond 2^53 where they are wide."""
    largest = 2.0**40 if wide else 2.0**20
    sums = CodeSums(2, 1, wide)
    codes, columns = np.zeros(100_000, dtype=np.int64), np.full((100_000, 1), largest - 1)
    for _ in range(3):
        sums.add(codes, columns)
    assert sums.total().tolist() == [[300_000 * (int(largest) - 1)], [0]]
