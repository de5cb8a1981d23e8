"""Rows that are taken in pairs."""

from dataclasses import replace

import numpy as np
import pytest

from dpstats.estimators.newton.row_sums import pair_rows
from dpstats.estimators.newton.row_sums.indicator_basis import IndicatorBasis
from dpstats.estimators.newton.row_sums.pair_rows import PairRows, in_batches
from dpstats.numerics import Rows

BASIS = IndicatorBasis((), np.zeros(2), np.diag([2.0, 0.5]), np.diag([2.0, 0.5]), False)


def rows_of(keys, units=None, parts=None) -> Rows:
    n, generator = len(keys), np.random.default_rng(0)
    keys, units = (np.array(keys if of is None else of, dtype=int) for of in (keys, units))
    return Rows(generator.normal(size=(n, 2)), np.arange(float(n)), np.empty((n, 0)), parts,
                units=units, keys=keys)  # fmt: skip


def paired(*given) -> PairRows:
    return in_batches(rows_of(*given)).batches[0]  # pyright: ignore[reportReturnType]


def test_groups_begin_where_keys_change():
    starts, totals, parts, unit = paired([3, 3, 7, 9, 9]).groups
    assert starts.tolist() == [0, 2, 3, 5] and totals.tolist() == [2, 1, 2]
    assert parts.tolist() == [1.0] * 5 and unit == 1
    assert paired([]).groups[0].tolist() == [0]


def test_rows_count_for_whole_parts_of_one():
    _, totals, parts, unit = paired([1, 1, 2], None, np.array([0.5, 0.3, 1.0])).groups
    assert unit == 2**20 and (parts * unit == np.round(parts * unit)).all()
    assert totals.tolist() == [2**19 + int(0.3 * 2**20), 2**20]


@pytest.mark.parametrize("most", [1, 2, 3, 7, 100])
def test_batches_have_whole_groups(monkeypatch, most):
    monkeypatch.setattr(pair_rows, "_ROWS", most)
    units = [0, 0, 0, 1, 2, 2, 4, 4, 4, 4]
    rows = rows_of([0, 1, 1, 2, 3, 4, 5, 5, 6, 7], units)
    batches = in_batches(rows).batches
    assert np.concatenate([b.response for b in batches]).tolist() == list(range(10))
    of_batches = [set(b.units.tolist()) for b in batches if b.units is not None]
    assert sum(map(len, of_batches)) == len(set(units)) and all(of_batches)
    assert all(len(b) < most + 4 for b in batches)


def test_rows_along_a_map_are_those_of_the_map_that_is_asked_for():
    rows, unlike = paired([0, 0, 1]), np.array([[1.0, 2.0], [0.0, 1.0]])
    other = replace(rows, numbers=rows.numbers + 1)
    for map_ in (np.eye(2), unlike, unlike, 2 * unlike, np.eye(2)):
        for some in (rows, other):
            expected = some.numbers / [2.0, 0.5] @ map_
            np.testing.assert_allclose(some.along(BASIS.row_map(map_)).T, expected, atol=1e-12)
