"""Serve tables of other packages: broom's columns and statsmodels' names."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpstats.errors import NotReleasedError
from dpstats.privacy import PrivacyReport
from dpstats.results.one.margins import Margins

# broom's names of the columns of a table of coefficients
TIDY = ("term", "estimate", "std.error", "statistic", "p.value", "conf.low", "conf.high")
GLANCE = (
    *("r.squared", "adj.r.squared", "sigma", "df.residual", "nobs"),
    *("epsilon", "delta", "method", "neighbors", "status", "private"),
)


@dataclass(frozen=True)
class ModelNames:
    """Hold the names that statsmodels' tables read from ``result.model``; it has no rows.

    Attributes
    ----------
    endog_names : str
        The response.
    exog_names : list of str
        The coefficients.
    formula : str
    """

    endog_names: str
    exog_names: list[str]
    formula: str

    def __getattr__(self, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        raise NotReleasedError(
            f"model.{name} does not exist for a private fit: a result keeps no rows; "
            "model.endog_names, model.exog_names and model.formula do"
        )


class Tabulated(Margins):
    """Add to a fit the methods that tables of other packages call.

    ``summary_col`` of statsmodels and ``ETable`` of maketables, on which pyfixest's ``etable``
    rests, take a fit beside their own; ``tidy`` and ``glance`` give data frames for any other.
    """

    privacy: PrivacyReport

    @property
    def model(self) -> ModelNames:
        """Return the names of the response and the coefficients, which ``summary_col`` reads."""
        response = self.parsed_formula.response
        return ModelNames(response, list(self.names), str(self.formula))

    def tidy(self, alpha: float = 0.05) -> pd.DataFrame:
        """Tabulate the coefficients as R's broom does.

        Returns
        -------
        pandas.DataFrame
            A row per coefficient; columns ``term``, ``estimate``, ``std.error``, ``statistic``,
            ``p.value``, ``conf.low`` and ``conf.high`` (of level 1 - alpha). What was not released
            is NaN, for a reason in ``reasons``.

        Examples
        --------
        >>> import dpstats as dp
        >>> df = dp.simulate.line(5000, seed=1)
        >>> res = dp.dp_ols("y ~ x", df, epsilon=4, method="adassp",
        ...                 bounds={"x": (0, 1), "y": (0, 1)})
        >>> res.tidy()["term"].tolist(), res.glance()["method"].item()
        (['Intercept', 'x'], 'adassp')
        """
        low, high = np.asarray(self.conf_int(alpha)).T
        columns = self.names, self.params, self.bse, self.tvalues, self.pvalues, low, high
        return pd.DataFrame(dict(zip(TIDY, map(np.asarray, columns), strict=True)))

    def glance(self) -> pd.DataFrame:
        """Summarise the fit in one row, as R's broom does.

        Returns
        -------
        pandas.DataFrame
            ``r.squared``, ``adj.r.squared``, ``sigma``, ``df.residual`` and ``nobs`` as released,
            NaN where they were not; then ``epsilon``, ``delta``, ``method``, ``neighbors``,
            ``status`` and ``private``. There is no likelihood, and so no AIC and BIC.
        """
        figures = {
            "r.squared": self.rsquared,
            "adj.r.squared": self.rsquared_adj,
            "sigma": float(np.sqrt(self._goodness.scale.value)),
            "df.residual": self.df_resid,
            "nobs": self.nobs,
        }
        row = figures | facts(self) | {"status": self.status}
        return pd.DataFrame([row], columns=list(GLANCE))


def facts(result) -> dict:
    """Collect method and guarantee of a fit or of groups, by broom's and our names."""
    report = result.privacy
    return {
        "epsilon": report.epsilon,
        "delta": report.delta,
        "method": result.method,
        "neighbors": report.neighbors,
        "private": report.private,
    }
