"""Check absorbed effects against least squares with dummies."""

import numpy as np
import pandas as pd
import statsmodels.formula.api as smf

import dpstats as dp

UNIT = {"x": (0, 1), "y": (-0.5, 1.5)}
# The largest epsilon there is: noise on sums of n squares has a standard deviation of 10^-4.
EXACT = 1e9


def panel(n, groups, seed, slope=0.5, noise=0.146):
    """Rows of a line with an effect for each group, which x is correlated with."""
    rng = np.random.default_rng(seed)
    g, effects = rng.integers(groups, size=n), rng.normal(0, 0.1, groups)
    x = np.clip(rng.uniform(0, 1, n) + effects[g], 0, 1)
    y = 0.05 + slope * x + effects[g] + rng.normal(0, noise, n)
    return pd.DataFrame({"x": x, "y": np.clip(y, -0.5, 1.5), "g": g})


def fitted(data, formula="y ~ x | g", epsilon=EXACT, bounds=UNIT, seed=1, **more):
    """The fit from sums of products, unless another method is named."""
    more.setdefault("method", "adassp")
    with dp.testing.insecure_seed(seed):
        return dp.dp_ols(formula, data, epsilon=epsilon, bounds=bounds, **more)


def check_least_squares():
    """Coefficients and standard errors of statsmodels' dummies, with few rows a group."""
    data = panel(400, 90, 2)
    ols = smf.ols("y ~ x + C(g)", data).fit()
    found = fitted(data)
    np.testing.assert_allclose(found.params["x"], ols.params["x"], atol=1e-5)
    np.testing.assert_allclose(found.bse["x"], ols.bse["x"], rtol=1e-3)


def check_batches():
    """Files in parts, in another order, give the release of the table in memory, to the bit."""
    import tempfile

    data = panel(3000, 400, 7).assign(g=lambda rows: rows["g"].map("s{}".format))
    whole = fitted(data, epsilon=5, types={"g": "string"} if data["g"].dtype == object else None)
    with tempfile.TemporaryDirectory() as folder:
        for i, part in enumerate(np.array_split(np.random.default_rng(1).permutation(3000), 5)):
            data.iloc[part].to_parquet(f"{folder}/{i}.parquet")
            data.iloc[part].to_csv(f"{folder}/{i}.csv", index=False)
        for ending in ("parquet", "csv"):
            found = fitted(f"{folder}/*.{ending}", epsilon=5)
            assert found.params["x"] == whole.params["x"] and found.bse["x"] == whole.bse["x"]
