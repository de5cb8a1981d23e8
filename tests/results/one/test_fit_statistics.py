"""N, R-squared and the residual variance follow from a release, as statsmodels defines them."""

import json
import warnings
from itertools import product

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

import dpstats as dp

BOUNDS = {"x": (-3, 3), "z": (0, 1), "y": (-9, 9)}
NAMES = ("rsquared", "rsquared_adj", "scale", "df_resid")
SUMS = ("adassp", "ssp", "shrunken", "noisy_newton")


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    """20,000 rows with a factor; R-squared is about 0.6."""
    rng = np.random.default_rng(3)
    x, z, g = rng.uniform(-3, 3, 20_000), rng.uniform(size=20_000), rng.integers(0, 3, 20_000)
    y = 1 + 0.7 * x - z + 0.3 * g + rng.normal(size=20_000)
    return pd.DataFrame({"x": x, "z": z, "y": y, "g": pd.Categorical(np.array(list("abc"))[g])})


def fitted(table, formula="y ~ x + z + g", epsilon=1e4, **call):
    """A seeded fit with hardly any noise."""
    bounds = {name: ends for name, ends in BOUNDS.items() if name in formula}
    with dp.testing.insecure_seed(1):
        return dp.dp_ols(formula, table, epsilon=epsilon, bounds=bounds, **call)


@pytest.mark.parametrize(
    ("method", "formula", "cov_type"),
    [
        *product(
            ("adassp", "ssp"),
            ("y ~ x + z + g", "y ~ 0 + x + g", "y ~ 0 + x + z"),
            ("nonrobust", "HC1"),
        ),
        *product(("shrunken",), ("y ~ x + z + g",), ("nonrobust", "HC1")),
        ("shrunken", "y ~ 0 + x + g", "nonrobust"),
    ],
)
def test_they_are_those_of_statsmodels_without_noise(table, method, formula, cov_type):
    """HC1 takes factors as design columns, else they are indicators."""
    ours = fitted(table, formula, method=method, cov_type=cov_type)
    ols = smf.ols(formula, table).fit()
    known = NAMES if "0 + x + z" not in formula else ("rsquared",)
    for name in known:
        assert getattr(ours, name) == pytest.approx(getattr(ols, name), rel=2e-4), name
    if known == NAMES:
        assert round(ours.nobs_noisy) == len(table)


def two_factors(n, seed):
    """Rows of two factors, of which one has eight levels; R-squared is about 0.5."""
    rng = np.random.default_rng(seed)
    x, g, h = rng.uniform(-3, 3, n), rng.integers(0, 8, n), rng.integers(0, 3, n)
    y = 4 + 0.4 * x + np.linspace(-1, 1, 8)[g] + 0.3 * h + rng.normal(size=n)
    factors = {"g": pd.Categorical(list("abcdefgh")), "h": pd.Categorical(list("uvw"))}
    return pd.DataFrame({"x": x, "y": y.clip(-9, 9), "g": factors["g"][g], "h": factors["h"][h]})


@pytest.mark.parametrize(
    "formula, method",
    [("y ~ x + g + h", "adassp"), ("y ~ 0 + g + x", "ssp"), ("y ~ g*h + x", "shrunken")],
)
def test_with_factors_the_errors_are_as_large_as_the_scatter(formula, method):
    """The mean error is within a third of the standard deviation over 100 seeds: 4.7 of its own.

    The response's mean is far from the middle of its range, and nothing is off on average by more
    than four standard errors.
    """
    rows = two_factors(30_000, 3)
    ols = smf.ols(formula, rows).fit()
    known = {"rsquared": ols.rsquared, "scale": ols.scale, "nobs": len(rows)}
    found: dict[str, list] = {name: [] for name in known}
    for seed in range(100):
        with dp.testing.insecure_seed(seed):
            fit = dp.dp_ols(
                formula, rows, method=method, epsilon=2, bounds={"x": (-3, 3), "y": (-9, 9)}
            )
        for name, values in found.items():
            values.append(fit.fit_statistics.loc[name])
    for name, truth in known.items():
        values, errors = np.array(found[name]).T
        assert np.isfinite(values).all(), name
        assert errors.mean() == pytest.approx(values.std(), rel=1 / 3), name
        assert abs(values.mean() - truth) < 0.4 * values.std() + 0.003 * truth, name


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_with_factors_a_public_number_of_rows_is_exact_and_noise_leaves_the_rest_open(neighbors):
    rows = two_factors(300, 1)
    with dp.testing.insecure_seed(1):
        fit = dp.dp_ols(
            "y ~ x + g", rows, method="adassp", epsilon=0.5, neighbors=neighbors,
            bounds={"x": (-3, 3), "y": (-9, 9)},
        )  # fmt: skip
    assert np.isnan(fit.rsquared) and "noise leaves R-squared open" in fit.reasons["rsquared"]
    assert (fit.fit_statistics.loc["nobs", "std_error"] == 0) == (neighbors == "replace_one")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for count in (0, 1, 5):
            with dp.testing.insecure_seed(1):
                few = dp.dp_ols("y ~ x + g", rows[:count], method="adassp", epsilon=1,
                                bounds={"x": (-3, 3), "y": (-9, 9)})  # fmt: skip
            assert few.fit_statistics.shape == (5, 2)


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
@pytest.mark.parametrize("method", ["adassp", "ssp", "shrunken"])
def test_with_weights_they_are_those_of_weighted_least_squares(table, method, neighbors):
    rows = table.assign(w=np.random.default_rng(4).uniform(0.2, 3, len(table)))
    bounds = {**BOUNDS, "w": (0, 3)}
    with dp.testing.insecure_seed(1):
        ours = dp.dp_ols("y ~ x + z", rows, method=method, epsilon=1e4, bounds=bounds, weights="w",
                         neighbors=neighbors)  # fmt: skip
    wls = smf.wls("y ~ x + z", rows, weights=rows["w"]).fit()
    for name in ("rsquared", "rsquared_adj", "df_resid"):
        assert getattr(ours, name) == pytest.approx(getattr(wls, name), rel=2e-4), name
    assert np.isnan(ours.scale) and "largest weight" in ours.reasons["scale"]
    assert "rsquared" not in ours.reasons and "rsquared_adj" not in ours.reasons
    assert (ours.fit_statistics.loc["nobs", "std_error"] == 0) == (neighbors == "replace_one")


def test_noisy_newton_is_near_them_within_its_own_error(table):
    ours, ols = fitted(table, method="noisy_newton"), smf.ols("y ~ x + z + g", table).fit()
    for name in NAMES:
        estimate, error = ours.fit_statistics.loc[name]
        assert abs(estimate - getattr(ols, name)) < 2 * error + 1e-3, name


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_a_line_by_noisy_moments(table, neighbors):
    ours = fitted(table, "y ~ x", method="noisy_moments", neighbors=neighbors)
    ols = smf.ols("y ~ x", table).fit()
    for name in NAMES:
        assert getattr(ours, name) == pytest.approx(getattr(ols, name), rel=1e-3), name
    assert (ours.public_rows is None) == (neighbors == "add_remove")
    assert (ours.fit_statistics.loc["nobs", "std_error"] == 0) == (neighbors == "replace_one")


@pytest.mark.parametrize("method", ["adassp", "noisy_moments", "noisy_newton"])
def test_the_standard_errors_cover_those_of_the_rows(method):
    """80 fits; a method that covers 95% fails with a chance below 1e-5, half the error with .999.

    Each interval of 4 standard deviations is at most 13 times missed out of 80.
    """
    rng, missed = np.random.default_rng(5), {"nobs": 0, "rsquared": 0, "scale": 0}
    for seed in range(80):
        x = rng.uniform(0, 1, 3000)
        y = np.clip(0.2 + 0.5 * x + rng.normal(0, 0.12, 3000), 0, 1)
        rows = pd.DataFrame({"x": x, "y": y})
        with dp.testing.insecure_seed(seed):
            fit = dp.dp_ols(
                "y ~ x", rows, method=method, epsilon=2, neighbors="add_remove",
                bounds={"x": (0, 1), "y": (0, 1)},
            )  # fmt: skip
        ols = smf.ols("y ~ x", rows).fit()
        for name in missed:
            estimate, error = fit.fit_statistics.loc[name]
            missed[name] += abs(estimate - getattr(ols, name)) > 1.96 * error
    assert max(missed.values()) <= 13, missed


def test_the_error_of_adassp_is_as_large_as_its_scatter():
    """The mean error is within 30% of the standard deviation over 120 seeds: 6 deviations."""
    rng = np.random.default_rng(6)
    x = rng.uniform(0, 1, 5000)
    rows = pd.DataFrame({"x": x, "y": np.clip(0.2 + 0.5 * x + rng.normal(0, 0.1, 5000), 0, 1)})
    values = []
    for seed in range(120):
        with dp.testing.insecure_seed(seed):
            fit = dp.dp_ols(
                "y ~ x", rows, method="adassp", epsilon=1, bounds={"x": (0, 1), "y": (0, 1)}
            )
        values.append(fit.fit_statistics.loc["rsquared"])
    values = np.array(values)
    assert values[:, 1].mean() == pytest.approx(values[:, 0].std(), rel=0.3)


def test_in_estimated_ranges_they_are_about_the_variables_as_clipped(table):
    with dp.testing.insecure_seed(2):
        fit = dp.dp_ols("y ~ x + z", table, method="adassp", epsilon=4)
    assert fit.estimated == ("y", "x", "z")
    rsquared, error = fit.fit_statistics.loc["rsquared"]
    assert abs(rsquared - smf.ols("y ~ x + z", table).fit().rsquared) < 4 * error < 0.2
    rows, error = fit.fit_statistics.loc["nobs"]
    assert abs(rows - len(table)) < 4 * error < 0.05 * len(table)


def test_where_rows_are_clipped_as_wholes_there_are_no_errors_and_rows_are_counted_apart(table):
    with dp.testing.insecure_seed(2):
        fit = dp.dp_ols("y ~ x", table, method="noisy_moments", epsilon=4)
    assert fit.estimated == ("y", "x")
    assert np.isnan(fit.fit_statistics.loc[["rsquared", "scale"], "std_error"]).all()
    rows, error = fit.fit_statistics.loc["nobs"]
    assert fit.public_rows is not None or abs(rows - len(table)) < 4 * error < 0.05 * len(table)
    assert "an unknown part of the rows" in fit.reasons["bse"]


def test_a_ridge_leaves_the_number_of_rows_alone():
    rows = dp.simulate.line(300, seed=1)
    with dp.testing.insecure_seed(1):
        fit = dp.dp_ols(
            "y ~ x", rows, method="adassp", epsilon=0.2, bounds={"x": (0, 1), "y": (0, 1)}
        )
    assert fit.release.evidence.ridge > 0 and np.isfinite(fit.nobs_noisy)
    assert np.isnan([fit.rsquared, fit.scale]).all()
    assert "ridge" in fit.reasons["rsquared"] == fit.reasons["scale"]


def people(count: int) -> pd.DataFrame:
    """Rows of persons with three each, a weight, a group and a binary response."""
    rng = np.random.default_rng(8)
    x, row = rng.uniform(size=count), np.arange(count)
    rows = {"x": x, "y": x / 2 + rng.normal(0, 0.1, count), "w": rng.uniform(0.5, 2, count)}
    return pd.DataFrame({**rows, "d": x + rng.normal(size=count), "p": row // 3, "g": row % 40})


# Arguments of a fit to people, what is NaN, and a part of the reason of the scale.
WITHOUT_SCALE = {
    "weights": ({"weights": "w", "epsilon": 50}, {"scale"}, "largest weight"),
    "few persons": ({"unit": "p", "max_rows": 3}, {"scale", "rsquared"}, "leaves R-squared open"),
    "noise": ({"epsilon": 0.02}, {"scale", "rsquared"}, "leaves R-squared open"),
    "persons": ({"unit": "p", "method": "adassp"}, {"scale", "rsquared"}, "whose rows share"),
    "uncounted": ({"formula": "y ~ x - 1", "method": "adassp"}, {"scale"}, "variance is divided"),
    "absorbed": ({"formula": "y ~ x | g"}, {"scale", "rsquared"}, "degrees of freedom they lower"),
    "no sums": ({"method": "exp_theil_sen"}, {"scale", "rsquared"}, "holds neither"),
}  # fmt: skip


@pytest.mark.parametrize("case", WITHOUT_SCALE)
def test_each_figure_that_is_missing_has_its_own_reason_and_the_summary_prints_it(case):
    call, missing, why = WITHOUT_SCALE[case]
    call = {"formula": "y ~ x", "epsilon": 2, **call}
    bounds = {"x": (0, 1), "y": (-1, 2), **({"w": (0.5, 2)} if "weights" in call else {})}
    with dp.testing.insecure_seed(1):
        fit = dp.dp_ols(data=people(3000), bounds=bounds, **call)
    found = fit.fit_statistics.loc[["rsquared", "rsquared_adj", "scale"], "estimate"].isna()
    names = set(found.index[found])
    assert names - {"rsquared_adj"} == missing
    assert names == {"rsquared", "rsquared_adj", "scale"} & set(fit.reasons)
    printed = " ".join(str(fit.summary()).split())
    assert why in fit.reasons["scale"]
    assert all(f"nan, inf: {fit.reasons[name]}" in printed for name in names)


def test_models_without_r_squared_say_in_reasons_alone_why(table):
    with dp.testing.insecure_seed(1):
        fit = dp.dp_iv("y ~ [x ~ d]", people(3000), epsilon=8)
    assert np.isnan([fit.rsquared, fit.scale]).all()
    assert "variance is not released" in fit.reasons["scale"] == fit.reasons["rsquared"]
    assert "R-squared" not in str(fit.summary())


def test_a_method_without_sums_says_so(line, fit):
    result = fit(line, "exp_theil_sen")
    assert np.isnan([result.rsquared, result.rsquared_adj, result.scale]).all()
    assert "holds neither" in result.reasons["rsquared"]
    assert (result.nobs_noisy, result.df_resid) == (300, 298)
    failed = fit(line[:1], "exp_theil_sen")
    assert failed.reasons["rsquared"] == failed.reasons["params"]


def test_the_scale_of_a_logit_and_of_counts_is_1_as_in_statsmodels(table):
    rows = table.assign(b=(table["y"] > table["y"].mean()).astype(int))
    for verb, model in ((dp.dp_logit, smf.logit), (dp.dp_poisson, smf.poisson)):
        with dp.testing.insecure_seed(1):
            ours = verb("b ~ x", rows, epsilon=8)
        assert ours.scale == model("b ~ x", rows).fit(disp=0).scale == 1
        assert np.isnan(ours.glance()["sigma"].item())  # there are no residuals of that deviation


@pytest.mark.parametrize("method", SUMS)
def test_they_are_in_the_json_and_come_back_from_it(table, method):
    fit = fitted(table, "y ~ x + z", method=method, epsilon=3)
    content = json.loads(fit.to_json())
    assert content["fit_statistics"]["rsquared"] == list(fit.fit_statistics.loc["rsquared"])
    again = dp.DPResults.from_json(fit.to_json())
    pd.testing.assert_frame_equal(again.fit_statistics, fit.fit_statistics)


def test_absorbed_effects_leave_no_r_squared_of_the_whole(table):
    rows = table.assign(g=table["g"].astype(str))
    with dp.testing.insecure_seed(1):
        fit = dp.dp_ols(
            "y ~ x | g", rows, method="adassp", epsilon=4, bounds={"x": (-3, 3), "y": (-9, 9)}
        )
    assert (
        np.isnan([fit.rsquared, fit.scale]).all() and "means of groups" in fit.reasons["rsquared"]
    )


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_absorbed_effects_leave_the_number_of_rows_and_no_degrees_of_freedom(neighbors):
    rng = np.random.default_rng(1)
    rows = pd.DataFrame({"x": rng.normal(size=4000), "g": rng.integers(0, 100, 4000)})
    rows["y"] = rows["x"] + rng.normal(size=4000)
    with dp.testing.insecure_seed(1):
        found = dp.dp_ols("y ~ x | g", rows, epsilon=4, neighbors=neighbors)
    number, error = found.fit_statistics.loc["nobs"]
    assert found.nobs == round(number) and abs(number - 4000) <= 4 * error < 200
    assert (error == 0) == (neighbors == "replace_one") == (found.public_rows is not None)
    assert np.isnan(found.df_resid), "the number of groups is private"
    shown = f"{found.nobs} ({error:.0f})" if error else "4000"
    assert f"No. Observations: {shown}" in " ".join(str(found).split())


def test_no_rows_in_a_large_unit_show_without_a_warning():
    table = {"x": np.zeros(0), "y": np.zeros(0)}
    bounds = {"x": (0, 1), "y": (-1e90, 1e90)}
    fit = dp.dp_ols("y ~ x", table, method="adassp", epsilon=1, bounds=bounds)
    assert np.isnan(fit.rsquared) and str(fit.summary())
