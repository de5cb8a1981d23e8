"""The joint query: sensitivity on all kinds of rows, and exact sums."""

import math
from dataclasses import replace

import numpy as np
import pytest

from dpstats.describe import cumulative
from dpstats.describe.column_parts import FactorPart, NumberPart
from dpstats.describe.limits import Limits
from dpstats.rows.privacy_unit import ONE
from tests.checks.descriptions import CODES, NUMBER, VALUES, check_rows, values_of
from tests.checks.descriptions import joint as whole_joint


def test_tables_of_two_rows_differ_by_what_the_rows_add():
    """All tables of at most two rows over a small set: the query is a sum over rows."""
    whole = whole_joint()
    rows = [(x, g, x, 0) for x in VALUES for g in CODES]
    alone = [values_of(whole, [row]) for row in rows]
    for i, first in enumerate(rows):
        for second, value in zip(rows[i:], alone[i:], strict=True):
            np.testing.assert_array_equal(values_of(whole, [first, second]), alone[i] + value)


def test_what_is_released_is_what_it_says():
    whole = whole_joint()
    rows = [(0.5, 0, 1.0, 0), (math.nan, 1, 2.0, 0), (9.0, -1, -5.0, 0)]
    values = values_of(whole, rows).astype(float) * 2.0**-cumulative.BITS
    number, places = whole.split(values)
    assert number[0] == pytest.approx(3)
    x, part = places["x"][0], whole.parts["x"]
    assert isinstance(part, NumberPart)
    t = (np.array([0.5, 3.0]) - 1) / 2
    assert x[0] / part.missing == pytest.approx(1)
    assert x[1] / part.sums == pytest.approx(t.sum(), abs=1e-6)
    assert x[2] / part.squares == pytest.approx((2 * t**2 - 1).sum(), abs=1e-6)
    sums = cumulative.prefix_sums(x[3:], part.weights)
    np.testing.assert_allclose(sums, [0, 0, 0, 1, 1, 1, 1, 1, 2], atol=1e-9)
    factor = whole.parts["g"]
    assert isinstance(factor, FactorPart)
    np.testing.assert_allclose(places["g"][0] / factor.length, [1, 1, 1])


def test_the_squared_lengths_add_up_to_one():
    whole = whole_joint()
    assert 0.9999 < whole.l2 * 2.0**-cumulative.BITS <= 1


LIMITS = {
    "narrow grid": NUMBER,
    "beyond the grid": replace(NUMBER, low=-4.0, high=7.0),
    "within the grid": replace(NUMBER, low=0.3, high=1.9),
    "fine": replace(NUMBER, low=-0.7, high=1.1, first=-70, width=0.01, size=181),
    "far from zero": Limits(1e15, 1e15 + 9, None, True, 10**15, 1.0, 10),
    "farther than doubles tell": Limits(1e17, 1e17 + 64, None, True, 10**17, 1.0, 65),
}


@pytest.mark.parametrize("name", LIMITS)
@pytest.mark.parametrize("bits", [cumulative.BITS, cumulative.BITS_OF_PARTS])
def test_every_value_of_every_bin_moves_the_query_about_as_far_as_stated(name, bits):
    """The values on both sides of all edges, the limits and the farthest ones, as doubles."""
    part = NumberPart.of(LIMITS[name], 0.07, bits)
    limits = part.limits
    edges = limits.points[:1] + (np.arange(limits.size + 1) - 0.5) * limits.width
    at = np.concatenate([edges, limits.points, [limits.low, limits.high, limits.center]])
    values = np.concatenate([np.nextafter(at, end) for end in (-np.inf, np.inf)] + [at])
    values = np.append(values, [-np.inf, np.inf, np.nan, 0.0])
    one = 1.0 if bits == cumulative.BITS else float(ONE)
    total = part.total(values, np.arange(len(values)), len(values), np.full(len(values), one))
    squares = (part.exact(total).astype(float) ** 2).sum(axis=1) / one**2
    assert squares.max() <= part.squared * (1 + 2.0**-40)
    bins = total[:, 3:].argmax(axis=1)
    farthest = [squares[~np.isnan(values) & (bins == k)].max() for k in {*bins.tolist()}]
    assert max(farthest) > 0.99 * part.squared
    assert min(farthest) > (0.8 if name.startswith("farther") else 0.95) * part.squared


def test_a_row_moves_the_query_as_far_as_stated_and_no_further():
    check_rows(groups=1)
    check_rows(groups=2)
