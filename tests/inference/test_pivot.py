"""Intervals, tests and error bounds from releases: they cover, and nothing but the release enters.

All seeds are fixed. A coverage is refused when its Clopper-Pearson interval of level 99.9% lies
below 95%, which a correct one does once in 2,000 choices of a seed.
"""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

import dpstats as dp
from benchmarks import coverage
from dpstats.evidence import Stack
from dpstats.inference import deviations, pivot
from dpstats.numerics.normal_laplace import tail
from tests.checks.pivot import UNIT, close_line


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
        normal, _ = pivot._distribution(sums, scales, squared, r, line, spread, theta)
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
    while result.release.status == "failed":
        result = close_line(100, epsilon=0.2, method=method)[0]
    assert result.status == "not_identified"
    assert np.isinf(result.conf_int()).all(axis=None) and result.bse.isna().all()
    assert "no slope is identified" in result.reasons["conf_int"]
    assert "no slope is identified" in str(result.summary()) and "inf" in str(result.summary())
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


def test_the_sums_behind_a_fit_give_it_back():
    for method in ("noisy_moments", "adassp"):
        result, _ = close_line(epsilon=3, method=method)
        sums = result.release.evidence.sums()
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
    empty = Stack.of([], 2).uncertainty()
    assert empty.intervals(np.eye(2), 0.05).shape == (0, 2, 2)


def test_standard_errors_of_many_coefficients_are_those_of_any_combinations():
    """With more than 64 coefficients a combination of one is read off the diagonal."""
    generator = np.random.default_rng(0)
    root, size = generator.normal(size=(2, 80, 80)), 80
    cov = root @ root.transpose(0, 2, 1)
    eye = np.eye(size)
    rows = np.vstack([eye, generator.normal(size=(3, size)), -2 * eye[5:6], np.zeros((1, size))])
    expected = np.sqrt(np.einsum("qs,gst,qt->gq", rows, cov, rows))
    np.testing.assert_allclose(deviations(cov, rows), expected, rtol=1e-10, atol=1e-12)
    assert deviations(cov[:0], rows).shape == (0, len(rows))
