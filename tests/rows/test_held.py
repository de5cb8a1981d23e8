"""Tests of held batches: sums are those of the table, read once if it fits, and not at all else."""

import numpy as np
import pytest

from dpstats.engines.parallel_sum import total
from dpstats.numerics import Rows
from dpstats.rows.held import Held

BATCHES = [{"x": np.arange(3.0 * k, 3 * k + 3)} for k in range(40)]
BYTES = 40 * 3 * 8


class Table:
    """Count the passes over some batches."""

    def __init__(self, batches):
        self.batches, self.passes = batches, 0

    def total(self, each):
        self.passes += 1
        return total(each, iter(self.batches))


def listed(batch):
    return batch["x"].tolist()


@pytest.mark.parametrize(("most", "passes"), [(BYTES, 1), (BYTES - 1, 3), (0, 3)])
def test_what_fits_is_read_once_and_sums_are_the_same_in_the_same_order(most, passes):
    table = Table(BATCHES)
    held = Held(table.total, most)
    assert [held.sum(listed) for _ in range(3)] == [list(range(120))] * 3
    assert table.passes == passes


def test_nothing_is_held_of_a_table_that_does_not_fit():
    held = Held(Table(BATCHES).total, BYTES - 1)
    held.sum(listed)
    assert held._batches is None


def test_rows_count_with_all_of_their_roles():
    rows = Rows(np.ones((4, 2)), np.ones(4), codes=np.ones((4, 1)), parts=np.ones(4))
    table = Table([rows])
    size = 8 * (8 + 4 + 4 + 4)
    for most, passes in ((size, 1), (size - 1, 3)):
        held = Held(table.total, most)
        table.passes = 0
        assert [held.sum(len) for _ in range(2 if passes == 1 else 3)][-1] == 4
        assert table.passes == passes
