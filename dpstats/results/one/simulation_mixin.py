"""Answer by simulation from released numbers: error bounds, the bootstrap and joint tests."""

import numpy as np
import pandas as pd

from dpstats.errors import NotReleasedError
from dpstats.evidence import NewtonEvidence
from dpstats.formula import linear_constraints
from dpstats.inference import FTest, Sums, Wald
from dpstats.inference.hypothesis_tests import joint_test, wald_test
from dpstats.option_checks import checked_alpha, whole
from dpstats.results.one.error_bounds import (
    check_options,
    checked_q,
    checked_trials,
    from_blocks,
    from_covariance,
    from_reference,
    from_sums,
    not_needed,
    released_blocks,
)
from dpstats.results.one.fit_statistics import FitStatistics


class Simulated(FitStatistics):
    """Add error bounds, the bootstrap and joint tests, which are simulated from the release."""

    def error_bound(self, q: float = 68, *, reference=None, trials: int = 400, **options):
        """Bound the distance of this release from least squares on the same private rows.

        It is simulated from released values, so it costs nothing and works without the data:
        the mechanism is run again, ``trials`` times, on the released description of the rows.
        Sampling error is not part of it; see ``conf_int``.

        Parameters
        ----------
        q : float
            Percentile of the absolute error, in (0, 100].
        reference : data frame, optional
            Public rows that resemble the private ones, for methods that release too little
            about the regressors and errors: all but ``noisy_moments``, ``adassp``, ``ssp`` and
            ``noisy_newton``.
        trials : int
        **options
            Options of the method that the fit was called with; only with ``reference``.

        Returns
        -------
        pandas.Series
            A bound for each coefficient and prediction, infinite where more than 100 - q% of
            the simulated releases fail, or where the noise hides levels that it depends on or
            all slopes.

        Raises
        ------
        NotReleasedError
            Where a reference is needed.
        ArgumentError
            Where a reference is not needed, for options without one, or unless 0 < q <= 100.
        """
        q, trials = checked_q(q), checked_trials(trials)
        check_options(reference, options)
        rows = np.vstack([np.eye(len(self.names)), self.x_new])
        evidence = self.release.evidence
        sums, blocks = evidence.sums(), released_blocks(self, evidence)
        known = sums is not None or blocks is not None or isinstance(evidence, NewtonEvidence)
        if known and reference is not None:
            raise not_needed(self.method)
        if self.status == "not_identified" and reference is None:
            bound = np.full(len(rows), np.inf)
        elif blocks is not None:
            bound = from_blocks(blocks, np.isnan(self._errors(rows)), rows, q, trials)
        elif isinstance(evidence, NewtonEvidence):
            slopes = evidence.slopes(self.x_new @ self.release.params)
            slopes = np.append(np.ones(len(self.names)), slopes)
            with np.errstate(invalid="ignore"):  # infinite times zero
                bound = slopes * from_covariance(evidence.privacy_cov, rows, q)
        elif sums is None:
            bound = from_reference(
                self, self.params, reference, rows, self.public_rows, q, trials, options
            )
        else:
            bound = from_sums(sums, rows, q, trials)
        return pd.Series(bound, [*self.names, *self.points])

    def bootstrap(self, alpha: float = 0.05, draws: int = 2000) -> pd.DataFrame:
        """Compute intervals of level 1 - alpha by the parametric bootstrap, as ``conf_int`` does.

        Releases are simulated from the released sums, errors and noise drawn anew, and their
        deviations from the estimate turned around it. An alternative to ``conf_int`` where the
        noise is small beside the data; with much noise ``conf_int`` is the safer one. They are
        infinite where the noise hides levels that a coefficient depends on.

        Raises
        ------
        NotReleasedError
            For methods other than ``noisy_moments``, ``adassp``, ``ssp`` and ``shrunken``.

        References
        ----------
        Ferrando, Wang and Sheldon (2022), Parametric bootstrap for differentially private
        confidence intervals, AISTATS.
        """
        alpha, draws = checked_alpha(alpha), whole("draws", 1)(draws)
        blocks = released_blocks(self, self.release.basis.evidence)
        if blocks is None:
            sums = self._released_sums("bootstrap")
            fits = sums.replicates(sums.theta, draws, sampling=True)
            estimate = sums.transform @ sums.theta + sums.shift
        else:
            fits, estimate = blocks.replicates(draws, sampling=True), blocks.params
        low, high = np.nanquantile(fits, [1 - alpha / 2, alpha / 2], axis=0)
        ends = np.column_stack([2 * estimate - low, 2 * estimate - high])
        if blocks is not None:
            ends[self.bse.isna()] = -np.inf, np.inf
        return pd.DataFrame(ends, self.names)

    def f_test(self, hypotheses) -> FTest:
        """Test linear hypotheses about the coefficients jointly.

        One hypothesis is tested as in ``t_test``, several by Monte Carlo under the restricted
        fit, with a fixed public seed; the smallest p-value is then 1 / 5000. Fits without sums to
        simulate from, as of ``noisy_newton`` or with factors, are tested by the normal law, with
        ``cluster=`` by F with as many degrees of freedom as its intervals have.

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
        R, r = linear_constraints(self.names, hypotheses, joint=True)
        if len(r) == 1:
            test = self.t_test(hypotheses)
            value, p = float(test.tvalue[0] ** 2), float(test.pvalue[0])
            return FTest(value, p, 1, test.reasons)
        cov, errors = self.uncertainty.covariance()[0], self._errors(R)
        if self.release.basis.evidence.sums() is None and np.isfinite(errors).all():
            errors = self.uncertainty
            if not isinstance(errors, Wald):
                return wald_test(self._estimate(), cov, R, r)
            law = errors.degrees()[0], errors.strengths()[0]
            return wald_test(self._estimate(), cov, R, r, *law)
        return joint_test(self._released_sums("joint test"), cov, R, r)

    def _estimate(self) -> np.ndarray:
        """Return the coefficients that intervals and tests are about."""
        return self.release.basis.params

    def _released_sums(self, purpose: str) -> Sums:
        """Return the released sums to simulate from, or raise NotReleasedError with the reason."""
        sums = self.release.basis.evidence.sums()
        if sums is None or self.bse.isna().any():
            known = self.reasons.get("bse") or self.reasons.get("conf_int")
            reason = known or f"{self.method} releases no sums to simulate from"
            raise NotReleasedError(f"there is no {purpose} of this fit: {reason}")
        return sums
