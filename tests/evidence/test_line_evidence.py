"""Evidence from the sums of a line: its coordinates, its mean and its replicates."""

import math

import numpy as np
import pytest

from dpstats.evidence import LineEvidence
from dpstats.inference import Estimate
from dpstats.inference.wald import Wald

RNG = np.random.default_rng(2)
U = RNG.uniform(-0.5, 0.5, 40)
V = np.clip(0.1 + 0.3 * U + 0.02 * RNG.normal(size=40), -0.5, 0.5)
TOTALS = [40.0, U.sum(), V.sum(), (U * U).sum(), (U * V).sum(), (V * V).sum()]
# x in [10, 30] is the second column, y in [-1, 3]
LINE = [1.0, 20.0, 20.0, 1.0, 4.0]


def known(scale=1e-9, line=LINE, **more) -> LineEvidence:
    return LineEvidence(
        **{"totals": TOTALS, "sigma2": 0.0064, "scales": [scale, scale], "line": line, **more}
    )


@pytest.mark.parametrize("column", [0, 1])
def test_squared_scores_are_read_in_its_own_coordinates(column):
    """They are of (1, 2 u) and of twice the residuals; the constant may be the second column."""
    errors = RNG.normal(size=40)
    own = np.column_stack([np.ones(40), U])
    scores = np.column_stack([np.ones(40), 2 * U]) * (2 * errors)[:, None]
    products = (scores.T @ scores) / 8.0
    products = products[::-1, ::-1] if column == 0 else products
    released = known(line=[column, *LINE[1:]]).with_squares(products, np.sqrt(8.0), np.array(0.25))
    meat = released.meat
    np.testing.assert_allclose(meat.products, (own * errors[:, None]).T @ (own * errors[:, None]))
    assert meat.deviation == pytest.approx(0.5) and meat.unit.tolist() == [1.0, 0.5]


@pytest.mark.parametrize("column", [0, 1])
def test_replicates_are_in_the_users_units(column):
    sums = known(line=[column, *LINE[1:]]).sums()
    slope, intercept = np.polyfit(20 + 20 * U, 1 + 4 * V, 1)
    expected = [slope, intercept] if column == 0 else [intercept, slope]
    np.testing.assert_allclose(sums.transform @ sums.theta + sums.shift, expected, rtol=1e-6)
    fits = sums.replicates(sums.theta, 50, sampling=False)
    np.testing.assert_allclose(fits, np.tile(expected, (50, 1)), rtol=1e-4)


def test_a_line_that_failed_or_has_no_intervals_has_no_replicates():
    assert known(sigma2=None).sums() is None
    assert known(scales=None, line=None).sums() is None


def test_the_mean_has_the_error_of_the_noise_on_its_sum():
    mean = known(2.0).mean()
    assert mean.value == pytest.approx((1 + 4 * V).mean())
    assert mean.error == pytest.approx(math.sqrt(2) * 2.0 * 4 / 40)
    assert known(totals=[-1.0, *TOTALS[1:]]).mean() is None
    assert known(scales=None, line=None).mean() is None


def test_figures_have_no_errors_in_estimated_ranges():
    fitted = known().goodness(2, np.array([1.0, 0.0]), Estimate())
    clipped = known(scales=None, line=None).goodness(2, np.array([1.0, 0.0]), Estimate())
    assert clipped.rsquared.value == pytest.approx(fitted.rsquared.value, rel=1e-6)
    assert np.isfinite(fitted.rsquared.error) and math.isnan(clipped.rsquared.error)


def test_a_stack_has_a_pivot_and_no_line_without_rows():
    stack = LineEvidence(
        totals=[TOTALS, [-3.0, *TOTALS[1:]]], sigma2=[0.0064, np.nan], scales=[[0.01, 0.01]] * 2,
        line=[LINE] * 2,
    )  # fmt: skip
    params, cov = np.zeros((2, 2)), np.full((2, 2, 2), np.nan)
    ends = stack.uncertainty(params, cov).intervals(np.eye(2), 0.05)
    assert np.isfinite(ends[0]).all() and np.isnan(ends[1]).all()
    assert np.array_equal(stack.totals[1, 1:], TOTALS[1:])
    without = LineEvidence(totals=[TOTALS], sigma2=[0.0064])
    assert isinstance(without.uncertainty(params[:1], cov[:1]), Wald)
