"""Deviations of rows from the means of their privacy units."""

import numpy as np

from dpstats.estimators.newton.within import unit_deviations
from dpstats.numerics import Rows


def test_deviations_are_of_whole_units_of_several_rows():
    rows = Rows(
        numbers=np.array([[1.0], [3.0], [7.0], [1e300], [np.inf]]),
        response=np.array([0.0, 1.0, 5.0, -np.inf, np.inf]),
        parts=np.array([0.5, 0.5, 1.0, 0.5, 0.5]),
        units=np.array([0, 0, 1, 2, 2]),
    )
    found = unit_deviations.deviations(rows)
    assert found.numbers[:2, 0].tolist() == [-1.0, 1.0]
    assert found.response[:2].tolist() == [-0.5, 0.5]
    assert found.units.tolist() == [0, 0, 2, 2]
    assert np.isfinite(found.numbers).all() and np.isfinite(found.response).all()
    assert (np.abs(found.response[2:]) > 1e100).all()


def test_the_order_of_the_rows_of_a_unit_changes_no_bit():
    values = np.random.default_rng(1).lognormal(0, 20, size=(1000, 1))
    plain = Rows(values, values[:, 0], parts=np.full(1000, 1e-3), units=np.zeros(1000, int))
    turned = Rows(values[::-1], values[::-1, 0], parts=plain.parts, units=plain.units)
    one, other = (unit_deviations.deviations(rows).numbers for rows in (plain, turned))
    assert (one == other[::-1]).all()


def test_a_response_far_beyond_the_scale_gives_no_warning():
    """Warnings are errors in tests, and one that rows decide on would tell of them."""
    far = Rows(np.zeros((2, 1)), np.array([2.0**500, -(2.0**500)]), parts=np.full(2, 0.5))
    assert unit_deviations._squares(1e-200, far) == 1 << 20
