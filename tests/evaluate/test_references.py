"""Non-private references against statsmodels."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

import dpstats as dp
from dpstats.evaluate import (
    error_bounds,
    mean_reference,
    ols_reference,
    theil_sen_reference,
)

BOUNDS = {"kid_rank": (0, 1), "parent_rank": (0, 1)}
UNIT = {"x": (0, 1), "y": (0, 1)}
FORMULA = "kid_rank ~ parent_rank"


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


def test_rows_by_several_columns_are_those_of_their_combinations(people):
    data = people[people["cell"] <= 4].assign(east=people["cell"] % 2 == 0, high=people["cell"] > 2)
    call = {"bounds": BOUNDS, "public": True}
    one = ols_reference(FORMULA, data, by="cell", **call)
    two = ols_reference(FORMULA, data, by=["high", "east"], **call)
    assert list(two)[:3] == ["high", "east", "term"]
    assert two["estimate"].tolist() == one["estimate"].tolist()
    table = error_bounds(FORMULA, data, by=["high", "east"], methods=["noisy_moments"], epsilon=8,
                         trials=3, seed=1, **call)  # fmt: skip
    assert table["group"].iloc[-1] == (True, True) and len(table) == 8


@pytest.mark.parametrize("public", [{}, {"public": False}, {"public": 1}])
def test_the_declaration_must_be_explicit(people, public):
    with pytest.raises(dp.ArgumentError, match="without any protection; pass public=True"):
        ols_reference(FORMULA, people, bounds=BOUNDS, **public)


def test_bounds_are_needed(people):
    with pytest.raises(dp.ArgumentError, match=r'for parent_rank, as in bounds=\{"parent_rank": '):
        ols_reference(FORMULA, people, bounds={"kid_rank": (0, 1)}, public=True)


@pytest.mark.parametrize("by", [3, np.nan, [], {}, set(), ["cell", "cell"]])
def test_groups_go_by_names_of_columns(people, by):
    for reference in (ols_reference, theil_sen_reference, mean_reference):
        with pytest.raises(dp.ArgumentError, match="by to name one column or a list of columns"):
            reference(FORMULA, people, by=by, bounds=BOUNDS, public=True)


def median_of_pairs(x, y, points):
    """Theil-Sen by hand: every pair of rows with different x."""
    j, l = np.triu_indices(len(x), 1)
    j, l = j[x[j] != x[l]], l[x[j] != x[l]]
    slopes = (y[l] - y[j]) / (x[l] - x[j])
    return [np.median(y[j] + slopes * (point - x[j])) for point in points]


@pytest.mark.parametrize("n", [2, 3, 8, 51])
def test_theil_sen_is_the_median_over_all_pairs(n):
    rng = np.random.default_rng(n)
    x, y = rng.integers(0, 12, n) / 16 + np.arange(n) % 2 / 4, rng.uniform(0, 4, n)
    bounds = {"x": (0, 1), "y": (0, 4)}
    x_new = [0.25, 0.75, 1.5]
    fit = theil_sen_reference("y ~ x", {"x": x, "y": y}, bounds=bounds, x_new=x_new, public=True)
    np.testing.assert_allclose(fit["estimate"][2:], median_of_pairs(x, y, x_new), atol=1e-5)
    assert fit["std_error"].isna().all()
    line = np.polyfit(x_new, fit["estimate"][2:], 1)
    np.testing.assert_allclose(fit["estimate"][:2], line[::-1], atol=1e-9)


def test_mean_is_the_same_everywhere():
    data = {"x": [0, 0.2, 0.9], "z": [0, 1, 1], "y": [0.1, 0.2, 0.6]}
    bounds = {"x": (0, 1), "y": (0, 1), "z": (0, 1)}
    points = pd.DataFrame({"x": [0.1], "z": [1]})
    fit = mean_reference("y ~ x + z", data, bounds=bounds, x_new=points, public=True)
    np.testing.assert_allclose(fit["estimate"], [0.3, 0, 0, 0.3])
    np.testing.assert_allclose(
        fit["std_error"], np.std(data["y"], ddof=1) / 3**0.5 * np.r_[1, 0, 0, 1]
    )


@pytest.mark.parametrize("reference", [ols_reference, theil_sen_reference, mean_reference])
def test_references_say_that_they_are_not_private(people, reference):
    frame = reference(FORMULA, people, by="cell", bounds=BOUNDS, public=True)
    assert set(frame["method"]) == {
        f"{reference.__name__.removesuffix('_reference')} (not private)"
    }
    assert "(not private)" in frame.to_string()
    with pytest.raises(dp.ArgumentError, match="public=True"):
        reference(FORMULA, people, by="cell", bounds=BOUNDS)


@pytest.mark.parametrize("n", [1001, 2500])
def test_many_rows_are_decomposed_in_blocks(n):
    rng = np.random.default_rng(n)
    data = pd.DataFrame({"x": rng.random(n), "y": rng.random(n)})
    data["y"] = 0.5 * data["y"] + 0.4 * data["x"]
    fit = smf.ols("y ~ x", data).fit()
    ours = ols_reference("y ~ x", data, bounds=UNIT, public=True).set_index("term")
    np.testing.assert_allclose(ours.loc[fit.params.index, "estimate"], fit.params, rtol=1e-10)
    np.testing.assert_allclose(ours.loc[fit.params.index, "std_error"], fit.bse, rtol=1e-10)
