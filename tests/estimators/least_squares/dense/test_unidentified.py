"""Where no slope is identified what is released predicts no worse than a mean. Seeds are fixed."""

import numpy as np
import pandas as pd
import pytest

import dpstats as dp
from dpstats.estimators.least_squares.dense.unidentified import MEAN, RIDGED, SHRUNKEN, ZEROS

ZEROED = ["adassp", "ssp"]
LEVELS = {"g": list("abcd")}


def table(n=200, d=5, seed=0):
    """A response that five regressors explain well, and a factor that does not matter."""
    draw = np.random.default_rng(seed)
    X = np.clip(draw.normal(0, 1, (n, d)), -3, 3)
    y = np.clip(2 + X @ np.linspace(0.5, 0.1, d) + draw.normal(0, 1, n), -3, 7)
    columns = {f"x{j}": X[:, j] for j in range(d)}
    return pd.DataFrame({**columns, "g": draw.choice(list("abcd"), n), "y": y})


BOUNDS = {f"x{j}": (-3, 3) for j in range(5)} | {"y": (-3, 7)}
FORMULA = "y ~ x0 + x1 + x2 + x3 + x4"


def fitted(method, data, formula=FORMULA, seed=1, epsilon=0.1, **more):
    call = {"method": method, "epsilon": epsilon, "bounds": BOUNDS, "levels": None} | more
    with dp.testing.insecure_seed(seed):
        return dp.dp_ols(formula, data, **call)


@pytest.mark.parametrize("method", ZEROED)
@pytest.mark.parametrize("formula", [FORMULA, FORMULA + " + C(g)"])
def test_the_mean_and_zeros_are_released_and_the_summary_says_so(method, formula):
    levels = LEVELS if "C(g)" in formula else None
    fit = fitted(method, table(), formula, levels=levels)
    assert fit.status == "not_identified" and -3 <= fit.params["Intercept"] <= 7
    assert (fit.params.drop("Intercept") == 0).all()
    assert np.isinf(fit.conf_int().to_numpy()).all() and fit.bse.isna().all()
    assert fit.reasons["bse"] == fit.reasons["conf_int"] == MEAN
    squeezed = " ".join(str(fit.summary()).split())
    assert squeezed.count("so the mean of the response is released and slopes of zero") == 1
    assert np.isinf(fit.error_bound()).all()
    assert dp.DPResults.from_json(fit.to_json()) == fit


def test_through_the_origin_where_there_is_no_mean_a_ridge_keeps_its_slopes():
    """Their predictions are nearer than those of zeros, of 20 draws, and none has an interval."""
    data, errors = table(2000), []
    X = data.filter(like="x").to_numpy()
    for seed in range(20):
        fit = fitted("adassp", data, "y ~ 0 + x0 + x1 + x2 + x3 + x4", seed, 0.1)
        assert fit.status == "not_identified" and fit.reasons["bse"] == RIDGED
        assert fit.params.ne(0).all() and np.isinf(fit.conf_int().to_numpy()).all()
        errors.append(np.mean((data["y"] - X @ fit.params) ** 2))
    assert np.mean(errors) < np.mean(data["y"] ** 2)
    fit = fitted("ssp", data, "y ~ 0 + x0 + x1 + x2 + x3 + x4")
    assert (fit.params == 0).all() and fit.reasons["bse"] == ZEROS


@pytest.mark.parametrize("method", [*ZEROED, "shrunken"])
def test_no_prediction_is_worse_than_that_of_the_released_mean(method):
    """Root mean squared errors of predictions, of 60 draws of the noise.

    AdaSSP's ridge had up to 1.2 times the mean's error here.
    """
    data, ratios = table(), []
    X = np.c_[np.ones(200), data.filter(like="x").to_numpy()]
    for seed in range(60):
        fit = fitted(method, data, seed=seed, epsilon=0.3)
        if fit.status != "not_identified":
            continue
        mean = fit.release.evidence.response_mean
        error = np.sqrt(np.mean((data["y"] - X @ fit.params) ** 2))
        ratios.append(error / np.sqrt(np.mean((data["y"] - mean) ** 2)))
    if method == "shrunken":
        assert all(ratio < 1.1 for ratio in ratios)
    else:
        assert len(ratios) > 40 and max(ratios) < 1.1


@pytest.mark.parametrize("method", [*ZEROED, "shrunken"])
def test_slopes_that_predict_together_are_shrunken_and_not_named_identified(method):
    """Two regressors that are nearly one: neither is identified, and predictions are good."""
    draw = np.random.default_rng(3)
    x = draw.uniform(0, 1, 20_000)
    z = np.clip(x + draw.normal(0, 0.003, len(x)), 0, 1)
    data = pd.DataFrame({"x": x, "z": z, "y": np.clip(0.8 * x + draw.normal(0, 0.1, len(x)), 0, 1)})
    fit = fitted(method, data, "y ~ x + z", bounds=dict.fromkeys("xzy", (0, 1)), epsilon=1)
    assert fit.status == "not_identified" and fit.params[["x", "z"]].gt(0).all()
    assert fit.params[["x", "z"]].sum() == pytest.approx(0.8, abs=0.15)
    if method != "shrunken":
        assert fit.reasons["bse"] == SHRUNKEN


@pytest.mark.parametrize("more", [{}, {"cov_type": "HC1"}], ids=str)
def test_a_line_whose_slope_may_be_anything_is_the_mean(more):
    """So it is in every group, and the released sums stay what inference is from."""
    draw = np.random.default_rng(5)
    x = np.clip(draw.normal(0.5, 0.02, 4000), 0, 1)
    data = pd.DataFrame({"x": x, "y": np.clip(draw.normal(0.7, 0.05, 4000), 0, 1)})
    data["g"] = np.arange(4000) % 20
    call = {"method": "noisy_moments", "epsilon": 2, "bounds": {"x": (0, 1), "y": (0, 1)}, **more}
    with dp.testing.insecure_seed(2):
        by = dp.dp_ols("y ~ x", data, by="g", **call)
        fits = [dp.dp_ols("y ~ x", data[data["g"] == g], **call) for g in range(20)]
    hidden = (by.status == "not_identified").to_numpy()
    shown = by.params[hidden]
    assert 5 < hidden.sum() and (shown["x"] == 0).all()
    assert (shown["Intercept"] - 0.7).abs().max() < 0.1
    assert by.predictions[hidden]["p25"].equals(shown["Intercept"].rename("p25"))
    bounds = by.error_bound().pivot(index="g", columns="term", values="error_bound")
    assert MEAN in by.reasons and np.isinf(bounds[hidden]).all(axis=None)
    open_ended = [fit for fit in fits if fit.status == "not_identified"]
    assert len(open_ended) > 3 and all(fit.params["x"] == 0 for fit in open_ended)
    assert all(fit.reasons["bse"] == MEAN for fit in open_ended)


def test_absorbed_effects_leave_zeros():
    data = table(60)
    for method in ZEROED:
        fit = fitted(method, data, "y ~ x0 + x1 | g", epsilon=0.3)
        assert fit.status == "not_identified" and (fit.params == 0).all()
        assert "so all are 0" in str(fit.summary()) and fit.predictions.isna().all()
