"""Compute average marginal effects of a fit from its release."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpstats.errors import ArgumentError, NotReleasedError, shown
from dpstats.evidence import LinkEvidence
from dpstats.inference import Wald
from dpstats.option_checks import checked_alpha, is_word
from dpstats.results.one.simulation_mixin import Simulated


@dataclass(frozen=True, eq=False)
class MarginalEffects:
    """Hold average marginal effects with their errors, under statsmodels' names.

    Attributes
    ----------
    margeff, margeff_se : pandas.Series
        Effects on the mean, of a logit the probability, and standard errors, privacy noise
        included; these are NaN where the coefficient has none.
    degrees : float
        Degrees of freedom of Student's t, infinite but for clustered errors.
    """

    margeff: pd.Series
    margeff_se: pd.Series
    degrees: float = np.inf

    @property
    def tvalues(self) -> pd.Series:
        """Divide effects by their standard errors."""
        return self.margeff / self.margeff_se

    @property
    def pvalues(self) -> pd.Series:
        """Return the two-sided p-value of each effect = 0."""
        from scipy.special import stdtr

        return 2 * stdtr(self.degrees, -self.tvalues.abs())

    def conf_int(self, alpha: float = 0.05) -> pd.DataFrame:
        """Compute intervals of level 1 - alpha; infinite where there is no standard error.

        Raises
        ------
        ArgumentError
            Unless 0 < alpha < 1.
        """
        from scipy.special import stdtrit

        critical = -stdtrit(self.degrees, checked_alpha(alpha) / 2)
        half = (critical * self.margeff_se).fillna(np.inf)
        return pd.DataFrame({0: self.margeff - half, 1: self.margeff + half})

    def summary_frame(self, alpha: float = 0.05) -> pd.DataFrame:
        """Tabulate effects, errors, tests and intervals in statsmodels' columns."""
        low, high = self.conf_int(alpha).to_numpy().T
        letter = "t" if np.isfinite(self.degrees) else "z"
        columns = {
            "dy/dx": self.margeff, "Std. Err.": self.margeff_se, letter: self.tvalues,
            f"Pr(>|{letter}|)": self.pvalues, "Conf. Int. Low": low, "Cont. Int. Hi.": high,
        }  # fmt: skip
        return pd.DataFrame(columns)

    def summary(self, alpha: float = 0.05):
        """Lay out the table of :meth:`summary_frame` as a Summary of statsmodels."""
        from statsmodels.iolib.summary import Summary
        from statsmodels.iolib.table import SimpleTable

        frame, summary = self.summary_frame(alpha), Summary()
        cells = [[f"{value:.4f}" for value in row] for row in frame.to_numpy()]
        title = "Average Marginal Effects"
        summary.tables.append(SimpleTable(cells, list(frame), list(frame.index), title=title))
        return summary

    def __repr__(self) -> str:
        return self.summary_frame().round(4).to_string()


class Margins(Simulated):
    """Add average marginal effects."""

    def get_margeff(
        self,
        at: str = "overall",
        method: str = "dydx",
        atexog=None,
        dummy: bool = False,
        count: bool = False,
    ) -> MarginalEffects:
        """Compute average marginal effects on the mean of the response; costs nothing.

        Each is a coefficient times the mean slope over the rows, which was released with the fit:
        of a logit that of mu (1 - mu), of a Poisson regression the mean of the response. As in
        statsmodels every column counts as continuous, each power of a variable by itself. Errors
        are by the delta method, for the regressors of these rows, and tests and intervals take
        Student's t where those of coefficients do.

        Parameters
        ----------
        at : str
            ``"overall"``, the average over the rows.
        method : str
            ``"dydx"``; elasticities need means that were not released.
        atexog, dummy, count
            As statsmodels has them by default: no other values are taken.

        Returns
        -------
        MarginalEffects
            Of each column but the constant.

        Raises
        ------
        ArgumentError
            For another value of an argument.
        NotReleasedError
            Of a linear regression, whose coefficients are its marginal effects, and of a Poisson
            regression without a constant.

        Examples
        --------
        >>> import dpstats as dp
        >>> df = dp.simulate.line(5000, seed=1)
        >>> df["passed"] = df["y"] > df["y"].median()
        >>> res = dp.dp_logit("passed ~ x", df, epsilon=8)
        >>> list(res.get_margeff().summary_frame())[:2]
        ['dy/dx', 'Std. Err.']
        """
        evidence = self.release.evidence
        if not isinstance(evidence, LinkEvidence):
            raise NotReleasedError(
                "the marginal effects of a linear regression are its coefficients, params"
            )
        if not is_word(at, "overall"):
            raise ArgumentError(
                f'expected at="overall", the average over rows, got {shown(at)}; for an effect at '
                "a point compare predict(newdata)"
            )
        if not is_word(method, "dydx"):
            raise ArgumentError(
                f'expected method="dydx", effects on the mean, got {shown(method)}; elasticities '
                "need means of products over the rows, which were not released"
            )
        _check_default("atexog", atexog, None)
        _check_default("dummy", dummy, False)
        _check_default("count", count, False)
        if np.isnan(evidence.mean_slope):
            raise NotReleasedError(
                "the mean slope of a fit without a constant was not released; leave 0 + out"
            )
        params, slope = self.release.params, float(evidence.mean_slope)
        jacobian = slope * np.eye(len(params)) + np.outer(params, evidence.slope_gradient)
        cov = np.asarray(self.release.cov)
        errors = np.sqrt(np.einsum("qs,st,qt->q", jacobian, cov, jacobian))
        errors = np.where(self.bse.isna(), np.nan, errors)
        errors = np.hypot(errors, params * float(evidence.mean_slope_error))
        slopes = np.arange(len(params)) != self.design().intercept
        names = [name for name, is_one in zip(self.names, slopes, strict=True) if is_one]
        effects, errors = (slope * params)[slopes], errors[slopes]
        coefficients = self.uncertainty
        assert isinstance(coefficients, Wald), "evidence of a link gives Wald's intervals"
        degrees = float(coefficients.degrees()[0])
        return MarginalEffects(pd.Series(effects, names), pd.Series(errors, names), degrees)


def _check_default(name: str, given, default) -> None:
    """Raise ArgumentError for another value than what statsmodels has by default."""
    if given is not default:
        raise ArgumentError(
            f"expected {name}={default}, got {shown(given)}; for an effect at a point, or of a "
            "step, compare predict(newdata)"
        )
