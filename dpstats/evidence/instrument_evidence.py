"""Hold what noisy Newton steps tell of a regression with instruments."""

from dataclasses import dataclass

import numpy as np

from dpstats.evidence.by_coefficient import NewtonEvidence
from dpstats.evidence.evidence import Matrix
from dpstats.inference import Estimate, GoodnessOfFit, InstrumentWald, Uncertainty, first_stage_f

_NO_FIT = (
    "residuals of a regression with instruments tell no share of variance, so there is no "
    "R-squared, and their own variance is not released"
)


@dataclass(frozen=True, kw_only=True, eq=False)
class InstrumentEvidence(NewtonEvidence):
    """Hold the same as of least squares, and the coefficients of k instruments.

    Parameters
    ----------
    reduced : (2, k)
        Coefficients of the response and of the endogenous regressor; NaN where noise hides them.
    reduced_cov : (2 k, 2 k)
        Their covariance.
    """

    reduced: Matrix
    reduced_cov: Matrix

    def uncertainty(self, params: np.ndarray, cov: np.ndarray) -> Uncertainty:
        """Derive the distributions of the errors of a stack, by first-stage F statistics."""
        pairs = zip(self.reduced, self.reduced_cov, strict=True)
        strength = np.sqrt([first_stage_f(coefficients, cov) for coefficients, cov in pairs])
        bounded = np.zeros(len(params), dtype=bool)
        clusters = np.full(len(params), np.nan) if self.clusters is None else self.clusters
        return InstrumentWald(
            params, cov, bounded, self.hidden_cov, clusters=clusters, strength=strength
        )

    @property
    def model(self) -> str:
        """Return linearmodels' name of the estimator."""
        return "IV-2SLS"

    def goodness(
        self, columns: int, constant: np.ndarray | None, public: Estimate
    ) -> GoodnessOfFit:
        """Return the number of rows alone."""
        rows = self.counted(public, self.fit_rows, self.fit_rows_error)
        is_centred = constant is not None
        return GoodnessOfFit(rows, columns=columns, is_centred=is_centred, reason=_NO_FIT)
