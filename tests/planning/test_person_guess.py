"""Forecasts for persons of several rows are near what fits of such panels give."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

import dpstats as dp
from dpstats.call import Prepared
from dpstats.errors import ArgumentError
from dpstats.evaluate.public_rows import request_for
from dpstats.planning.person_guess import PersonGuess, _sizes
from dpstats.privacy import GDP
from dpstats.simulate.person_panel import PANEL_LINE

BOUNDS = {"log_wage": (0, 5), "education": (8, 20), "hours": (0, 80)}
FORMULA = "log_wage ~ education + hours"
CALL = {"n": 4000, "bounds": {"x": (0, 1), "y": (-1, 2)}, "method": "adassp", "epsilon": 4,
        "repetitions": 20, "unit": "id"}  # fmt: skip


@pytest.mark.parametrize(("method", "epsilon", "icc"), [("adassp", 4, 0.9), ("auto", 1, 0.5)])
def test_a_forecast_is_near_fits_of_simulated_panels(method, epsilon, icc):
    """Of medians of 20 to 40 widths; errors of half a factor of 2 are seen."""
    share = {"education": 0.0, "hours": 0.5}
    plan = dp.plan(
        FORMULA, n=16_000, bounds=BOUNDS, method=method, epsilon=epsilon, truth=PANEL_LINE, sd=0.5,
        x_sd={"hours": np.sqrt(72)}, unit="person", rows_per_person=8, icc=icc, within_share=share,
        repetitions=20,
    )  # fmt: skip
    widths, clustered = [], []
    for seed in range(20):
        slips = dp.simulate.panel(2000, 8, icc=icc, seed=seed)
        with dp.testing.insecure_seed(seed):
            fit = dp.dp_ols(FORMULA, slips, method=method, epsilon=epsilon, bounds=BOUNDS,
                            unit="person")  # fmt: skip
        ols = smf.ols(FORMULA, slips)
        ols = ols.fit(cov_type="cluster", cov_kwds={"groups": slips["person"]})
        widths.append(fit.conf_int().diff(axis=1)[1])
        clustered.append(ols.conf_int().diff(axis=1)[1])
    terms = ["education", "hours"]
    forecast = plan.frame.set_index(["method", "term"])["width"]
    private = forecast[method][terms] / np.median(widths, axis=0)[1:]
    assert private.between(1 / 1.4, 1.4).all(), private
    without = forecast["ols (not private)"][terms] / np.median(clustered, axis=0)[1:]
    assert without.between(1 / 1.2, 1.2).all(), without


def test_a_forecast_of_person_effects_is_near_fits_of_simulated_panels():
    """Of medians of 20 widths, with the mean of each person taken off in least squares too."""
    formula, call = "log_wage ~ hours | person", {
        "bounds": {name: BOUNDS[name] for name in ("log_wage", "hours")}, "method": "adassp",
        "epsilon": 4, "unit": "person",
    }  # fmt: skip
    plan = dp.plan(
        formula, n=16_000, truth={"hours": PANEL_LINE["hours"]}, sd=0.5, rows_per_person=8,
        x_sd={"hours": np.sqrt(72)}, icc=0.5, within_share=0.5, repetitions=20, **call,
    )  # fmt: skip
    widths, clustered = [], []
    for seed in range(20):
        slips = dp.simulate.panel(2000, 8, icc=0.5, seed=seed)
        with dp.testing.insecure_seed(seed):
            widths.append(dp.dp_ols(formula, slips, **call).conf_int().diff(axis=1)[1]["hours"])
        columns = slips[["log_wage", "hours"]]
        centred = columns - columns.groupby(slips["person"]).transform("mean")
        ols = smf.ols("log_wage ~ hours - 1", centred)
        ols = ols.fit(cov_type="cluster", cov_kwds={"groups": slips["person"]})
        clustered.append(ols.conf_int().diff(axis=1)[1]["hours"])
    forecast = plan.frame.set_index("method")["width"]
    assert 1 / 1.4 < forecast["adassp"] / np.median(widths) < 1.4
    assert 1 / 1.2 < forecast["ols (not private)"] / np.median(clustered) < 1.2


@pytest.mark.parametrize(("method", "max_groups"), [("adassp", 1), ("adassp", 2), ("auto", 2)])
def test_a_forecast_by_group_is_near_fits_of_persons_in_several(method, max_groups):
    """Of medians of widths in 10 panels of two years; errors of half a factor of 2 are seen.

    With ``max_groups=1`` each person is in one year, with 2 in both, of which each has half of the
    budget, and least squares of a year alone is clustered by its persons.
    """
    call = {"bounds": BOUNDS, "method": method, "epsilon": 4, "unit": "person"}
    plan = dp.plan(
        FORMULA, by="year", n=8000, groups=2, truth=PANEL_LINE, sd=0.5, icc=0.5, rows_per_person=4,
        x_sd={"hours": np.sqrt(72)}, within_share={"education": 0.0, "hours": 0.5},
        max_groups=max_groups, repetitions=20, **call,
    )  # fmt: skip
    widths, clustered = [], []
    for seed in range(10):
        slips = dp.simulate.panel(4000 // max_groups, 4 * max_groups, icc=0.5, seed=seed)
        rows = slips["person"] if max_groups == 1 else slips.groupby("person").cumcount()
        slips["year"] = rows % 2
        with dp.testing.insecure_seed(seed):
            fit = dp.dp_ols(FORMULA, slips, by="year", groups=[0, 1], max_groups=max_groups, **call)
        widths.append(fit.frame.assign(width=fit.frame["upper"] - fit.frame["lower"]))
        year = slips[slips["year"] == 0]
        ols = smf.ols(FORMULA, year).fit(cov_type="cluster", cov_kwds={"groups": year["person"]})
        clustered.append(ols.conf_int().diff(axis=1)[1])
    terms = ["education", "hours"]
    forecast = plan.frame.set_index(["method", "term"])["width"]
    private = forecast[method][terms] / pd.concat(widths).groupby("term")["width"].median()[terms]
    assert private.between(1 / 1.4, 1.4).all(), private
    without = forecast["ols (not private)"][terms] / np.median(clustered, axis=0)[1:]
    assert without.between(1 / 1.2, 1.2).all(), without


def test_each_group_has_its_part_of_the_budget():
    """Two groups a person leave each what a call of half the budget has, and the text says so."""
    call = {**CALL, "by": "town", "n": [4000, 4000], "rows_per_person": 4}
    both = dp.plan("y ~ x", **call, max_groups=2)
    one = dp.plan("y ~ x", **call)
    half = GDP.of(4, 1e-6).part(1 / 2).guarantee(1e-6)[0]
    alone = dp.plan("y ~ x", **{**call, "by": None, "n": 4000, "epsilon": half})
    numbers = ["error", "width", "coverage"]
    np.testing.assert_allclose(both.frame[numbers][:4], alone.frame[numbers][:4], rtol=1e-3)
    assert (both.frame["width"][:4] > 1.05 * one.frame["width"][:4]).all()
    said = " ".join(both.summary().split())
    assert "with 1/2 of the budget, because the rows of one id are used in at most 2 groups" in said
    said = " ".join(one.summary().split())
    assert "the whole epsilon, because the rows of one id are used in one group" in said


def test_standard_errors_are_those_of_statsmodels():
    slips = dp.simulate.panel(300, rows=6, shape="pareto", seed=3)
    X = np.column_stack([np.ones(len(slips)), slips["hours"]])
    sizes = slips.groupby("person").size().to_numpy()
    guess = PersonGuess("person", 300, {}, 0.5, sizes)
    request = request_for("log_wage ~ hours", slips, bounds={k: BOUNDS[k] for k in
                          ("log_wage", "hours")}, x_new={"hours": [40]})  # fmt: skip
    problem = Prepared.of(request).problem
    fit = guess.least_squares(problem, X, slips["log_wage"].to_numpy())
    ols = smf.ols("log_wage ~ hours", slips)
    ols = ols.fit(cov_type="cluster", cov_kwds={"groups": slips["person"]})
    np.testing.assert_allclose(fit[:2], np.column_stack([ols.params, ols.bse]), rtol=1e-6)
    at_40 = ols.get_prediction(pd.DataFrame({"hours": [40]}))
    np.testing.assert_allclose(fit[2], [at_40.predicted_mean[0], at_40.se_mean[0]], rtol=1e-6)


@pytest.mark.parametrize(
    ("rows", "n", "sizes"),
    [(2, 6, [2, 2, 2]), (2.5, 10, [2, 3, 2, 3]), ([1, 4], 11, [1, 4, 1, 4, 1]), ([3], 4, [3, 1])],
)
def test_numbers_of_rows_add_up_to_n(rows, n, sizes):
    assert _sizes(rows, n).tolist() == sizes


def test_the_plan_says_what_is_guessed():
    text = dp.plan("y ~ x", **CALL, rows_per_person=[1, 7], icc=0.2, within_share=0).summary()
    said = " ".join(str(text).split())
    assert "guessed id: 1 to 7 rows each; intra-class correlation of the residuals 0.2" in said
    assert "; shares of variance within one of them: x 0" in said


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({}, "expected rows_per_person= with unit=.*got None"),
        ({"rows_per_person": "5"}, "a mean number of rows.*got '5'"),
        ({"rows_per_person": []}, "equally common, got"),
        ({"rows_per_person": 0.5}, r"rows_per_person in \[1, 4000\], got 0.5"),
        ({"rows_per_person": [2, 0]}, "rows_per_person to be a whole number in 1..4000, got 0"),
        ({"rows_per_person": 2, "icc": 1.5}, r"icc in \[0, 1\], got 1.5"),
        ({"rows_per_person": 2, "groups": 5}, "with unit= give rows_per_person="),
        ({"rows_per_person": 2, "within_share": {"z": 1}}, "within_share names 'z'"),
        ({"rows_per_person": 2, "unit": None}, "describes the persons of unit="),
        ({"rows_per_person": 2, "max_groups": 2}, "give unit= and by="),
        ({"unit": None, "by": "town", "n": [9], "max_groups": 2}, "give unit= and by="),
        ({"by": "town", "n": [9], "max_groups": 0}, "max_groups to be a whole number >= 1, got 0"),
        ({"rows_per_person": 2, "method": "tukey"}, "tukey is proven for persons of one row only"),
    ],
)
def test_a_bad_guess_is_refused(more, message):
    with pytest.raises(ArgumentError, match=message):
        dp.plan("y ~ x", **{**CALL, **more})
