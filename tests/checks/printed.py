"""What a printed table of regressions may not say."""

import numpy as np
import pandas as pd
import statsmodels.formula.api as smf

import dpstats as dp

ROWS = 3000


def _fit(neighbors: str = "add_remove") -> dp.DPResults:
    line = dp.simulate.line(ROWS, x_sd=0.2, seed=1)
    with dp.testing.insecure_seed(1):
        return dp.dp_ols("y ~ x", line, epsilon=4, neighbors=neighbors)


def check_number_of_rows() -> None:
    """The number of rows is exact where neighbours have as many, and noisy where they have not."""
    for neighbors, exact in (("add_remove", False), ("replace_one", True)):
        fit = _fit(neighbors)
        rows, error = fit.fit_statistics.loc["nobs"]
        assert (fit.public_rows == ROWS) == (fit.nobs == ROWS) == exact
        assert (error == 0) == exact and fit.nobs == round(rows)


def check_no_star_where_nothing_is_shown() -> None:
    """An unbounded interval prints no star, even where a p-value is small."""
    fit = _fit()
    assert fit.pvalues["x"] < 0.01
    ends = pd.DataFrame([[-np.inf, np.inf]] * 2, fit.names)
    object.__setattr__(fit, "conf_int", lambda alpha=0.05: ends)
    text = str(dp.compare(fit, stars=True, keep=["x"]))
    (row,) = [line for line in text.splitlines() if line.startswith("x ")]
    assert "*" not in row and "no stars at x" in " ".join(text.split())


def check_columns_of_ols_say_so() -> None:
    """A column computed without noise is never taken for a private one."""
    ols = smf.ols("y ~ x", dp.simulate.line(100, seed=1)).fit()
    table = dp.compare(_fit(), ols=[ols])
    for text in (table.summary(), table.to_html(), table.to_latex(), table.to_markdown()):
        assert "(2): NOT PRIVATE, computed from the rows without noise" in " ".join(text.split())
    assert set(table.frame.query("result == '(2)'")["status"]) == {"not private"}
