"""Fit a line with hardly any noise, beside least squares on the same rows."""

import statsmodels.formula.api as smf

import dpstats as dp

UNIT = {"x": (0, 1), "y": (0, 1)}


def close_line(n=4000, epsilon=1e5, method="noisy_moments", sd=0.1, **more):
    """A fit with hardly any noise, and OLS on the same rows."""
    data = dp.simulate.line(n, x_sd=0.2, noise_sd=sd, seed=3)
    data = data[data["y"].between(0, 1)]
    with dp.testing.insecure_seed(2):
        result = dp.dp_ols("y ~ x", data, method=method, epsilon=epsilon, bounds=UNIT, **more)
    return result, smf.ols("y ~ x", data).fit()
