"""Weighted fits estimate the population's line; rows scaled before they are clipped do not.

All seeds are fixed. A coverage is refused when its Clopper-Pearson interval of level 99.9% lies
below 95%, which a correct one does once in 2,000 choices of a seed.
"""

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from scipy.stats import binomtest

import dpstats as dp
from benchmarks import weights

# population()[1], from ten million rows: its standard error is 0.0001.
SLOPE = 0.3679


def test_a_weighted_fit_is_not_biased_where_rows_scaled_before_clipping_are():
    """At an epsilon whose noise is small beside the difference, 0.13."""
    ours, _ = weights.trials(weights.weighted, SLOPE, 5000, 40, epsilon=100.0)
    plain, _ = weights.trials(weights.unweighted, SLOPE, 5000, 40, epsilon=100.0)
    theirs, _ = weights.trials(weights.scaled_before_clipping, SLOPE, 5000, 40, epsilon=100.0)
    assert abs(ours.mean()) < 4 * ours.std() / np.sqrt(40) < 0.02
    assert theirs.mean() > 0.1 and plain.mean() < -0.05


@pytest.mark.parametrize("epsilon", [1.0, 16.0])
@pytest.mark.parametrize("name", ["weights, HC1", "the default"])
def test_robust_intervals_for_the_population_cover(name, epsilon):
    """Weights that say something of the slope, and errors of different variances."""
    fit = weights.FITS[name]
    _, covered = weights.trials(fit, SLOPE, 5000, 200, seed=5, epsilon=epsilon)
    shown = covered[~np.isnan(covered)]
    assert len(shown) > 150
    assert binomtest(int(shown.sum()), len(shown)).proportion_ci(0.999).high > 0.95


def test_the_default_needs_no_bounds_and_has_less_noise_than_sums():
    """At epsilon 1 its error is below a half of that of sums in good bounds."""
    ours, _ = weights.trials(weights.default, SLOPE, 5000, 40, epsilon=1.0)
    sums, _ = weights.trials(weights.FITS["weights, HC1"], SLOPE, 5000, 40, epsilon=1.0)
    assert np.sqrt(np.mean(ours**2)) < 0.5 * np.sqrt(np.mean(sums**2))


@pytest.mark.parametrize("formula", ["y ~ x + z", "y ~ x * C(g)", "y ~ x + I(x ** 2) - 1"])
def test_the_default_tends_to_weighted_least_squares(formula):
    """Coefficients, HC1 errors and R-squared, as epsilon grows."""
    rng = np.random.default_rng(9)
    data = pd.DataFrame({"x": rng.normal(1, 1, 4000), "z": rng.gamma(2, 1, 4000)})
    data["g"] = pd.Categorical(rng.choice(list("abc"), 4000))
    data["w"] = np.minimum(rng.lognormal(0, 0.8, 4000), 8)
    data["y"] = 1 + data["x"] + 0.3 * data["z"] + rng.normal(size=4000) * (1 + data["x"].abs())
    with dp.testing.insecure_seed(1):
        result = dp.dp_ols(formula, data, epsilon=1e5, weights="w", bounds={"w": (0, 8)})
    target = smf.wls(formula, data, weights=data["w"]).fit(cov_type="HC1")
    assert result.method == "noisy_newton" and result.cov_type == "HC1"
    assert (np.abs(result.params - target.params) < 0.05 * target.bse).all()
    np.testing.assert_allclose(result.bse, target.bse, rtol=0.03)
    if "- 1" not in formula:
        assert result.rsquared == pytest.approx(target.rsquared, abs=0.01)
    assert np.isnan(result.scale) and "largest weight" in result.reasons["scale"]


@pytest.mark.parametrize("by", ["weights", "unit"])
def test_r_squared_of_rows_in_parts_covers_where_a_tail_is_hidden(by):
    """Of the fits that show it .8 hold it, but once in 400 times at 95%; .2 and .55 did before."""
    held = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        data = pd.DataFrame({"x": rng.normal(size=5000), "w": rng.lognormal(-0.5, 1, 5000)})
        data["w"], data["id"] = data["w"].clip(upper=10), rng.integers(0, 1250, 5000)
        data["y"] = 0.7 * data["x"] + rng.standard_t(3, size=5000)
        parts, call = data["w"], {"weights": "w", "bounds": {"w": (0, 10)}}
        if by == "unit":
            parts, call = 1 / data.groupby("id")["id"].transform("size"), {"unit": "id"}
            data["y"] = np.exp(0.3 * data["x"] + 0.9 * rng.normal(size=5000))
        with dp.testing.insecure_seed(seed):
            figures = dp.dp_ols("y ~ x", data, epsilon=4, **call).fit_statistics
        value, error = figures.loc["rsquared"]
        if np.isfinite(error):
            theirs = smf.wls("y ~ x", data, weights=parts).fit().rsquared
            held.append(abs(value - theirs) < 1.96 * error)
    assert len(held) >= 14 and np.mean(held) >= 0.8


def test_trimming_trades_bias_for_noise():
    """At epsilon 1 the error of trimmed weights is far smaller than that of the others."""
    trimmed, _ = weights.trials(
        weights.FITS["weights, trimmed at 4, HC1"], SLOPE, 5000, 60, epsilon=1.0
    )
    whole, _ = weights.trials(weights.FITS["weights, HC1"], SLOPE, 5000, 60, epsilon=1.0)
    assert np.sqrt(np.mean(trimmed**2)) < 0.6 * np.sqrt(np.mean(whole**2))
