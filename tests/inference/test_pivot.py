"""Intervals, tests and error bounds from releases: they cover, and nothing but the release enters.

All seeds are fixed. A coverage is refused when its Clopper-Pearson interval of level 99.9% lies
below 95%, which a correct one does once in 2,000 choices of a seed.
"""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from scipy.stats import binomtest, laplace, norm

import dpstats as dp
from benchmarks import coverage
from dpstats.inference import Sums, pivot, stacked, uncertainty
from dpstats.numerics.normal_laplace import critical_value, tail

UNIT = {"x": (0, 1), "y": (0, 1)}


def close_line(n=4000, epsilon=1e5, method="noisy_moments", sd=0.1, **more):
    """A fit with hardly any noise, and OLS on the same rows."""
    data = dp.simulate.line(n, x_sd=0.2, noise_sd=sd, seed=3)
    data = data[data["y"].between(0, 1)]
    with dp.testing.insecure_seed(2):
        result = dp.dp_ols("y ~ x", data, method=method, epsilon=epsilon, bounds=UNIT, **more)
    return result, smf.ols("y ~ x", data).fit()


@pytest.mark.parametrize("g", [0.3, 1.0, 2.5])
def test_the_tail_of_a_normal_or_a_laplace_variable(g):
    assert tail(g, 1.0, np.zeros(2)) == pytest.approx(2 * norm.sf(g), abs=1e-9)
    assert tail(g, 0.0, np.array([1.0, 0.0])) == pytest.approx(2 * laplace.sf(g), abs=2e-6)


def test_the_tail_of_a_sum_agrees_with_simulation():
    rng, parts = np.random.default_rng(1), np.array([0.5, -1.5, 0.2])
    draws = 0.7 * rng.normal(size=400_000) + rng.laplace(size=(400_000, 3)) @ parts
    for g in (0.5, 2.0, 5.0):
        assert tail(g, 0.7, parts) == pytest.approx(np.mean(np.abs(draws) > g), abs=0.003)
    assert tail(critical_value(0.1, 0.7, parts), 0.7, parts) == pytest.approx(0.1, abs=1e-6)


@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
@pytest.mark.parametrize("method", ["noisy_moments", "adassp"])
def test_without_noise_inference_is_that_of_ols(method, neighbors):
    result, ols = close_line(method=method, neighbors=neighbors)
    np.testing.assert_allclose(result.bse, ols.bse, rtol=0.01)
    np.testing.assert_allclose(result.conf_int(), ols.conf_int(), atol=2e-3 * ols.bse.max() * 50)
    widths = [np.diff(fit.conf_int(0.1), axis=1) for fit in (result, ols)]
    np.testing.assert_allclose(*widths, rtol=0.015)
    new = pd.DataFrame({"x": [0.1, 0.6]})
    theirs = ols.get_prediction(new).summary_frame()
    ours = result.predict(new, interval=True)
    assert list(ours) == list(theirs)[:4]
    np.testing.assert_allclose(ours, theirs[list(ours)], atol=5e-4)


def test_hypotheses_are_those_of_statsmodels_where_there_is_no_noise():
    result, ols = close_line(method="adassp")
    for text in ("x = 0.48", "x = Intercept", "x + Intercept = 0.7, x = 0.5"):
        ours, theirs = result.t_test(text), ols.t_test(text, use_t=False)
        np.testing.assert_allclose(ours.effect, np.atleast_1d(theirs.effect), atol=1e-3)
        frame = theirs.summary_frame()
        np.testing.assert_allclose(ours.sd, frame["std err"], rtol=0.02)
        np.testing.assert_allclose(ours.pvalue, np.atleast_1d(theirs.pvalue), atol=0.05)
    joint = result.f_test("x + Intercept = 0.7, x = 0.5")
    theirs = ols.f_test("x + Intercept = 0.7, x = 0.5")
    assert joint.df_num == theirs.df_num == 2
    assert joint.pvalue == pytest.approx(float(theirs.pvalue), abs=0.05)


@pytest.mark.parametrize("text", ["x = ", "z = 1", "x = 1, 2 * x = 2", 7])
def test_hypotheses_that_cannot_be_tested_are_refused(text):
    with pytest.raises(dp.ArgumentError, match="hypotheses"):
        close_line(200)[0].t_test(text)


SMALL = (
    coverage.Cell("noisy_moments", 200, epsilons=(1.0, 16.0)),
    coverage.Cell("noisy_moments", 1000, epsilons=(1.0, 4.0)),
    coverage.Cell("noisy_moments", 1000, "narrow", epsilons=(4.0,)),
    coverage.Cell("noisy_moments", 1000, errors="heavy-tailed", epsilons=(1.0,)),
    coverage.Cell("adassp", 1000, epsilons=(4.0, 16.0)),
    coverage.Cell("exp_theil_sen", 60, epsilons=(16.0,), variants=({"ci": True, "k": 5},)),
)


@pytest.mark.parametrize("cell", SMALL, ids=str)
def test_intervals_cover(cell):
    outcomes = list(coverage.run(cell, 300, seed=4))
    assert len(outcomes) == len(cell.variants) * len(cell.epsilons)
    for outcome in outcomes:
        for j in range(3):
            verdict = coverage.verdict(outcome.covered[:, j], outcome.ols_covered[:, j])
            assert verdict == "holds", (outcome.epsilon, j, outcome.covered[:, j].mean())


@pytest.mark.parametrize("cell", SMALL[:4], ids=str)
def test_p_values_at_the_truth_are_uniform(cell):
    outcomes = list(coverage.run(cell, 300, seed=5))
    assert len(outcomes) == len(cell.variants) * len(cell.epsilons)
    for outcome in outcomes:
        small = int(np.sum(outcome.p_values[:, 0] < 0.05))
        assert binomtest(small, 300, 0.05).pvalue > 1e-3


def test_the_study_finds_intervals_that_leave_the_noise_out(monkeypatch):
    def silent(sums, scales, squared, problem, theta):
        g, r, line, spread = problem
        normal, _ = pivot._law(sums, scales, squared, r, line, spread, theta)
        return tail(abs(g[0] - theta * g[1]), normal, np.zeros(1))

    for name in ("_end", "_interval", "_intervals"):
        monkeypatch.setattr(pivot, name, getattr(pivot, name).py_func)
    monkeypatch.setattr(pivot, "_p_value", silent)
    (outcome,) = coverage.run(coverage.Cell("noisy_moments", 1000, epsilons=(1.0,)), 60)
    assert coverage.verdict(outcome.covered[:, 0], outcome.ols_covered[:, 0]) == "SHORT"


def test_weak_data_give_unbounded_intervals():
    (outcome,) = coverage.run(coverage.Cell("noisy_moments", 200, "narrow", epsilons=(1.0,)), 300)
    assert np.isinf(outcome.widths).mean() > 0.8
    assert outcome.covered[:, 0].mean() > 0.95


@pytest.mark.parametrize("method", ["noisy_moments", "adassp"])
def test_what_cannot_be_told_is_not_identified(method):
    with dp.testing.insecure_seed(1):
        result = close_line(100, epsilon=0.1, method=method)[0]
    while result.release.status != "ok":
        result = close_line(100, epsilon=0.2, method=method)[0]
    assert result.status == "not_identified"
    assert np.isinf(result.conf_int()).all(axis=None) and result.bse.isna().all()
    assert "unbounded" in result.reasons["conf_int"]
    assert "unbounded" in str(result.summary()) and "inf" in str(result.summary())
    with pytest.raises(dp.NotReleasedError, match="no bootstrap"):
        result.bootstrap()


def test_a_clipping_of_unknown_extent_has_no_interval():
    data = dp.simulate.line(4000, seed=1)
    with dp.testing.insecure_seed(1):
        result = dp.dp_ols("y ~ x", data, method="noisy_moments", epsilon=50)
    assert result.status == "ok" and result.conf_int().isna().all(axis=None)
    assert "declare bounds" in result.reasons["bse"]


METHODS = {
    "noisy_moments": {},
    "adassp": {},
    "exp_theil_sen": {"ci": True},
    "wide_theil_sen": {"ci": 0.99},
    "gd_pure": {"companion": "noisy_moments"},
    "boosted_adassp": {"companion": "adassp", "companion_share": 0.3},
}


@pytest.mark.parametrize("method", METHODS)
def test_intervals_survive_json_and_the_data(method):
    data = dp.simulate.line(2000, seed=1)
    result = dp.dp_ols("y ~ x", data, method=method, epsilon=4, bounds=UNIT, **METHODS[method])
    before = result.conf_int(), result.prediction_intervals(), result.pvalues
    del data
    again = dp.DPResults.from_json(result.to_json())
    assert again == result
    for old, new in zip(
        before, (again.conf_int(), again.prediction_intervals(), again.pvalues), strict=True
    ):
        assert old.equals(new)
    assert np.isfinite(result.conf_int()).all(axis=None)


@pytest.mark.parametrize("method", METHODS)
def test_intervals_of_a_group_are_those_of_its_rows(method):
    data = dp.simulate.line(900, seed=1).assign(g=[i % 3 for i in range(900)])
    call = {"method": method, "epsilon": 8, "bounds": UNIT} | METHODS[method]
    with dp.testing.insecure_seed(3):
        groups = dp.dp_ols("y ~ x", data, by="g", groups=[0, 1, 2, 7], **call)
    with dp.testing.insecure_seed(3):
        for g in range(3):
            single = dp.dp_ols("y ~ x", data[data["g"] == g], **call)
            own = groups.frame[groups.frame["g"] == g].set_index("term")
            ends = own.loc[["p25", "p75"], ["lower", "upper"]].to_numpy()
            columns = ["mean_ci_lower", "mean_ci_upper"]
            np.testing.assert_allclose(ends, single.prediction_intervals()[columns])
            np.testing.assert_allclose(own.loc[["Intercept", "x"], ["lower", "upper"]],
                                       single.conf_int())  # fmt: skip
    wide = groups.conf_int(0.01)["upper"] - groups.conf_int(0.01)["lower"]
    if np.isfinite(wide[:4]).all():
        assert (wide[:4] >= (groups.frame["upper"] - groups.frame["lower"])[:4]).all()


def test_a_companion_speaks_about_its_own_coefficients():
    result, _ = close_line(epsilon=5, method="boosted_adassp", companion="adassp")
    middle = result.conf_int().mean(axis=1)
    np.testing.assert_allclose(middle, result.companion)
    assert not np.allclose(result.params, result.companion, atol=1e-9)
    np.testing.assert_allclose(result.tvalues, result.companion / result.bse)
    shares = [share for _, share in result.privacy.shares()]
    assert sum(shares) == pytest.approx(1) and sum(shares[-3:]) == pytest.approx(0.5)
    assert "fit by adassp" in " ".join(result.privacy.assumptions)


def test_error_bounds_with_a_companion_are_those_of_the_first_method():
    data = dp.simulate.line(600, seed=1).assign(g=[i % 2 for i in range(600)])
    call = {"method": "noisy_stats", "epsilon": 8, "bounds": UNIT, "companion": "noisy_moments"}
    with dp.testing.insecure_seed(1):
        groups = dp.dp_ols("y ~ x", data, by="g", **call)
        single = dp.dp_ols("y ~ x", data, **call)
    for result in (groups, single):
        with pytest.raises(dp.NotReleasedError, match="reference="):
            result.error_bound()
    bound = single.error_bound(reference=data, trials=60)
    whole = replace(single, share=1.0).error_bound(reference=data, trials=60)
    assert single.share == groups.share == 0.5 and (bound > whole).all()
    by_group = groups.error_bound(reference=data, trials=20)["error_bound"]
    alone = replace(groups, share=1.0).error_bound(reference=data, trials=20)["error_bound"]
    assert (by_group > alone).all()
    assert dp.DPResults.from_json(single.to_json()).share == 0.5


def test_the_share_of_the_method_is_what_ranges_terms_and_a_companion_leave():
    data = dp.simulate.line(2000, seed=1).assign(z=0.5)
    for more, share in (
        ({"method": "noisy_stats", "bounds": UNIT}, 1.0),
        ({"method": "noisy_stats", "bounds": None, "epsilon": 8}, 0.8),
        ({"method": "tukey", "formula": "y ~ x + z", "select": "kendall", "k": 1}, 0.95),
        ({"method": "boosted_adassp", "companion": "adassp", "companion_share": 0.3}, 0.8 * 0.7),
    ):
        call = {"formula": "y ~ x", "epsilon": 4, **more}
        assert dp.dp_ols(data=data, **call).share == pytest.approx(share)


def test_what_cannot_be_tested_says_why():
    data = dp.simulate.line(400, seed=1)
    for more, why in (
        ({"method": "exp_theil_sen", "ci": True}, "ends of intervals"),
        ({"method": "noisy_stats"}, "residual variance"),
    ):
        result = dp.dp_ols("y ~ x", data, epsilon=4, bounds=UNIT, **more)
        for test in (result.t_test("x = 0"), result.f_test("x = 0")):
            assert np.isnan(test.pvalue).all() and why in test.reasons[0] and why in repr(test)
    fit = dp.dp_ols("y ~ x", data, method="noisy_moments", epsilon=50, bounds=UNIT)
    for test in (fit.t_test("x = 0"), fit.f_test("x = 0"), fit.f_test("x = 0, Intercept = 0")):
        assert test.reasons == () and "nan" not in repr(test)


def test_companions_that_cannot_share_a_budget_are_refused():
    data = dp.simulate.line(50, seed=1)
    for more, words in (
        ({"method": "gd_pure", "companion": "adassp"}, "cannot share the budget"),
        ({"method": "boosted_adassp", "companion": "noisy_moments"}, "cannot share the budget"),
        ({"method": "gd_pure", "companion": "tukey"}, "expected companion to be one of"),
        ({"method": "gd_pure", "companion_share": 0.5}, "add companion="),
        ({"method": "noisy_moments", "companion": "noisy_moments"}, "intervals of its own"),
        ({"method": "gd_pure", "companion": "noisy_moments", "companion_share": 1},
         "expected companion_share in"),
        ({"method": "noisy_stats", "companion": "noisy_moments", "neighbors": "add_remove"},
         "proven for"),
    ):  # fmt: skip
        with pytest.raises(dp.ArgumentError, match=words):
            dp.dp_ols("y ~ x", data, epsilon=1, bounds=UNIT, **more)


@pytest.mark.parametrize("method", ["noisy_moments", "adassp"])
def test_error_bounds_are_those_measured_on_public_data(method):
    data = dp.simulate.line(3000, x_sd=0.2, seed=1)
    call = {"epsilon": 1, "bounds": UNIT}
    with dp.testing.insecure_seed(1):
        result = dp.dp_ols("y ~ x", data, method=method, **call)
    own = result.error_bound(q=68)
    measured = dp.evaluate.error_bounds(
        "y ~ x", data, methods=[method], trials=400, seed=1, public=True, **call
    )
    np.testing.assert_allclose(own[["p25", "p75"]], measured["c_hat"], rtol=0.25)
    assert (result.error_bound(q=95) > own).all()
    assert dp.DPResults.from_json(result.to_json()).error_bound(q=68).equals(own)


def test_other_methods_need_a_reference_for_their_error_bounds():
    data = dp.simulate.line(300, x_sd=0.2, seed=1)
    result = dp.dp_ols("y ~ x", data, method="noisy_stats", epsilon=4, bounds=UNIT)
    with pytest.raises(dp.NotReleasedError, match="reference="):
        result.error_bound()
    with pytest.raises(dp.ArgumentError, match="no complete row"):
        result.error_bound(reference=dp.simulate.line(5, seed=9).assign(x=np.nan))
    own = result.error_bound(reference=dp.simulate.line(500, x_sd=0.2, seed=9))
    measured = dp.evaluate.error_bounds("y ~ x", data, methods=["noisy_stats"], trials=400, seed=1,
                                        epsilon=4, bounds=UNIT, public=True)  # fmt: skip
    np.testing.assert_allclose(own[["p25", "p75"]], measured["c_hat"], rtol=0.35)


def test_error_bounds_by_group():
    data = dp.simulate.line(900, seed=1).assign(g=[i % 3 for i in range(900)])
    call = {"by": "g", "groups": [0, 1, 2, 9], "epsilon": 8, "bounds": UNIT}
    bounds = dp.dp_ols("y ~ x", data, method="noisy_moments", **call).error_bound()
    assert list(bounds) == ["g", "term", "error_bound"] and len(bounds) == 16
    assert bounds["error_bound"][:12].notna().all() and bounds["error_bound"][12:].isna().all()
    stats = dp.dp_ols("y ~ x", data, method="noisy_stats", **call)
    again = stats.error_bound(reference=data, trials=40)
    assert again["error_bound"][:12].notna().all()
    with pytest.raises(dp.ArgumentError, match="group column"):
        stats.error_bound(reference=data[["x", "y"]])


@pytest.mark.parametrize("method", ["noisy_moments", "adassp"])
def test_the_bootstrap_agrees_with_the_default_where_noise_is_small(method):
    result, _ = close_line(epsilon=8, method=method)
    widths = [np.diff(ends, axis=1)[:, 0] for ends in (result.conf_int(), result.bootstrap())]
    np.testing.assert_allclose(*widths, rtol=0.12)
    pd.testing.assert_frame_equal(result.bootstrap(), result.bootstrap())


@pytest.mark.parametrize("method", ["noisy_moments", "adassp"])
def test_the_bootstrap_covers(method):
    cell = coverage.Cell(method, 1000, epsilons=(4.0,))
    rng, hits, trials = np.random.default_rng(3), 0, 80
    with dp.testing.insecure_seed(3):
        for _ in range(trials):
            X, y = coverage.draw(cell, rng, cell.n)
            data = {"x": X[:, 1], "y": y}
            fit = dp.dp_ols("y ~ x", data, method=method, epsilon=4, bounds=UNIT)
            low, high = fit.bootstrap(draws=400).loc["x"]
            hits += low <= coverage.LINE[1] <= high
    assert coverage.clopper_pearson(hits, trials)[1] >= 0.95


def test_the_joint_test_has_its_size_and_some_power():
    cell = coverage.Cell("adassp", 3000, d=2)
    rng, rejected, found = np.random.default_rng(5), 0, 0
    bounds, data = dict.fromkeys(["x1", "x2", "y"], (0, 1)), None
    with dp.testing.insecure_seed(5):
        for _ in range(30):
            X, y = coverage.draw(cell, rng, cell.n)
            data = {"x1": X[:, 1], "x2": X[:, 2], "y": y}
            fit = dp.dp_ols("y ~ x1 + x2", data, method="adassp", epsilon=4, bounds=bounds)
            rejected += fit.f_test("x1 = x2, x1 = 0.2").pvalue < 0.05
            found += fit.f_test("x1 = 0, x2 = 0").pvalue < 0.05
    assert binomtest(rejected, 30, 0.05).pvalue > 1e-3 and found == 30


def test_a_joint_test_needs_standard_errors():
    result, _ = close_line(400, epsilon=4, method="noisy_stats")
    with pytest.raises(dp.NotReleasedError, match="no joint test"):
        result.f_test("x = 0, Intercept = 0")


def test_the_sums_behind_a_fit_give_it_back():
    for method in ("noisy_moments", "adassp"):
        result, _ = close_line(epsilon=3, method=method)
        sums = Sums.of(stacked([result.release], 2))
        np.testing.assert_allclose(sums.transform @ sums.theta + sums.shift, result.params)


def test_a_pivot_takes_combinations_in_any_units():
    data = dp.simulate.line(1000, seed=1)
    shifted = {"x": 1990 + 30 * data["x"], "y": 5e4 * data["y"] - 1e4}
    with dp.testing.insecure_seed(1):
        unit = dp.dp_ols("y ~ x", data, method="noisy_moments", epsilon=2, bounds=UNIT)
    with dp.testing.insecure_seed(1):
        user = dp.dp_ols("y ~ x", shifted, method="noisy_moments", epsilon=2,
                         bounds={"x": (1990, 2020), "y": (-1e4, 4e4)})  # fmt: skip
    ends = [fit.prediction_intervals()[["mean_ci_lower", "mean_ci_upper"]] for fit in (unit, user)]
    np.testing.assert_allclose(5e4 * ends[0] - 1e4, ends[1], rtol=1e-4)
    slopes = [fit.conf_int().loc["x"] for fit in (unit, user)]
    np.testing.assert_allclose(slopes[0] * 5e4 / 30, slopes[1], rtol=1e-4)
    np.testing.assert_allclose(unit.pvalues["x"], user.pvalues["x"], atol=1e-5)
    assert math.isclose(
        -unit.t_test("-x = 0").effect[0], unit.t_test("x = 0").effect[0], rel_tol=1e-12
    )
    flipped = unit.t_test("-x = 0").conf_int()[0]
    np.testing.assert_allclose(-flipped[::-1], unit.t_test("x = 0").conf_int()[0])


def test_a_stack_of_nothing_has_no_inference():
    empty = uncertainty(stacked([], 2))
    assert empty.intervals(np.eye(2), 0.05).shape == (0, 2, 2)
