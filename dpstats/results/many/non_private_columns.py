"""Read the columns of fits of other packages, which are not private, for a table of regressions."""

import numpy as np
import pandas as pd

from dpstats.errors import ArgumentError, typed
from dpstats.results.many.columns import Column
from dpstats.results.one import DPResults

_CAVEAT = (
    "NOT PRIVATE, computed from the rows without noise; no guarantee covers what is printed there"
)


def non_private_column(fit) -> Column:
    """Read the column of a fit of statsmodels, linearmodels or pyfixest.

    Raises
    ------
    ArgumentError
        For a private fit, or anything else that has no coefficients with standard errors.
    """
    if isinstance(fit, DPResults):
        raise ArgumentError(
            "ols= takes fits that are not private, such as smf.ols(formula, data).fit(); put "
            "results of dp_ols first, as in compare(fit, ols=[...])"
        )
    read = _of_pyfixest if hasattr(fit, "_depvar") else _of_statsmodels
    try:
        return read(fit)
    except (AttributeError, KeyError, TypeError, ValueError):
        raise ArgumentError(
            "expected ols to list fits of statsmodels, linearmodels or pyfixest, as in "
            f"ols=[smf.ols(formula, data).fit()], got {typed(fit)}"
        ) from None


def _of_statsmodels(fit) -> Column:
    """Read names that linearmodels shares but for those of errors and of the response."""
    errors = fit.bse if hasattr(fit, "bse") else fit.std_errors
    model = fit.model
    response = model.endog_names if hasattr(model, "endog_names") else model.dependent.vars[0]
    ends = np.asarray(fit.conf_int(), dtype=float)
    parts = fit.params, errors, fit.pvalues, ends[:, 0], ends[:, 1]
    names = list(fit.params.index) if hasattr(fit.params, "index") else list(model.exog_names)
    squared = [getattr(fit, name, np.nan) for name in ("rsquared", "rsquared_adj", "prsquared")]
    return _column(names, parts, response, type(model).__name__, fit.nobs, squared)


def _of_pyfixest(fit) -> Column:
    """Read the table of a fit of pyfixest, and its figures, which have no public names."""
    table = fit.tidy()
    parts = (table[name] for name in ("Estimate", "Std. Error", "Pr(>|t|)", "2.5%", "97.5%"))
    squared = fit._r2, fit._adj_r2, np.nan
    return _column(list(table.index), parts, fit._depvar, fit._method, fit._N, squared)


def _column(names, parts, response, method, rows, squared) -> Column:
    """Put figures where those of private fits stand."""
    heads = "estimate", "std_error", "p_value", "lower", "upper"
    values = {head: np.asarray(part, float) for head, part in zip(heads, parts, strict=True)}
    named = pd.Index([str(name) for name in names], name="term")
    rsquared, adjusted, pseudo = ("" if np.isnan(float(x)) else f"{float(x):.3f}" for x in squared)
    facts = {
        "response": str(response),
        "method": str(method),
        "N": f"{float(rows):.0f}",
        "R-squared": rsquared,
        "R-squared Adj.": adjusted,
        "Pseudo R-squared": pseudo,
        "private": "NO",
    }
    table = pd.DataFrame(values, named)
    return Column(tuple(named), (), table, facts, "not private", (_CAVEAT,), private=False)
