"""Columns of fits that are not private: figures as their packages print them, and a stamp."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf

import dpstats as dp
from dpstats.results.many.non_private_columns import non_private_column


@pytest.fixture(scope="module")
def data():
    line = dp.simulate.line(500, x_sd=0.2, seed=1)
    return line.assign(z=(line["y"] > 0.5) * 1, g=np.arange(500) % 10)


def same(column, fit, names) -> None:
    """The column has the figures of a fit of statsmodels."""
    own = column.quantities
    assert column.names == tuple(own.index) == names and column.points == ()
    np.testing.assert_allclose(own["estimate"], fit.params)
    np.testing.assert_allclose(own["std_error"], fit.bse)
    np.testing.assert_allclose(own["p_value"], fit.pvalues)
    np.testing.assert_allclose(own[["lower", "upper"]], fit.conf_int())


def test_least_squares_of_statsmodels(data):
    fit = smf.ols("y ~ x", data).fit(cov_type="HC1")
    column = non_private_column(fit)
    same(column, fit, ("Intercept", "x"))
    facts = {"response": "y", "method": "OLS", "N": "500", "private": "NO"}
    assert facts.items() <= column.facts.items()
    assert column.facts["R-squared"] == f"{fit.rsquared:.3f}"
    assert column.facts["R-squared Adj."] == f"{fit.rsquared_adj:.3f}"
    assert column.caveats[0].startswith("NOT PRIVATE") and not column.private
    assert column.status == "not private"


def test_arrays_and_logit_of_statsmodels(data):
    plain = sm.OLS(data["y"].to_numpy(), sm.add_constant(data["x"].to_numpy())).fit()
    same(non_private_column(plain), plain, ("const", "x1"))
    logit = smf.logit("z ~ x", data).fit(disp=0)
    column = non_private_column(logit)
    same(column, logit, ("Intercept", "x"))
    assert column.facts["method"] == "Logit" and column.facts["R-squared"] == ""


def test_absorbed_effects_of_pyfixest(data):
    pyfixest = pytest.importorskip("pyfixest")
    fit = pyfixest.feols("y ~ x | g", data, vcov="iid")
    column = non_private_column(fit)
    table = fit.tidy()
    np.testing.assert_allclose(column.quantities["std_error"], table["Std. Error"])
    np.testing.assert_allclose(column.quantities["upper"], table["97.5%"])
    assert column.names == ("x",) and column.facts["N"] == "500"
    assert column.facts["R-squared"] == f"{fit._r2:.3f}" and column.facts["response"] == "y"
    assert non_private_column(pyfixest.fepois("z ~ x", data)).facts["R-squared"] == ""


def test_names_of_linearmodels():
    """It is no dependency, so this is a stand-in with the names of its results."""
    terms = ["x", "d"]
    part = pd.Series([0.5, 0.25], terms)
    fit = SimpleNamespace(
        params=part, std_errors=part / 10, pvalues=part / 100, nobs=90, rsquared=0.5,
        rsquared_adj=0.4, conf_int=lambda: pd.DataFrame({"lower": part - 1, "upper": part + 1}),
        model=SimpleNamespace(dependent=SimpleNamespace(vars=["y"])),
    )  # fmt: skip
    column = non_private_column(fit)
    assert column.facts["response"] == "y" and column.facts["N"] == "90"
    assert column.quantities["std_error"].tolist() == [0.05, 0.025]


def test_what_is_no_such_fit_is_refused(data):
    for other in (3, "ols", data, smf.ols("y ~ x", data), SimpleNamespace(params=[1], bse=[1])):
        with pytest.raises(dp.ArgumentError, match="ols to list fits of .* got a"):
            non_private_column(other)
    with dp.testing.insecure_seed(1):
        private = dp.dp_ols("y ~ x", data, epsilon=4)
    with pytest.raises(dp.ArgumentError, match=r"not private, .*compare\(fit, ols=\[\.\.\.\]\)"):
        non_private_column(private)
