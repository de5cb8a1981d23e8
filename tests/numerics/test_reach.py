"""Rows far out are pulled in: their predictions move toward the center in proportion."""

import numpy as np
import pytest

from dpstats.numerics.reach import within_reach

REACH = {"directions": [[0.0, 0], [2, 0], [0, 1]], "reach": 4.0, "center": 10.0}


def test_rows_within_the_reach_stay_as_they_are():
    rows = np.array([[1.0, 0.5, 1.0], [1.0, 0.0, -2.0]])
    near, shift = within_reach(rows, np.ones(2, dtype=bool), REACH)
    np.testing.assert_array_equal(near, rows)
    np.testing.assert_array_equal(shift, 0)


@pytest.mark.parametrize("far", [1.5, 100.0, 1e300])
def test_a_row_beyond_it_has_its_length_and_a_part_of_the_center(far):
    row = np.array([[1.0, far, 0.0]])
    near, shift = within_reach(row, np.ones(1, dtype=bool), REACH)
    part = min(1.0, 1 / far)
    np.testing.assert_allclose(near, row * part, atol=1e-12 * far)
    np.testing.assert_allclose(shift, 10 * (1 - part))


def test_a_row_inside_the_ranges_stays_however_long_it_is():
    row = np.array([[1.0, 100.0, 0.0]])
    near, shift = within_reach(row, np.zeros(1, dtype=bool), REACH)
    np.testing.assert_array_equal(near, row)
    assert shift == 0


def test_a_fit_without_a_reach_changes_no_row():
    rows = np.array([[1.0, 1e9, 0.0]])
    assert within_reach(rows, np.ones(1, dtype=bool), {})[0] is rows
