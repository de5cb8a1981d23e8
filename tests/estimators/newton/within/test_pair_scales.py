"""The scale of differences of rows."""

import numpy as np
import pytest

from dpstats.estimators.contract import Problem
from dpstats.estimators.newton.within.pair_queries import PairQueries
from dpstats.estimators.newton.within.pair_scales import with_mean_square, with_scales
from dpstats.noise import Noise
from dpstats.numerics import Block, Layout
from dpstats.privacy import ADD_REMOVE, GDP
from tests.checks.pairs_within import queries_of

NUMBERS = Layout((), np.arange(2), None)


def scaled_by(X: np.ndarray, y: np.ndarray, layout: Layout = NUMBERS) -> PairQueries:
    """The queries of rows, their columns without bounds, after scales are released."""
    queries = queries_of(X, y, ADD_REMOVE, Noise(GDP(5.0)))
    low, high = np.full(2, -(2.0**60)), np.full(2, 2.0**60)
    problem = Problem(
        low, high, low[0], high[0], None, ADD_REMOVE, None, False, np.empty((0, 2)),
        layout,
    )  # fmt: skip
    own = queries.basis, queries.total, problem, queries.noise, queries.loss
    (scaled,) = with_scales(PairQueries(*own), GDP(3.0))
    return scaled


def test_scales_are_root_mean_squares_of_differences():
    """Rows of one group with standard deviations of 3 and 0.01, the response's 20; fixed seeds."""
    generator = np.random.default_rng(1)
    X = np.column_stack([generator.normal(size=(2000, 2)) * [3, 0.01], np.zeros((2000, 2))])
    scaled = scaled_by(X, generator.normal(size=2000) * 20)
    np.testing.assert_allclose(np.diag(scaled.basis.root) / 2**0.5, [3, 0.01], rtol=0.15)
    assert (scaled.basis.root == scaled.reference.root).all()
    measured = with_mean_square(scaled, 1000.0, GDP(3.0)).reference
    assert measured.y_scale / 2**0.5 == pytest.approx(20, rel=0.05)
    assert measured.y_center == 0


def test_levels_of_a_factor_whose_columns_are_numbers_keep_their_coefficients():
    """Differences of rows times the map are those of the indicators, also of the level left out."""
    generator = np.random.default_rng(1)
    codes = generator.integers(0, 3, 500)
    coding = np.eye(3)[:, 1:]
    X = np.column_stack([coding[codes], np.zeros((500, 2))])
    block = Layout((Block(np.array([0, 1]), coding),), np.zeros(0, int), None)
    basis = scaled_by(X, generator.normal(size=500), block).basis
    phi = np.linalg.solve(basis.to_design.T, X[:, :2].T).T
    found, wanted = phi @ basis.levels.T, np.eye(3)[codes]
    np.testing.assert_allclose(found - found[0], wanted - wanted[0], atol=1e-9)


def test_a_column_of_few_ones_is_cut_in_a_longer_unit_than_its_root_mean_square():
    """Else X'X would be short of most of the column: it has 60 ones in 6,000 rows; fixed seeds."""
    generator = np.random.default_rng(1)
    few, ones = np.arange(6000) % 100 == 0, np.zeros((6000, 2))
    X = np.column_stack([few, generator.normal(size=6000), ones])
    scaled = scaled_by(X, generator.normal(size=6000))
    assert np.diag(scaled.reference.root)[0] == pytest.approx(0.02**0.5, rel=0.2)
    assert 0.3 < np.diag(scaled.basis.root)[0] < 0.5
