"""What Newton's method asks of pairs of rows."""

import numpy as np

from dpstats.estimators.newton.row_sums import pair_sums
from dpstats.estimators.newton.row_sums.indicator_basis import IndicatorBasis
from dpstats.estimators.newton.row_sums.pair_rows import PairRows

BASIS = IndicatorBasis((), np.zeros(2), np.diag([2.0, 0.5]), np.diag([2.0, 0.5]), False)
TO = BASIS.row_map(np.eye(2))


def rows_of(numbers, response, keys=None) -> PairRows:
    keys = np.zeros(len(response)) if keys is None else keys
    return PairRows(numbers, response, np.empty((len(response), 0)), keys=keys)


def some(n=30, seed=0):
    generator = np.random.default_rng(seed)
    keys = np.sort(generator.integers(4, size=n))
    return rows_of(generator.normal(size=(n, 2)), generator.normal(size=n), keys)


def test_products_of_whole_pairs_are_those_of_deviations_in_units_of_the_columns():
    rows = some()
    z = rows.numbers / [2.0, 0.5]
    within = sum(np.cov(z[rows.keys == k].T, ddof=0) * (rows.keys == k).sum() for k in range(4))
    found = pair_sums.products(TO, 1e4, rows).astype(float) * 1e4 * 2.0**-40
    np.testing.assert_allclose(found, within, atol=0.05)


def test_scores_fall_to_zero_at_the_within_estimator():
    rows = some()
    y = rows.numbers / [2.0, 0.5] @ [1.0, -0.5] + 3 * rows.keys
    exact = rows_of(rows.numbers, y, rows.keys)
    found = pair_sums.scores(TO, 2.0, np.array([0.5, -0.25]), 1.0, 1.0, 0.3, exact)
    assert np.abs(found.astype(float)).max() <= 1


def test_a_column_far_from_zero_is_taken_by_its_differences():
    near, base = some(), 2.0**30
    far = rows_of(near.numbers + [base, -base], near.response + base, near.keys)
    there = pair_sums.products(TO, 50.0, far).astype(float)
    np.testing.assert_allclose(there, pair_sums.products(TO, 50.0, near).astype(float), rtol=1e-4)
    edges = 2.0 ** np.arange(-10, 5)
    one, two = (pair_sums.differences(rows.response, edges, rows) for rows in (near, far))
    assert np.abs(one - two).max() <= 2


def test_values_of_any_size_have_finite_sums():
    ends = np.array([1e300, -1e300, np.inf, -np.inf, 0.0, 5e-324])
    rows = rows_of(np.column_stack([ends, ends[::-1]]), ends)
    edges = 2.0 ** np.arange(-40, 52)
    assert pair_sums.differences(ends, edges, rows).sum() in range(
        (15 << 20) // 6 - 100, (15 << 20) // 6 + 1
    )
    sums = pair_sums.scores(TO, 1.0, np.ones(2), 1.0, 1.0, 0.3, rows)
    assert np.abs(sums.astype(float)).max() <= 2.5 * 2**20
    assert pair_sums.squares(1.0, 1.0, rows) <= 2.5 * 2**20
