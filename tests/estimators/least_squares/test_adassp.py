"""SSP beside AdaSSP: the same releases, no ridge, and nothing where it would be needed."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

import dpstats as dp
from tests.checks.adassp import (
    POWERS,
    ages,
    check_powers,
    check_powers_of_neighbours,
    check_powers_row_by_row,
    check_worst_power,
)


def test_without_a_ridge_it_is_adassp(fit, line):
    results = []
    for method in ("ssp", "adassp"):
        with dp.testing.insecure_seed(1):
            results.append(fit(line, method, epsilon=100))
    plain, adaptive = results
    assert plain.params.equals(adaptive.params) and plain.bse.equals(adaptive.bse)
    assert np.isfinite(plain.bse).all()


def test_where_noise_covers_the_smallest_eigenvalue_the_mean_is_published(fit, line):
    result = fit(line, "ssp", epsilon=0.1)
    assert result.status == "not_identified"
    assert result.params["x"] == 0 and (result.predictions == result.params["Intercept"]).all()
    assert "raise epsilon" in result.reasons["bse"]
    assert len(result.privacy.events) == 3 and result.privacy.spent[0] == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("formula", "options"),
    [
        (POWERS, {}),
        ("y ~ x + I(x**2) + I(x**3) + z", {"cov_type": "HC1"}),
        ("y ~ x + I(x**2) + C(g) + z", {}),
        ("y ~ x + I(x**2) + C(g) - 1", {}),
        ("y ~ z + x + I(x**2) | s", {}),
        (POWERS, {"weights": "w"}),
        (POWERS, {"method": "shrunken"}),
        ("y ~ x + I(x**2) + C(g) + z", {"method": "shrunken"}),
    ],
)
def test_powers_have_the_limit_of_least_squares(formula, options):
    check_powers(formula, **options)


def test_powers_lose_nothing_beside_legendre_polynomials():
    """Over 40 seeds at epsilon 1, predictions have about the same errors, and all intervals.

    The quotient of two medians of 80 errors, of the same rows and noise, is within 10%.
    """
    data, points, errors = ages(5000), {"x": [25, 60]}, {}
    for formula in (POWERS, "y ~ poly(x, 2)"):
        exact = smf.ols(POWERS, data).fit().predict(pd.DataFrame(points))
        values = []
        for seed in range(40):
            with dp.testing.insecure_seed(seed):
                fit = dp.dp_ols(formula, data, method="ssp", epsilon=1,
                                bounds={"x": (20, 65), "y": (0, 5)})  # fmt: skip
            assert fit.status == "ok" and np.isfinite(fit.conf_int()).all(axis=None)
            values.append(np.abs(fit.predict(points) - exact))
        errors[formula] = np.median(values)
    assert errors[POWERS] == pytest.approx(errors["y ~ poly(x, 2)"], rel=0.1)


def test_what_a_fit_of_powers_holds_survives_json_and_inference():
    """Covariances, hypotheses and the bootstrap are about the columns that were asked for."""
    fit = check_powers(POWERS)
    again = dp.DPResults.from_json(fit.to_json())
    pd.testing.assert_frame_equal(again.cov_params(), fit.cov_params())
    theirs = smf.ols(POWERS, ages()).fit()
    np.testing.assert_allclose(fit.cov_params(), theirs.cov_params(), rtol=5e-3)
    slope_at_40 = "x + 80*I(x ** 2) = 0"
    np.testing.assert_allclose(fit.t_test(slope_at_40).effect, theirs.t_test(
        np.array([[0, 1, 80]])).effect, rtol=1e-4)  # fmt: skip


def test_no_row_of_powers_moves_a_query_further_than_stated():
    check_powers_of_neighbours()


def test_the_worst_row_of_powers_reaches_the_sensitivity():
    check_worst_power()


def test_powers_are_summed_row_by_row():
    check_powers_row_by_row()
