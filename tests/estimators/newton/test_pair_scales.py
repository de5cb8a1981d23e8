"""The scale of differences of rows."""

import numpy as np
import pytest

from dpstats.estimators.contract import Problem
from dpstats.estimators.newton.pair_queries import PairQueries
from dpstats.estimators.newton.pair_scales import with_mean_square, with_scales
from dpstats.noise import Noise
from dpstats.numerics import Layout
from dpstats.privacy import ADD_REMOVE, GDP
from tests.checks.pairs_within import queries_of


def test_scales_are_root_mean_squares_of_differences():
    """Rows of one group with standard deviations of 3 and 0.01, the response's 20; fixed seeds."""
    generator = np.random.default_rng(1)
    X = np.column_stack([generator.normal(size=(2000, 2)) * [3, 0.01], np.zeros((2000, 2))])
    queries = queries_of(X, generator.normal(size=2000) * 20, ADD_REMOVE, Noise(GDP(5.0)))
    low, high = np.full(2, -(2.0**60)), np.full(2, 2.0**60)
    problem = Problem(
        low, high, low[0], high[0], None, ADD_REMOVE, None, False, np.empty((0, 2)),
        Layout((), np.arange(2), None),
    )  # fmt: skip
    (scaled,) = with_scales(PairQueries(queries.basis, queries.total, problem, queries.noise,
                                           queries.loss), GDP(3.0))  # fmt: skip
    np.testing.assert_allclose(np.diag(scaled.basis.root) / 2**0.5, [3, 0.01], rtol=0.15)
    measured = with_mean_square(scaled, 1000.0, GDP(3.0)).reference
    assert measured.y_scale / 2**0.5 == pytest.approx(20, rel=0.05)
    assert measured.y_center == 0
