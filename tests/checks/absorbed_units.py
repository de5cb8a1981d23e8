"""Check person effects against least squares with dummies and clustered errors."""

import numpy as np
import pandas as pd
import statsmodels.api as sm
from scipy.signal import lfilter

import dpstats as dp

BOUNDS = {"y": (-6, 6), "x": (-1, 1), "z": (-1, 1)}
SLOPES = {"x": 0.4, "z": -0.2}


def panel(persons=4000, seed=1, icc=0.9, rho=0.7, most=8):
    """Persons of 1 to ``most`` rows, whose effects x is correlated with; errors are AR(1)."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(1, most + 1, persons)
    person, t = np.repeat(np.arange(persons), rows), np.concatenate([*map(np.arange, rows)])
    effect = rng.normal(size=persons)[person]
    shocks = np.sqrt(1 - rho**2) * rng.normal(size=(persons, most + 50))
    errors = lfilter([1], [1, -rho], shocks, axis=1)[person, t + 50]
    x = np.clip(rng.uniform(-0.6, 0.6, len(person)) + 0.2 * effect, -1, 1)
    z = rng.uniform(-1, 1, len(person))
    y = SLOPES["x"] * x + SLOPES["z"] * z + np.sqrt(icc) * effect + np.sqrt(1 - icc) * errors
    frame = pd.DataFrame({"id": person * 7, "t": t, "x": x, "z": z, "y": np.clip(y, -6, 6)})
    return frame.sample(frac=1, random_state=seed, ignore_index=True)


def fit(data, formula="y ~ x + z | id", epsilon=1e9, seed=1, **more):
    call = {"epsilon": epsilon, "bounds": BOUNDS, "unit": "id", "method": "adassp"} | more
    with dp.testing.insecure_seed(seed):
        return dp.dp_ols(formula, data, **call)


def within(data, max_rows=1, factor=False):
    """Weighted least squares on demeaned columns, clustered, times G / (G - S)."""
    columns = data[["x", "z"]]
    if factor:
        dummies = pd.get_dummies(data["t"], prefix="t", dtype=float).drop(columns="t_0")
        columns = pd.concat([dummies, columns], axis=1)
    rows = data.groupby("id")["y"].transform("size")
    centred = pd.concat([data["y"], columns], axis=1)
    centred = centred - centred.groupby(data["id"]).transform("mean")
    wls = sm.WLS(centred["y"], centred.drop(columns="y"), weights=1 / np.maximum(rows, max_rows))
    plain = wls.fit(
        cov_type="cluster", cov_kwds={"groups": data["id"], "use_correction": False}, use_t=False
    )
    groups = data["id"].nunique()
    return plain.params, plain.bse * np.sqrt(groups / (groups - len(plain.params)))


def check_least_squares(
    seed=1, icc=0.9, method="adassp", neighbors="add_remove", max_rows=1, bounds=BOUNDS,
    most=(1e-4, 5e-3),
):  # fmt: skip
    """Coefficients are off by ``most[0]`` at most, standard errors by a part ``most[1]``."""
    data = panel(4000, seed, icc)
    params, errors = within(data, max_rows)
    found = fit(data, method=method, neighbors=neighbors, max_rows=max_rows, bounds=bounds)
    np.testing.assert_allclose(found.params, params, atol=most[0])
    np.testing.assert_allclose(found.bse, errors, rtol=most[1])
    assert found.cov_type == "cluster"


def check_order(method="adassp"):
    data = panel(300)
    one = fit(data, epsilon=60, method=method)
    assert one.bse.notna().all()
    for seed in range(3):
        other = fit(data.sample(frac=1, random_state=seed), epsilon=60, method=method)
        assert other.to_json() == one.to_json()
