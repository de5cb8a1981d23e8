"""Codes of design rows, found again from their columns."""

import numpy as np
import pytest

from dpstats.numerics.layout import Block, Layout


@pytest.mark.parametrize(("levels", "columns"), [(2, 1), (51, 50), (40, 3)])
def test_rows_get_back_the_code_that_made_them(levels, columns):
    rng = np.random.default_rng(levels)
    coding = np.unique(rng.integers(-1, 3, (2 * levels, columns)).astype(float), axis=0)
    codes, numbers = rng.integers(len(coding), size=500), rng.normal(size=500)
    layout = Layout((Block(np.arange(columns), coding),), np.array([columns]), None)
    rows = layout.compact(np.column_stack([coding[codes], numbers]))
    np.testing.assert_array_equal(rows, np.column_stack([codes, numbers]))


def test_of_codes_with_equal_columns_the_first_is_taken():
    coding = np.array([[0.0, 1], [2, 1], [0, 1], [2, -1]])
    rows = Layout((Block(np.arange(2), coding),), np.array([], int), None).compact(coding)
    np.testing.assert_array_equal(rows[:, 0], [0, 1, 0, 3])
