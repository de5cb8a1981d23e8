"""Non-private references against statsmodels."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

import dpstats as dp
from dpstats.evaluate import ols_reference

BOUNDS = {"kid_rank": (0, 1), "parent_rank": (0, 1)}
FORMULA = "kid_rank ~ parent_rank"


@pytest.fixture(scope="module")
def people():
    return dp.datasets.oi_microdata()


def test_every_cell_agrees_with_statsmodels(people):
    ours = ols_reference(FORMULA, people, by="cell", bounds=BOUNDS, public=True)
    points = pd.DataFrame({"parent_rank": [0.25, 0.75]})
    for cell, rows in people.groupby("cell"):
        fit = smf.ols(FORMULA, rows).fit()
        at = fit.get_prediction(points)
        mine = ours[ours["cell"] == cell]
        expected = np.r_[fit.params, at.predicted_mean]
        np.testing.assert_allclose(mine["estimate"], expected, rtol=0, atol=1e-10)
        np.testing.assert_allclose(mine["std_error"], np.r_[fit.bse, at.se_mean], rtol=1e-8)


def test_equation_3_by_hand(people):
    rows = people[people["cell"] == 7]
    x, y, n = rows["parent_rank"], rows["kid_rank"], len(rows)
    slope, intercept = np.polyfit(x, y, 1)
    spread = np.sqrt(np.sum((y - intercept - slope * x) ** 2) / (n - 2))
    expected = spread * np.sqrt(1 / n + (0.25 - x.mean()) ** 2 / (n * x.var(ddof=0)))
    ours = ols_reference(FORMULA, rows, bounds=BOUNDS, public=True).set_index("term")
    assert ours.loc["p25", "std_error"] == pytest.approx(expected, rel=1e-10)


def test_several_regressors_levels_and_points(people):
    data = people.assign(region=np.where(people["cell"] % 2 == 0, "east", "west"))
    points = pd.DataFrame({"parent_rank": [0.1, 0.9], "region": ["east", "west"]}, ["a", "b"])
    ours = ols_reference(
        "kid_rank ~ parent_rank + C(region)",
        data,
        bounds=BOUNDS,
        levels={"region": ["east", "west"]},
        x_new=points,
        public=True,
    )
    at = smf.ols("kid_rank ~ parent_rank + C(region)", data).fit().get_prediction(points)
    assert ours["term"].tolist()[-2:] == ["a", "b"]
    np.testing.assert_allclose(ours["estimate"][-2:], at.predicted_mean, rtol=1e-10)
    np.testing.assert_allclose(ours["std_error"][-2:], at.se_mean, rtol=1e-8)


def test_rows_match_those_of_the_private_call(people):
    result = dp.dp_ols(
        FORMULA, people, by="cell", method="exp_theil_sen", epsilon=16, bounds=BOUNDS
    )
    ours = ols_reference(FORMULA, people, by="cell", bounds=BOUNDS, public=True)
    assert ours[["cell", "term"]].equals(result.frame[["cell", "term"]])


def test_what_the_rows_do_not_determine_is_nan():
    data = pd.DataFrame(
        {
            "g": pd.Categorical(["one", "two", "two", "same", "same", "same"], None, False),
            "x": [0.1, 0.2, 0.6, 0.5, 0.5, 0.5],
            "y": [0.3, 0.2, 0.4, 0.1, 0.5, 0.9],
        }
    )
    data["g"] = data["g"].cat.add_categories("none")
    bounds = {"x": (0, 1), "y": (0, 1)}
    ours = ols_reference("y ~ x", data, by="g", bounds=bounds, public=True).set_index("g")
    for group in ("one", "same", "none"):
        assert ours.loc[group, ["estimate", "std_error"]].isna().all(axis=None)
    np.testing.assert_allclose(ours.loc["two", "estimate"], [0.1, 0.5, 0.225, 0.475])
    assert ours.loc["two", "std_error"].isna().all()


def test_rows_are_clipped_as_in_the_private_call():
    data = pd.DataFrame({"x": [0, 0.5, 1, 0.3], "y": [0, 0.5, 40, 0.4]})
    bounds = {"x": (0, 1), "y": (0, 1)}
    ours = ols_reference("y ~ x", data, bounds=bounds, public=True)
    expected = smf.ols("y ~ x", data.clip(0, 1)).fit().params
    np.testing.assert_allclose(ours["estimate"][:2], expected)


@pytest.mark.parametrize("public", [{}, {"public": False}, {"public": 1}])
def test_the_declaration_must_be_explicit(people, public):
    with pytest.raises(dp.ArgumentError, match="without any protection; pass public=True"):
        ols_reference(FORMULA, people, bounds=BOUNDS, **public)


def test_bounds_are_needed(people):
    with pytest.raises(dp.ArgumentError, match="expected bounds for parent_rank"):
        ols_reference(FORMULA, people, bounds={"kid_rank": (0, 1)}, public=True)
