"""Linear hypotheses: those of statsmodels without noise, their size and power with it."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

import dpstats as dp
from benchmarks import coverage
from tests.checks.pivot import close_line

UNIT = {"x": (0, 1), "y": (0, 1)}


def test_hypotheses_are_those_of_statsmodels_where_there_is_no_noise():
    result, ols = close_line(method="adassp")
    for text in ("x = 0.48", "x = Intercept", "x + Intercept = 0.7, x = 0.5"):
        ours, theirs = result.t_test(text), ols.t_test(text, use_t=False)
        np.testing.assert_allclose(ours.effect, np.atleast_1d(theirs.effect), atol=1e-3)
        frame = theirs.summary_frame()
        np.testing.assert_allclose(ours.sd, frame["std err"], rtol=0.02)
        np.testing.assert_allclose(ours.pvalue, np.atleast_1d(theirs.pvalue), atol=0.05)
    for pair in (([[1, 1], [0, 1]], [0.7, 0.5]), (np.array([[0.0, 1.0]]), 0.5)):
        ours, theirs = result.t_test(pair), ols.t_test(pair, use_t=False)
        np.testing.assert_allclose(ours.effect, np.atleast_1d(theirs.effect), atol=1e-3)
        np.testing.assert_allclose(ours.pvalue, np.atleast_1d(theirs.pvalue), atol=0.05)
    joint = result.f_test("x + Intercept = 0.7, x = 0.5")
    theirs = ols.f_test("x + Intercept = 0.7, x = 0.5")
    assert joint.df_num == theirs.df_num == 2
    assert joint.pvalue == pytest.approx(float(theirs.pvalue), abs=0.05)


@pytest.mark.parametrize("text", ["x = ", "z = 1", "x - x = 0", 7, 10**400])
def test_hypotheses_that_cannot_be_tested_are_refused(text):
    with pytest.raises(dp.ArgumentError, match="hypothes[ei]s"):
        close_line(200)[0].t_test(text)


def test_hypotheses_that_follow_from_others_are_tested_each_by_itself():
    """So all pairs of levels may be, as in statsmodels; together they make no joint test."""
    result, several = close_line(200)[0], "x = 0, Intercept = 0, x = Intercept"
    found = result.t_test(several)
    one_by_one = [result.t_test(text).pvalue[0] for text in several.split(",")]
    np.testing.assert_allclose(found.pvalue, one_by_one)
    with pytest.raises(dp.ArgumentError, match=r"do not follow from each other, got 'x = 0, .*t_t"):
        result.f_test(several)


@pytest.mark.parametrize("matrix", [np.eye(3), (np.eye(2), np.ones(3))])
def test_a_matrix_that_does_not_fit_is_told_its_columns_in_one_line(matrix):
    with pytest.raises(dp.ArgumentError, match="^cannot .* or a matrix of 2 columns$"):
        close_line(200)[0].t_test(matrix)


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


def test_fits_without_sums_are_tested_by_the_normal_law():
    """Two true hypotheses and a false one on 4,000 rows at epsilon 8; the seed is fixed."""
    rng = np.random.default_rng(3)
    data = pd.DataFrame(rng.normal(size=(4000, 2)), columns=["a", "b"])
    data["g"] = pd.Categorical(np.where(rng.uniform(size=4000) < 0.5, "u", "v"))
    data["y"] = data["a"] + 0.3 * (data["g"] == "v") + rng.normal(size=4000)
    bounds = {"a": (-4, 4), "b": (-4, 4), "y": (-6, 6)}
    for method in ("noisy_newton", "adassp"):
        with dp.testing.insecure_seed(1):
            fit = dp.dp_ols("y ~ a + b + g", data, method=method, epsilon=8, bounds=bounds)
        true, false = fit.f_test("a = 1, b = 0"), fit.f_test("a = 0, b = 0")
        assert true.df_num == 2 and true.pvalue > 1e-3 and false.pvalue < 1e-6
        assert false.fvalue > 100
