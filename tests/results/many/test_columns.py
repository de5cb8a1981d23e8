"""What a private fit puts into its column."""

import numpy as np
import pytest

import dpstats as dp
from dpstats.results.many.columns import column_of

UNIT = {"x": (0, 1), "y": (0, 1)}


@pytest.fixture(scope="module")
def data():
    return dp.simulate.line(3000, x_sd=0.2, seed=1)


def fit(data, method="noisy_newton", epsilon=4.0, **more):
    with dp.testing.insecure_seed(1):
        return dp.dp_ols("y ~ x", data, method=method, epsilon=epsilon, **more)


def test_what_is_released_stands_in_the_column(data):
    result = fit(data)
    column = column_of(result)
    own = column.quantities.loc[list(column.names)]
    np.testing.assert_array_equal(own["estimate"], result.params)
    np.testing.assert_array_equal(own["std_error"], result.bse)
    np.testing.assert_array_equal(own["p_value"], result.pvalues)
    np.testing.assert_array_equal(own[["lower", "upper"]], result.conf_int())
    rows, error = result.fit_statistics.loc["nobs"]
    assert column.facts["N"] == f"{rows:.0f} ({error:.0f})" != "3000"
    assert column.hidden() == [] and column.private
    assert column.quantities["p_value"].isna().tolist() == [False, False, True, True]


def test_no_p_value_stands_where_the_interval_is_unbounded_or_missing(data):
    few = fit(data.head(40), epsilon=0.3)
    assert np.isinf(few.conf_int()).all(axis=None) and few.params.notna().all()
    without = fit(data, "exp_theil_sen", bounds=UNIT)
    assert without.conf_int().isna().all(axis=None)
    for result in (few, without):
        column = column_of(result)
        assert column.hidden() == ["Intercept", "x"]
        assert column.quantities["p_value"].isna().all()


def test_a_finite_p_value_beside_an_unbounded_interval_is_hidden(data, monkeypatch):
    """Were one ever to be released, a star would say more than the interval does."""
    result = fit(data)
    ends = result.conf_int()
    ends.loc["x"] = -np.inf, np.inf
    monkeypatch.setattr(type(result), "conf_int", lambda self, alpha=0.05: ends)
    assert result.pvalues["x"] < 0.01
    assert column_of(result).hidden() == ["x"]


def test_a_fit_of_nothing_hides_no_estimate(data):
    column = column_of(fit(data.head(1), "exp_theil_sen", bounds=UNIT))
    assert column.quantities["estimate"].isna().all() and column.hidden() == []


def test_caveats_begin_with_the_guarantee(data):
    assert column_of(fit(data)).caveats[0].startswith("NOT PRIVATE, made under insecure_seed")
    real = dp.dp_ols("y ~ x", data, epsilon=4)
    said = column_of(real).caveats[0]
    assert said.startswith("differentially private with epsilon = 4 and delta = 1e-06: whether")
