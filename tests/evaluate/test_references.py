"""Non-private references against statsmodels."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

import dpstats as dp
from dpstats.evaluate import (
    compare,
    error_bounds,
    mean_reference,
    mos,
    ols_reference,
    overview,
    predictions,
    theil_sen_reference,
)
from dpstats.evaluate.error_bounds import percentile_error

BOUNDS = {"kid_rank": (0, 1), "parent_rank": (0, 1)}
UNIT = {"x": (0, 1), "y": (0, 1)}
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
    with pytest.raises(dp.ArgumentError, match="expected bounds for parent_rank"):
        ols_reference(FORMULA, people, bounds={"kid_rank": (0, 1)}, public=True)


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


def observed_sensitivity(x, y, point):
    """n times the largest change of the OLS prediction when a grid point is added."""
    changes = [
        np.polyval(np.polyfit(np.r_[x, a], np.r_[y, b], 1), point)
        - np.polyval(np.polyfit(x, y, 1), point)
        for a in np.linspace(0, 1, 11)
        for b in np.linspace(0, 1, 11)
    ]
    return len(x) * np.max(np.abs(changes))


def test_mos_by_hand():
    people = dp.simulate.atlas(tracts=12, seed=4)
    ours = mos(
        FORMULA, people, by="tract", epsilon=8, x_new=[0.25], bounds=BOUNDS, seed=1, public=True
    )
    median, cells, kept = people["parent_rank"].median(), people.groupby("tract"), []
    for tract, rows in cells:
        x = rows["parent_rank"]
        if len(x) >= 20 and min((x < median).mean(), (x > median).mean()) >= 0.1:
            kept.append(tract)
    chi = max(
        observed_sensitivity(
            *cells.get_group(tract)[["parent_rank", "kid_rank"]].to_numpy().T, 0.25
        )
        for tract in kept
    )
    ours = ours.set_index("tract")
    assert 0 < len(kept) < 12 and list(ours.index[ours["status"] == "ok"]) == kept
    np.testing.assert_allclose(ours.loc[kept, "scale"], chi / (8 * cells.size()[kept]))
    assert ours.loc[~ours.index.isin(kept), "estimate"].isna().all()
    assert set(ours["method"]) == {"mos (not private)"}


def test_mos_in_other_units_and_with_two_points():
    people = dp.simulate.atlas(tracts=12, seed=4)
    call = {"by": "tract", "epsilon": 8, "seed": 1, "public": True}
    unit = mos(FORMULA, people, bounds=BOUNDS, **call)
    one = mos(FORMULA, people, x_new=[0.25], bounds=BOUNDS, **call)
    wide = mos("y ~ x", people.assign(x=4 + people["parent_rank"], y=10 * people["kid_rank"]),
               bounds={"x": (4, 5), "y": (0, 10)}, **call)  # fmt: skip
    np.testing.assert_allclose(wide[["estimate", "scale"]], 10 * unit[["estimate", "scale"]])
    # the points share epsilon
    np.testing.assert_allclose(unit.query("term == 'p25'")["scale"], 2 * one["scale"])


def test_mos_needs_people():
    few = {"g": [1, 1, 2], "x": [0.1, 0.5, 0.2], "y": [0.1, 0.2, 0.3]}
    bounds = {"x": (0, 1), "y": (0, 1)}
    assert set(mos("y ~ x", few, by="g", epsilon=1, bounds=bounds, public=True)["status"]) == {
        "suppressed"
    }
    with pytest.raises(dp.ArgumentError, match="public=True"):
        mos("y ~ x", few, by="g", epsilon=1, bounds=bounds)


def test_predictions_are_what_error_bounds_sum_up(people):
    call = {"methods": ["noisy_stats", "mean"], "epsilon": 4, "by": "cell", "bounds": BOUNDS}
    call |= {"trials": 3, "seed": 1, "public": True}
    table, errors = predictions(FORMULA, people, **call), error_bounds(FORMULA, people, **call)
    assert list(table.columns) == ["method", "group", "trial", "point", "prediction"]
    assert len(table) == 2 * 111 * 3 * 2
    ols = ols_reference(FORMULA, people, by="cell", bounds=BOUNDS, public=True)
    ols = ols.set_index(["cell", "term"])["estimate"]
    far = table.apply(lambda r: abs(r["prediction"] - ols[r["group"], r["point"]]), axis=1)
    worst = far.fillna(np.inf).groupby([table[key] for key in ("method", "group", "point")]).max()
    of_three = error_bounds(FORMULA, people, q=100, **call).set_index(["method", "group", "point"])
    np.testing.assert_allclose(worst.loc[of_three.index], of_three["c_hat"])
    assert (errors["c_hat"].to_numpy() <= of_three["c_hat"].to_numpy()).all()
    with pytest.raises(dp.ArgumentError, match="public=True"):
        predictions(FORMULA, people, **{**call, "public": False})


def test_c_hat_counts_trials():
    predictions = np.array([[[1.0], [2], [np.nan], [5]]])
    for q, expected in ((25, 1), (50, 2), (51, 5), (75, 5), (76, np.inf), (100, np.inf)):
        assert percentile_error(predictions, np.zeros((1, 1)), q)[0, 0] == expected
    assert np.isnan(percentile_error(predictions, np.full((1, 1), np.nan), 50)[0, 0])


def test_error_bounds_of_a_known_distribution(people):
    """noisy_stats' predictions at large epsilon: the error bound follows the noise scales."""
    table = error_bounds(FORMULA, people, methods=["noisy_stats"], epsilon=50, bounds=BOUNDS,
                         trials=400, seed=2, public=True)  # fmt: skip
    fits = []
    with dp.testing.insecure_seed(3):
        for _ in range(400):
            fit = dp.dp_ols(FORMULA, people, method="noisy_stats", epsilon=50, bounds=BOUNDS)
            fits.append([fit.p25, fit.p75])
    ols = ols_reference(FORMULA, people, bounds=BOUNDS, public=True)["estimate"].to_numpy()[2:]
    expected = np.quantile(np.abs(np.array(fits) - ols), 0.68, axis=0)
    np.testing.assert_allclose(table["c_hat"], expected, rtol=0.2)
    assert list(table["point"]) == ["p25", "p75"]
    assert (table["failed"] == 0).all()


def test_error_bounds_by_group(people):
    methods = ["noisy_stats", "ols", "mean", "theil_sen", "mos"]
    table = error_bounds(FORMULA, people, methods=methods, epsilon=16, by="cell", bounds=BOUNDS,
                         trials=5, seed=1, public=True)  # fmt: skip
    assert list(table.columns) == [
        "method",
        "group",
        "point",
        "c_hat",
        "standard_error",
        "ratio",
        "failed",
    ]
    assert len(table) == 5 * 111 * 2
    ols = ols_reference(FORMULA, people, by="cell", bounds=BOUNDS, public=True)
    errors = ols[ols["term"].isin(["p25", "p75"])]["std_error"]
    for label, part in table.groupby("method"):
        np.testing.assert_array_equal(part["standard_error"], errors)
        np.testing.assert_array_equal(part["ratio"], part["c_hat"] / part["standard_error"])
        assert ("(not private)" in label) == (label != "noisy_stats")
    assert (table[table["method"] == "ols (not private)"]["c_hat"] == 0).all()
    suppressed = table[(table["method"] == "mos (not private)") & (table["failed"] == 1)]
    assert len(suppressed) and np.isinf(suppressed["c_hat"]).all()


def test_error_bounds_repeat_with_a_seed_and_ask_for_the_declaration(people):
    call = {
        "methods": ["noisy_stats", "mos"],
        "epsilon": 4,
        "by": "cell",
        "bounds": BOUNDS,
        "trials": 2,
    }
    one, two = (error_bounds(FORMULA, people, seed=5, public=True, **call) for _ in range(2))
    assert one.equals(two)
    assert not one.equals(error_bounds(FORMULA, people, public=True, **call))
    with pytest.raises(dp.ArgumentError, match="public=True"):
        error_bounds(FORMULA, people, **call)


def test_errors_against_the_truth():
    line = dp.simulate.line(300, seed=1)
    bounds = {"x": (0, 1), "y": (0, 1)}
    call = {"methods": ["ols"], "epsilon": 1, "bounds": bounds, "public": True}
    table = error_bounds("y ~ x", line, truth=[0.325, 0.575], **call)
    ols = ols_reference("y ~ x", line, bounds=bounds, public=True)["estimate"].to_numpy()[2:]
    np.testing.assert_allclose(table["c_true"], np.abs(ols - [0.325, 0.575]))
    np.testing.assert_allclose(table["ratio_true"], table["c_true"] / table["standard_error"])
    with pytest.raises(dp.ArgumentError, match="expected truth of shape"):
        error_bounds("y ~ x", line, truth=[1, 2, 3], **call)


def test_methods_with_options_and_labels():
    line = dp.simulate.line(60, seed=1)
    bounds = {"x": (0, 1), "y": (0, 1)}
    methods = {
        "one matching": {"method": "exp_theil_sen", "k": 1},
        "all pairs": {"method": "exp_theil_sen"},
        "with delta": {"method": "adassp"},
    }
    table = error_bounds("y ~ x", line, methods=methods, epsilon=2, delta=1e-5, bounds=bounds,
                         trials=3, seed=1, public=True)  # fmt: skip
    assert list(table["method"].unique()) == list(methods)
    one, every = (table.loc[table["method"] == label, "c_hat"] for label in list(methods)[:2])
    assert not np.array_equal(one, every)


@pytest.mark.parametrize(
    "wrong, message",
    [
        ({"methods": "adassp"}, "expected methods to be a list"),
        ({"methods": []}, "expected methods to be a list"),
        ({"methods": ["lars"]}, "expected methods to name some of .*adassp.*mos"),
        ({"methods": {"a": "adassp"}}, "expected methods"),
        ({"methods": {"a": {"method": "ols", "k": 3}}}, "baseline without options"),
        ({"q": 0}, "expected q in .0, 100.*, got 0"),
        ({"trials": 0}, "expected trials to be a whole number"),
        ({"epsilon": -1}, "expected a finite epsilon"),
    ],
)
def test_arguments_are_checked_before_rows_are_read(wrong, message):
    call = {
        "methods": ["adassp"],
        "epsilon": 1,
        "bounds": {"x": (0, 1), "y": (0, 1)},
        "public": True,
    }
    with pytest.raises(dp.ArgumentError, match=message):
        error_bounds("y ~ x", {"x": [0.5], "y": [0.5]}, **{**call, **wrong})


def test_compare_and_overview():
    sets = {
        "small": {"formula": "y ~ x", "data": dp.simulate.line(40, seed=1)},
        "large": {"formula": "y ~ x", "data": dp.simulate.line(4000, seed=1)},
    }
    bounds = {"x": (0, 1), "y": (0, 1)}
    table = compare(sets, methods=["noisy_stats", "ols"], epsilon=1, bounds=bounds, trials=20,
                    seed=1, public=True)  # fmt: skip
    assert table.columns[0] == "data" and list(table["data"].unique()) == ["small", "large"]
    lines = overview(table)
    assert lines.index.names == ["data", "method", "point"]
    assert lines.loc[("large", "ols (not private)", "p25"), "within"] == 1
    assert lines.loc[("small", "noisy_stats", "p25"), "median_ratio"] > 1
    with pytest.raises(dp.ArgumentError, match="data_sets"):
        compare({}, methods=["ols"], epsilon=1, bounds=bounds, public=True)


def relative_error(method, n, epsilon, x_sd):
    """Median C-hat(68) over the OLS standard error of p25, over 25 made-up tables."""
    tables = [
        dp.simulate.line(n, x_sd=x_sd, noise_sd=0.15, shape="uniform", seed=i).assign(table=i)
        for i in range(25)
    ]
    options = {"k": 10, "output_range": (-2, 2)} if "theil_sen" in method else {}
    errors = error_bounds(
        "y ~ x",
        pd.concat(tables),
        by="table",
        methods={method: {"method": method, **options}},
        epsilon=epsilon,
        bounds=UNIT,
        trials=12,
        seed=1,
        public=True,
    )
    return errors[errors["point"] == "p25"]["ratio"].median()


@pytest.mark.parametrize("name", ["noisy_stats", "noisy_moments"])
def test_theil_sen_leads_while_eps_n_var_x_is_small_and_then_falls_behind(name):
    """Figures 10 and 11 of Alabi et al., at epsilon n var(x) = 2.4 and 925."""
    small, large = (60, 4, 0.1), (1000, 32, 0.17)
    assert relative_error("exp_theil_sen", *small) < relative_error(name, *small) / 2
    assert relative_error(name, *large) < relative_error("exp_theil_sen", *large) / 1.5
