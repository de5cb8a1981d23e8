"""What tables of other packages take from a fit: broom's columns and statsmodels' names."""

import maketables
import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from statsmodels.iolib.summary2 import summary_col

import dpstats as dp

UNIT = {"x": (0, 1), "y": (0, 1)}


@pytest.fixture(scope="module")
def data():
    return dp.simulate.line(3000, x_sd=0.2, seed=1)


def fit(data, method="noisy_moments", **more):
    with dp.testing.insecure_seed(1):
        return dp.dp_ols("y ~ x", data, method=method, epsilon=8, bounds=UNIT, **more)


def test_tidy_has_the_columns_of_broom(data):
    res = fit(data)
    table = res.tidy(alpha=0.1).set_index("term")
    assert [*table] == ["estimate", "std.error", "statistic", "p.value", "conf.low", "conf.high"]
    assert list(table.index) == ["Intercept", "x"]
    columns = res.params, res.bse, res.tvalues, res.pvalues
    for name, column in zip(table, columns, strict=False):
        np.testing.assert_array_equal(table[name], column)
    np.testing.assert_array_equal(table[["conf.low", "conf.high"]], res.conf_int(0.1))


def test_glance_has_one_row_of_what_was_released(data):
    res = fit(data, "adassp")
    row = res.glance().iloc[0]
    figures = res.fit_statistics["estimate"]
    assert row["nobs"] == round(figures["nobs"]) and row["r.squared"] == figures["rsquared"]
    assert row["adj.r.squared"] == figures["rsquared_adj"]
    assert row["sigma"] ** 2 == pytest.approx(figures["scale"])
    assert row["df.residual"] == figures["df_resid"]
    facts = row[["epsilon", "delta", "method", "neighbors", "status", "private"]]
    assert facts.tolist() == [8, 1e-6, "adassp", "add_remove", "ok", False]
    assert len(res.glance()) == 1 and "AIC" not in row


def test_what_was_not_released_is_nan(data):
    res = fit(data, "exp_theil_sen")
    table, row = res.tidy(), res.glance().iloc[0]
    assert table["estimate"].notna().all() and "bse" in res.reasons
    assert (
        table[["std.error", "statistic", "p.value", "conf.low", "conf.high"]].isna().all(axis=None)
    )
    assert np.isnan(row["r.squared"]) and row["nobs"] == 3000


def test_summary_col_sets_a_fit_beside_least_squares(data):
    res, ols = fit(data), smf.ols("y ~ x", data).fit()
    (table,) = summary_col([res, ols], model_names=["private", "ols"], stars=True).tables
    assert table["private"]["x"] == f"{res.params['x']:.4f}***"
    assert table["private"].iloc[3] == f"({res.bse['x']:.4f})"
    assert table["ols"]["x"] == f"{ols.params['x']:.4f}***"
    counts, noisy = {"N": lambda fitted: f"{fitted.nobs:.0f}"}, fit(data, "noisy_newton")
    (table,) = summary_col([res, noisy], info_dict=counts, model_names=["y", "noisy"]).tables
    assert table["y"]["N"] == "3000" and noisy.public_rows is None
    assert table["noisy"]["N"] == str(noisy.nobs) and 0 < abs(noisy.nobs - 3000) < 300
    assert table["y"]["R-squared"] == f"{res.rsquared:.4f}"


def test_etable_of_maketables_takes_a_fit(data):
    res, ols = fit(data), smf.ols("y ~ x", data).fit()
    noisy = fit(data, "noisy_newton")
    table = maketables.ETable([res, ols, fit(data, "exp_theil_sen"), noisy]).df
    counts = table.loc[pd.IndexSlice[:, "Observations"], :].to_numpy().ravel().tolist()
    assert counts == ["3,000", "3,000", "3,000", f"{noisy.nobs:,}"]
    cells = table.loc[pd.IndexSlice[:, "x"], :].to_numpy().ravel().tolist()
    assert [cell.split("*")[0] for cell in cells[:2]] == [
        f"{fitted.params['x']:.3f}" for fitted in (res, ols)
    ]
    assert f"({res.bse['x']:.3f})" in cells[0]


def test_fits_of_every_kind_print_their_number_of_rows():
    rng = np.random.default_rng(1)
    rows = pd.DataFrame(rng.normal(size=(2000, 2)), columns=["z", "e"])
    rows = rows.assign(d=rows["z"] + rows["e"], up=rows["e"] > 0, count=rng.poisson(3, 2000))
    rows["y"] = rows["d"] + rows["e"]
    with dp.testing.insecure_seed(1):
        fits = [
            dp.dp_logit("up ~ z", rows, epsilon=4),
            dp.dp_poisson("count ~ z", rows, epsilon=4),
            dp.dp_iv("y ~ [d ~ z]", rows, epsilon=4),
            dp.dp_ols("y ~ z", rows, epsilon=4),
        ]
    (table,) = summary_col(fits, info_dict={"N": lambda each: f"{each.nobs:,}"}).tables
    assert table.loc["N"].tolist() == [f"{each.nobs:,}" for each in fits]
    printed = maketables.ETable(fits).df
    counts = printed.loc[pd.IndexSlice[:, "Observations"], :].to_numpy().ravel().tolist()
    assert counts == table.loc["N"].tolist()
    cells = printed.loc[pd.IndexSlice[:, "z"], :].to_numpy().ravel().tolist()
    assert [bool(cell) for cell in cells] == [True, True, False, True]
    squared = printed.loc[pd.IndexSlice[:, "R²"], :].to_numpy().ravel().tolist()
    assert squared[:3] == ["-"] * 3
    assert float(squared[3]) == pytest.approx(fits[3].rsquared, abs=0.006)


def test_the_model_has_names_and_no_rows(data):
    model = fit(data).model
    assert (model.endog_names, model.exog_names) == ("y", ["Intercept", "x"])
    assert model.formula == "y ~ x"
    for name in ("exog", "endog", "data", "fit", "nobs"):
        assert not hasattr(model, name)
        with pytest.raises(dp.NotReleasedError, match=rf"model\.{name} .* keeps no rows; .*names"):
            getattr(model, name)
