"""What a result says about its own error: intervals, tests and bounds from released numbers."""

from dataclasses import replace
from functools import cached_property

import numpy as np
import pandas as pd

from dpstats.errors import NotReleasedError
from dpstats.formula import linear_constraints
from dpstats.inference import (
    UNBOUNDED,
    FTest,
    Sums,
    TTest,
    Uncertainty,
    deviations,
    stacked,
    uncertainty,
)
from dpstats.inference.hypothesis_tests import joint_test
from dpstats.option_checks import checked_alpha, whole
from dpstats.results.error_bounds import checked_q, checked_trials, from_reference, from_sums


class Inferred:
    """Coefficients, standard errors, intervals and tests under statsmodels' names.

    It is the part of :class:`~dpstats.results.single.DPResults` that reads ``release``, ``names``,
    ``points``, ``x_new`` and the public facts, and never the data.
    """

    @property
    def status(self) -> str:
        """ "ok", a released failure, or "not_identified": intervals are unbounded."""
        unbounded = self.release.status == "ok" and self.uncertainty.unbounded[0]
        return "not_identified" if unbounded else self.release.status

    @property
    def reasons(self) -> dict[str, str]:
        """Why a quantity is NaN or infinite, by attribute."""
        reasons = dict(self.release.reasons)
        if self.status == "not_identified":
            reasons = {"bse": UNBOUNDED, **reasons, "conf_int": UNBOUNDED}
        return reasons

    @property
    def params(self) -> pd.Series:
        """Private coefficients."""
        return pd.Series(self.release.params, self.names)

    @property
    def predictions(self) -> pd.Series:
        """Private predictions at x_new, by label."""
        return pd.Series(self.release.predictions, self.points)

    @cached_property
    def uncertainty(self) -> Uncertainty:
        """What the release says about its own error."""
        return uncertainty(stacked([self.release], len(self.names)))

    @property
    def cov_type(self) -> str:
        """ "nonrobust" or "HC1", as in statsmodels: whether errors are taken as of one variance."""
        return (self.release.companion or self.release).cov_type

    def cov_params(self) -> pd.DataFrame:
        """Covariance of the coefficients, privacy noise included; NaN when unavailable."""
        return pd.DataFrame(self.uncertainty.covariance()[0], self.names, self.names)

    @property
    def bse(self) -> pd.Series:
        """Standard errors, privacy noise included; NaN when unavailable."""
        return pd.Series(self._errors(np.eye(len(self.names))), self.names)

    @property
    def tvalues(self) -> pd.Series:
        """Coefficients (of the companion, where there is one) over standard errors."""
        return (self.params if self.companion is None else self.companion) / self.bse

    @property
    def companion(self) -> pd.Series | None:
        """Coefficients of the companion fit, about which the intervals are; None without one."""
        release = self.release.companion
        return None if release is None else pd.Series(release.params, self.names)

    @property
    def pvalues(self) -> pd.Series:
        """Two-sided p-values of each coefficient = 0."""
        size = len(self.names)
        return pd.Series(self.uncertainty.p_values(np.eye(size), np.zeros(size))[0], self.names)

    def conf_int(self, alpha: float = 0.05) -> pd.DataFrame:
        """Intervals of level 1 - alpha, one row a coefficient, columns 0 and 1.

        Privacy noise is part of them. They are infinite where the release is compatible with
        coefficients of any size, and NaN where no valid interval exists (see ``reasons``).

        Raises
        ------
        ArgumentError
            Unless 0 < alpha < 1.
        """
        return pd.DataFrame(self._intervals(np.eye(len(self.names)), alpha), self.names)

    def _intervals(self, rows: np.ndarray, alpha: float) -> np.ndarray:
        """Intervals (q, 2) of linear combinations (q, S) of the coefficients."""
        return self.uncertainty.intervals(rows, checked_alpha(alpha))[0]

    def _errors(self, rows: np.ndarray) -> np.ndarray:
        return deviations(self.uncertainty.covariance(), rows)[0]

    def predict(self, newdata, interval: bool = False, alpha: float = 0.05):
        """Predictions at public new data; costs no budget.

        Parameters
        ----------
        newdata : mapping or data frame
            A column for each variable on the right-hand side of the formula.
        interval : bool
            Also the standard error and the interval of each mean.
        alpha : float
            One minus the level of the intervals.

        Returns
        -------
        pandas.Series or pandas.DataFrame
            With ``interval`` the columns ``mean``, ``mean_se``, ``mean_ci_lower`` and
            ``mean_ci_upper``, as of statsmodels' ``get_prediction().summary_frame()``.

        Raises
        ------
        ArgumentError
            For a missing column, an unknown level or a missing value.
        """
        rows, response = self._design().predictors(newdata), (-np.inf, np.inf)
        if self.limits is not None:
            low, high, response = self.limits
            rows = np.clip(rows, low, high)
        index = newdata.index if isinstance(newdata, pd.DataFrame) else None
        mean = pd.Series(np.clip(rows @ self.release.params, *response), index)
        return self._with_intervals(mean, rows, alpha) if interval else mean

    def prediction_intervals(self, alpha: float = 0.05) -> pd.DataFrame:
        """The predictions at x_new (p25 and p75) with their standard errors and intervals."""
        return self._with_intervals(self.predictions, self.x_new, alpha)

    def _with_intervals(self, mean: pd.Series, rows: np.ndarray, alpha: float) -> pd.DataFrame:
        low, high = self._intervals(rows, alpha).T
        columns = {"mean": mean, "mean_se": self._errors(rows)}
        return pd.DataFrame({**columns, "mean_ci_lower": low, "mean_ci_upper": high}, mean.index)

    def error_bound(self, q: float = 68, *, reference=None, trials: int = 400, **options):
        """How far this release is likely to be from least squares on the same private rows.

        Simulated from released values, so it costs nothing and works without the data:
        the mechanism is run again, ``trials`` times, on what the release says about the rows.
        The error of sampling is not in it; see ``conf_int``.

        Parameters
        ----------
        q : float
            Percentile of the absolute error, in (0, 100].
        reference : data frame, optional
            Public rows that resemble the private ones, for methods that release too little
            about the regressors and errors: all but ``noisy_moments`` and ``adassp``.
        trials : int
        **options
            Options of the method that the fit was called with; only with ``reference``.

        Returns
        -------
        pandas.Series
            A bound for each coefficient and prediction, infinite where more than 100 - q% of
            the simulated releases fail.

        Raises
        ------
        NotReleasedError
            Where a reference is needed.
        """
        q, trials = checked_q(q), checked_trials(trials)
        rows = np.vstack([np.eye(len(self.names)), self.x_new])
        sums = Sums.of(stacked([replace(self.release, companion=None)], len(self.names)))
        if sums is None:
            bound = from_reference(
                self, self.params, reference, rows, self.nobs, q, trials, options
            )
        else:
            bound = from_sums(sums, rows, q, trials)
        return pd.Series(bound, [*self.names, *self.points])

    def bootstrap(self, alpha: float = 0.05, draws: int = 2000) -> pd.DataFrame:
        """Intervals by the parametric bootstrap, of level 1 - alpha, as in ``conf_int``.

        Releases are simulated from the released sums, errors and noise drawn anew, and their
        deviations from the estimate turned around it. An alternative to ``conf_int`` where the
        noise is small beside the data; with much noise ``conf_int`` is the safer one.

        Raises
        ------
        NotReleasedError
            For methods other than ``noisy_moments`` and ``adassp``.

        References
        ----------
        Ferrando, Wang and Sheldon (2022), Parametric bootstrap for differentially private
        confidence intervals, AISTATS.
        """
        alpha, draws = checked_alpha(alpha), whole("draws", 1)(draws)
        stack = stacked([self.release], len(self.names))
        sums = Sums.of(stack)
        if sums is None or self.bse.isna().any():
            why = self.reasons.get("bse", f"{self.method} releases no sums to simulate from")
            raise NotReleasedError(f"there is no bootstrap of this fit: {why}")
        fits = sums.replicates(sums.theta, draws, sampling=True)
        estimate = sums.transform @ sums.theta + sums.shift
        low, high = np.nanquantile(fits, [1 - alpha / 2, alpha / 2], axis=0)
        return pd.DataFrame(np.column_stack([2 * estimate - low, 2 * estimate - high]), self.names)

    def t_test(self, hypotheses, alpha: float = 0.05) -> TTest:
        """Test linear hypotheses about the coefficients, each on its own.

        Parameters
        ----------
        hypotheses : str, sequence, mapping or array
            As in statsmodels: ``"x1 = x2"``, ``"x1 + x2 = 1, x3 = 0"``, or a matrix with a row of
            weights for each hypothesis that a combination of coefficients is 0.
        alpha : float
            One minus the level of the intervals.

        Raises
        ------
        ArgumentError
            For hypotheses that cannot be read or follow from each other.
        """
        R, r = linear_constraints(self.names, hypotheses)
        release = self.release.companion or self.release
        effect, sd = R @ release.params, self._errors(R)
        return TTest(
            names=tuple(f"c{i}" for i in range(len(r))),
            effect=effect,
            sd=sd,
            tvalue=(effect - r) / sd,
            pvalue=self.uncertainty.p_values(R, r)[0],
            intervals=self._intervals(R, alpha),
            alpha=float(alpha),
            reasons=self._why_no_errors(R),
        )

    def _why_no_errors(self, rows: np.ndarray) -> tuple[str, ...]:
        """Why the standard errors of some combinations are NaN; empty where none is."""
        reason = self.reasons.get("bse", "")
        return (reason,) * bool(reason and np.isnan(self._errors(rows)).any())

    def f_test(self, hypotheses) -> FTest:
        """Test linear hypotheses about the coefficients jointly.

        One hypothesis is tested as in ``t_test``, several by Monte Carlo under the restricted
        fit, with a fixed public seed; the smallest p-value is then 1 / 5000.

        Parameters
        ----------
        hypotheses
            As in ``t_test``.

        Raises
        ------
        NotReleasedError
            For several hypotheses about a fit without standard errors.

        References
        ----------
        Alabi and Vadhan (2022), Hypothesis testing for differentially private linear
        regression, NeurIPS.
        """
        R, r = linear_constraints(self.names, hypotheses)
        if len(r) == 1:
            test = self.t_test(hypotheses)
            value, p = float(test.tvalue[0] ** 2), float(test.pvalue[0])
            return FTest(value, p, 1, test.reasons)
        sums = Sums.of(stacked([self.release], len(self.names)))
        if sums is None or self.bse.isna().any():
            why = self.reasons.get("bse", f"{self.method} releases no sums to simulate from")
            raise NotReleasedError(f"there is no joint test of this fit: {why}")
        return joint_test(sums, self.uncertainty.covariance()[0], R, r)
