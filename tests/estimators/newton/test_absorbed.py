"""Absorbed effects by noisy Newton steps on pairs."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from scipy.stats import t as student

import dpstats as dp
from dpstats.privacy import RELATIONS

EXACT = 1e9


def panel(n=3000, groups=60, seed=1, spread=0.0, d=2):
    """Rows with an effect of each group, with which the regressors are correlated."""
    generator = np.random.default_rng(seed)
    weights = generator.lognormal(0, spread, groups)
    g = generator.choice(groups, size=n, p=weights / weights.sum())
    effects = generator.normal(size=groups)
    x = generator.normal(size=(n, d)) + effects[g][:, None]
    e = generator.normal(size=n) * (1 + 0.3 * np.abs(x[:, 0]))
    y = x @ np.arange(1.0, d + 1) / 2 + 3 * effects[g] + e
    return pd.DataFrame({**{f"x{j + 1}": x[:, j] for j in range(d)}, "y": y, "g": g})


def within(data, cov_type="nonrobust", columns=("x1", "x2"), weights=None):
    """Least squares of deviations from group means, with or without weights, by statsmodels."""
    names, w = [*columns, "y"], pd.Series(1.0, data.index) if weights is None else data[weights]
    means = data[names].mul(w, axis=0).groupby(data["g"]).transform("sum")
    centred = data[names] - means.div(w.groupby(data["g"]).transform("sum"), axis=0)
    clusters = {"groups": data["g"]} if cov_type == "cluster" else None
    model = sm.WLS(centred["y"], centred[list(columns)], w)
    return model.fit(cov_type=cov_type, cov_kwds=clusters)


def fitted(data, seed=1, formula="y ~ x1 + x2 | g", epsilon=1.0, **more):
    with dp.testing.insecure_seed(seed):
        return dp.dp_ols(formula, data, epsilon=epsilon, **more)


@pytest.mark.parametrize("spread", [0.0, 1.0])
@pytest.mark.parametrize("neighbors", RELATIONS)
def test_without_noise_it_is_the_within_estimator_with_clustered_errors(spread, neighbors):
    data = panel(spread=spread)
    found, ols = fitted(data, epsilon=EXACT, neighbors=neighbors), within(data, "cluster")
    assert (found.method, found.cov_type, found.status) == ("noisy_newton", "cluster", "ok")
    np.testing.assert_allclose(found.params, ols.params, atol=1e-5)
    # with a factor for few clusters, and nothing is cut; what is left of noise is 0.05% at most
    assert (0.9995 < found.bse / ols.bse).all() and (found.bse / ols.bse < 1.1).all()
    number = len(data) ** 2 / (data["g"].value_counts() ** 2).sum()
    assert found.fit_statistics.loc["clusters", "estimate"] == pytest.approx(number, rel=0.01)
    for level in (0.1, 0.01):
        halves = found.conf_int(level).diff(axis=1)[1] / 2
        np.testing.assert_allclose(halves / found.bse, student.isf(level / 2, number - 1), 1e-3)


@pytest.mark.parametrize("more", [{}, {"cov_type": "HC1"}, {"weights": "w"}])
def test_delta_0_is_the_same_without_noise(more):
    """Of the same sums; labels of parts are drawn alike under one seed."""
    data = panel().assign(w=np.random.default_rng(2).uniform(0.2, 1, 3000))
    call = {"epsilon": EXACT, **more} | ({"bounds": {"w": (0, 1)}} if "weights" in more else {})
    pure, found = fitted(data, delta=0, **call), fitted(data, **call)
    assert (pure.method, pure.cov_type) == ("noisy_newton_pure", found.cov_type)
    assert pure.privacy.delta == 0 and pure.privacy.spent == (EXACT, 0.0)
    np.testing.assert_allclose(pure.params, found.params, atol=1e-5)
    np.testing.assert_allclose(pure.bse, found.bse, rtol=0.02)


def test_errors_of_one_variance_are_taken_as_such_if_asked():
    data = panel()
    found = fitted(data, epsilon=EXACT, cov_type="nonrobust")
    np.testing.assert_allclose(found.bse, within(data).bse, rtol=0.05)
    assert found.cov_type == "nonrobust"


def test_with_few_groups_errors_are_not_clustered_unless_that_is_asked():
    few = panel(groups=4)
    plain, asked = fitted(few, epsilon=20.0), fitted(few, epsilon=20.0, cov_type="cluster")
    assert plain.cov_type == "nonrobust" and np.isfinite(plain.bse).all()
    assert "as good as 4 of one size" in " ".join(plain.summary().as_text().split())
    assert asked.cov_type == "cluster" and asked.status == "not_identified"
    assert "number of clusters is below 6" in asked.reasons["bse"] and np.isnan(asked.bse).all()
    some = fitted(panel(groups=10), epsilon=20.0, cov_type="cluster")
    assert "fewer than 20 they may be too short" in " ".join(some.summary().as_text().split())


def weighted(data, formula="y ~ x1 + x2 + C(g)", cov_type="cluster"):
    """Weighted least squares with dummies, by statsmodels."""
    clusters = {"groups": data["g"]} if cov_type == "cluster" else None
    return smf.wls(formula, data, weights=data["w"]).fit(cov_type=cov_type, cov_kwds=clusters)


@pytest.mark.parametrize("largest", [1.0, 40.0])
@pytest.mark.parametrize("neighbors", RELATIONS)
def test_with_weights_it_is_weighted_least_squares_with_dummies(neighbors, largest):
    """Weights that say something of the slopes, up to the bound or a tenth of it."""
    data = panel(spread=0.5)
    data["w"] = np.clip(1 / (1 + data["x1"] ** 2), 0.02, 1) * min(largest, 4)
    given = {"weights": "w", "bounds": {"w": (0, largest)}, "neighbors": neighbors}
    found, wls = fitted(data, epsilon=EXACT, **given), weighted(data)
    assert (found.method, found.cov_type, found.status) == ("noisy_newton", "cluster", "ok")
    far = 1e-5 if largest == 1 else 5e-5
    np.testing.assert_allclose(found.params, wls.params[["x1", "x2"]], atol=far)
    # 3,000 rows that weigh a fiftieth tell less of the tail of scores
    ratio = found.bse / wls.bse[["x1", "x2"]]
    assert (ratio > 0.97).all() and (ratio < (1.03 if largest == 1 else 1.15)).all()
    assert abs(wls.params["x1"] - within(data).params["x1"]) > 1e-3
    figures = found.fit_statistics["estimate"]
    sums = data.groupby("g")["w"].sum()
    assert figures["clusters"] == pytest.approx(sums.sum() ** 2 / (sums**2).sum(), rel=0.02)
    assert figures["nobs"] == pytest.approx(len(data), rel=1e-3)
    assert np.isnan(figures["scale"]) and np.isnan(figures["rsquared"])


def test_trimmed_weights_and_a_subset_go_with_it():
    data = panel().assign(w=lambda rows: 0.2 + rows["x1"].abs())
    found = fitted(
        data, epsilon=EXACT, weights="w", trim_weights=1.0, bounds={"w": (0, 9), "x2": (-9, 9)},
        subset="x2 > 0",
    )  # fmt: skip
    kept = data[data["x2"] > 0].assign(w=lambda rows: rows["w"].clip(upper=1.0))
    np.testing.assert_allclose(found.params, weighted(kept).params[["x1", "x2"]], atol=1e-5)


def test_with_weights_few_groups_have_robust_errors():
    few = panel(n=20_000, groups=4)
    few["w"] = np.random.default_rng(4).uniform(0.2, 1, len(few))
    given = {"epsilon": EXACT, "weights": "w", "bounds": {"w": (0, 1)}}
    found, wls = fitted(few, **given), weighted(few, cov_type="HC1")
    assert found.cov_type == "HC1"
    np.testing.assert_allclose(found.bse, wls.bse[["x1", "x2"]], rtol=0.1)
    with pytest.raises(dp.ArgumentError, match="leave it out, which clusters errors"):
        fitted(few, cov_type="nonrobust", **given)


def test_each_group_of_by_has_effects_of_its_own_and_the_errors_that_it_can():
    """In the second there are 4 groups, whose errors are taken as independent."""
    many, few = panel(n=5000), panel(n=3000, groups=4, seed=2)
    data = pd.concat([many.assign(sex="m", w=0.5), few.assign(sex="f", w=0.5)])
    found = fitted(data, by="sex", groups=["f", "m"], epsilon=EXACT)
    assert found.method == "noisy_newton"
    for sex, own, cov_type in (("m", many, "cluster"), ("f", few, "nonrobust")):
        ols = within(own, cov_type)
        np.testing.assert_allclose(found.params.loc[sex], ols.params, atol=1e-5)
        shown = found.frame[found.frame["sex"] == sex].set_index("term")
        np.testing.assert_allclose(shown["std_error"], ols.bse, rtol=0.05)
        halves = (shown["upper"] - shown["lower"]) / 2 / shown["std_error"]
        degrees = 59 if sex == "m" else np.inf
        np.testing.assert_allclose(halves, student.isf(0.025, degrees), rtol=0.01)
    same = fitted(data, by="sex", groups=["f", "m"], epsilon=EXACT, weights="w",
                  bounds={"w": (0, 1)})  # fmt: skip
    np.testing.assert_allclose(same.params.loc["m"], found.params.loc["m"], atol=1e-5)


def test_robust_errors_of_few_groups_are_those_of_statsmodels():
    """Within 10%: parts of groups have other rows beside each, and 512 parts tell a variance."""
    few = panel(n=20_000, groups=4)
    few["y"] += 0.5 * few["x1"] * np.random.default_rng(3).normal(size=len(few))
    found, ols = fitted(few, epsilon=EXACT, cov_type="HC1"), within(few, "HC1")
    assert (found.method, found.cov_type, found.status) == ("noisy_newton", "HC1", "ok")
    assert within(few).bse["x1"] < 0.87 * ols.bse["x1"]
    np.testing.assert_allclose(found.bse, ols.bse, rtol=0.1)
    assert (np.abs(found.params - ols.params) < ols.bse).all()
    assert found.fit_statistics.loc["clusters", "estimate"] > 400
    assert "each row drew one of 128 by chance" in " ".join(found.summary().as_text().split())


def test_robust_errors_of_many_groups_are_clustered_by_group():
    data = panel()
    found, clustered = (fitted(data, cov_type=name) for name in ("HC1", "cluster"))
    assert found.cov_type == "cluster"
    assert "holds for errors of different variances too" in " ".join(
        found.summary().as_text().split()
    )
    np.testing.assert_array_equal(found.conf_int(), clustered.conf_int())
    pairs = panel(n=3000, groups=1500)
    found, ols = fitted(pairs, epsilon=EXACT, cov_type="HC1"), within(pairs, "cluster")
    np.testing.assert_allclose(found.bse, ols.bse, rtol=0.05)


def test_intervals_hold_what_they_estimate_at_epsilon_1():
    """40 tables, 80 slopes; a right interval of 95% fails in 11 of them 1 time in 1,000."""
    missed, shown, far = 0, 0, []
    for seed in range(40):
        data = panel(n=10_000, groups=200, seed=seed)
        found, ols = fitted(data, seed), within(data)
        low, high = found.conf_int().to_numpy().T
        missed += int(((low > [0.5, 1.0]) | (high < [0.5, 1.0])).sum())
        shown += int(np.isfinite(found.bse).sum())
        far.append(np.abs(found.params - ols.params) / ols.bse)
    assert shown >= 76 and missed <= 10
    assert np.median(far) < 1.2


@pytest.mark.parametrize("bounds", [None, {"x1": (-200, 200), "x2": (-9, 9), "y": (-20, 20)}])
@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_intervals_hold_least_squares_where_a_long_column_leaves_the_line(epsilon, bounds):
    """Student's t whose effect ends at two: 10 or 11 of 20 tables without tails that go on."""
    held = 0
    for seed in range(20):
        data, rng = panel(n=20_000, groups=330, seed=seed), np.random.default_rng(seed)
        data["x1"] = rng.standard_t(3, len(data))
        data["y"] = data["x1"].clip(-2, 2) + 0.4 * data["x2"] + rng.normal(size=len(data))
        found, ols = fitted(data, seed, epsilon=epsilon, bounds=bounds), within(data)
        low, high = found.conf_int().loc["x1"]
        held += low <= ols.params["x1"] <= high
    assert held >= 16


def test_weighted_intervals_hold_it_where_noise_hides_all_of_a_tail():
    """13 of 20 tables where a tail is seen by a kurtosis of more than 3 alone."""
    held = 0
    for seed in range(20):
        data, rng = panel(n=20_000, groups=330, seed=seed), np.random.default_rng(seed)
        data["x1"], data["w"] = rng.standard_t(3, len(data)), rng.uniform(0.2, 1, len(data))
        data["y"] = data["x1"].clip(-2, 2) + 0.4 * data["x2"] + rng.normal(size=len(data))
        found = fitted(data, seed, epsilon=1.0, weights="w", bounds={"w": (0, 1)})
        low, high = found.conf_int().loc["x1"]
        held += low <= within(data, weights="w").params["x1"] <= high
    assert held >= 17


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("dialect", [str, dp.RFormula])
def test_two_columns_and_an_event_study_are_those_of_dummies(dialect, neighbors):
    data = panel(n=8000, groups=40)
    data["year"] = np.random.default_rng(2).integers(2007, 2011, len(data))
    data["t"] = (data["g"] % 2).astype(float)
    data["y"] += 0.4 * data["t"] * (data["year"] == 2010)
    later = {f"t{year}": data["t"] * (data["year"] == year) for year in (2007, 2008, 2010)}
    ols = smf.ols("y ~ x1 + t2007 + t2008 + t2010 + C(year) + C(g)", data.assign(**later)).fit()
    formula = dialect("y ~ x1 + i(year, t, ref=2009) | g + year")
    found = fitted(data, formula=formula, epsilon=EXACT, neighbors=neighbors,
                   levels={"year": [2007, 2008, 2009, 2010]})  # fmt: skip
    names = ["x1", *(f"year::{year}:t" for year in (2007, 2008, 2010))]
    np.testing.assert_allclose(found.params[names], ols.params[["x1", *later]], atol=1e-5)


def test_a_file_is_fitted_as_its_rows_in_memory(tmp_path):
    data = panel()
    data.to_parquet(tmp_path / "rows.parquet")
    found, held = fitted(str(tmp_path / "rows.parquet")), fitted(data)
    assert found.method == "noisy_newton" and found.cov_type == "cluster"
    np.testing.assert_array_equal(found.params, held.params)
    np.testing.assert_array_equal(found.bse, held.bse)


def test_groups_with_many_rows_are_divided_by_labels_that_rows_draw():
    """One group of 3,000 rows has more than 4 million pairs."""
    data = panel(n=3000, groups=1, d=1)
    found = fitted(data, formula="y ~ x1 | g", epsilon=EXACT, cov_type="nonrobust")
    ols = within(data, columns=("x1",))
    assert abs(found.params["x1"] - ols.params["x1"]) < ols.bse["x1"]
    assert found.params["x1"] != pytest.approx(ols.params["x1"], abs=1e-9)
    assert found.bse["x1"] == pytest.approx(ols.bse["x1"], rel=0.1)


def test_factors_beside_it_are_differences_of_indicators():
    data = panel()
    data["h"] = pd.Categorical.from_codes(np.arange(len(data)) * 7 % 3, list("abc"))
    found = fitted(data, formula="y ~ x1 + x2 + h | g", epsilon=EXACT)
    dummies = pd.get_dummies(data["h"], drop_first=True).astype(float)
    ols = within(data.assign(b=dummies["b"], c=dummies["c"]), columns=("b", "c", "x1", "x2"))
    np.testing.assert_allclose(found.params, ols.params, atol=2e-4)


def test_what_is_not_proven_is_left_to_adassp_or_refused():
    data = panel().assign(w=1.0)
    bounds = {"x1": (-5, 5), "x2": (-5, 5), "y": (-9, 9)}
    assert fitted(data, row_norm=9.0, bounds=bounds).method == "adassp"
    with pytest.raises(dp.ArgumentError, match="adassp is not proven for rows of different"):
        fitted(data, weights="w", bounds={"w": (0, 1), **bounds}, method="adassp")
    with pytest.raises(dp.ArgumentError, match="'nonrobust' or 'HC1', got 'HC3'"):
        fitted(data, cov_type="HC3")
    with pytest.raises(dp.ArgumentError, match="compares rows of several persons"):
        fitted(data, unit="w", method="noisy_newton")
    with pytest.raises(dp.ArgumentError, match="needs delta > 0"):
        fitted(data, delta=0, method="noisy_newton")


def test_empty_and_constant_tables_release_something():
    data = panel()
    for rows in (data[:0], data[:1], data.assign(y=0.0), data.assign(x1=1.0), data.assign(g=1)):
        found = fitted(rows)
        assert np.isfinite(found.params).all()
        assert found.status in ("ok", "imprecise", "not_identified", "constant")


def of_few_ones(share, seed):
    """A panel with a column that is 1 in a share of 10,000 rows, and what it moves y by."""
    data, rng = panel(n=10_000, groups=200), np.random.default_rng(seed)
    r = (rng.random(len(data)) < share) * 1.0
    return data.assign(r=r, y=data["y"] + 0.5 * r)


@pytest.mark.parametrize("share", [0.01, 0.03])
def test_intervals_of_a_column_of_few_ones_shorten_with_epsilon(share):
    """Medians of ten tables with fixed seeds, of which all intervals hold least squares.

    In units in which X'X is cut they were 20 and 8 times those without privacy at epsilon 4 and 8,
    or not shown.
    """
    widths = []
    for epsilon in (2, 4, 8):
        ratios = []
        for seed in range(10):
            data = of_few_ones(share, seed)
            exact = within(data, "cluster", ("x1", "r"))
            found = fitted(data, seed, "y ~ x1 + r | g", epsilon)
            low, high = found.conf_int().loc["r"]
            assert low <= exact.params["r"] <= high
            ratios.append(found.bse["r"] / exact.bse["r"])
        widths.append(np.median(ratios))
    assert widths[0] > widths[1] > widths[2]
    assert widths[1] < 3 and widths[2] < 2


def test_a_column_of_few_ones_is_nearly_as_sharp_as_number_as_it_is_as_true_and_false():
    """Its scale is public as True and False; fixed seeds, epsilon 4, where it was .2 as sharp."""
    ratios = []
    for seed in range(10):
        data = of_few_ones(0.01, seed)
        number = fitted(data, seed, "y ~ x1 + r | g", 4)
        true = fitted(data.assign(r=data["r"] > 0), seed, "y ~ x1 + r | g", 4)
        ratios.append(true.bse["r[T.True]"] / number.bse["r"])
    assert np.median(ratios) > 0.5
