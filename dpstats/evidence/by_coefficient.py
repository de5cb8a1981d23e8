"""Hold N, R-squared and the like with their errors, and tell which coefficients have intervals."""

import math
from dataclasses import dataclass

import numpy as np

from dpstats.evidence.evidence import Evidence, Matrix, Number, Vector, estimate
from dpstats.inference import ClusterWald, Estimate, GoodnessOfFit, Uncertainty
from dpstats.inference.goodness_of_fit import NOISY, WEIGHTED


@dataclass(frozen=True, kw_only=True, eq=False)
class FiguresEvidence(Evidence):
    """Hold N, R-squared and the residual variance, with the noise in each, as worked out.

    ``weighted_rows`` is the number of rows or units, where these have weights, with its noise.
    """

    fit_rows: Number = None
    fit_rows_error: Number = None
    fit_rsquared: Number = None
    fit_rsquared_error: Number = None
    fit_scale: Number = None
    fit_scale_error: Number = None
    weighted_rows: Number = None
    weighted_rows_error: Number = None

    def goodness(
        self, columns: int, constant: np.ndarray | None, public: Estimate
    ) -> GoodnessOfFit:
        """Return the figures."""
        rows = self.counted(public, self.fit_rows, self.fit_rows_error)
        rsquared = estimate(self.fit_rsquared, self.fit_rsquared_error)
        scale = estimate(self.fit_scale, self.fit_scale_error)
        of_weights = "" if self.weighted_rows is None else WEIGHTED
        reason = NOISY if math.isnan(rsquared.value) else of_weights
        return GoodnessOfFit(rows, rsquared, scale, columns, constant is not None, reason)

    @property
    def tells_clipping(self) -> bool:
        return True


@dataclass(frozen=True, kw_only=True, eq=False)
class NewtonEvidence(FiguresEvidence):
    """Hold what noisy Newton steps tell of a fit.

    Parameters
    ----------
    privacy_cov : (S, S)
        The part of the covariance that is of privacy noise.
    down_weighted
        The part of the rows whose scores were cut.
    hidden_rows
        The share of the rows that noise could hide far out where intervals are shown and bounds
        leave room there, else 0.
    mean_weight
        The mean weight over the largest one, where rows have weights.
    clusters, clusters_error
        The effective number of the clusters that standard errors allow for, and its noise.
    """

    privacy_cov: Matrix
    down_weighted: Number
    hidden_rows: Number = None
    mean_weight: Number = None
    clusters: Number = None
    clusters_error: Number = None

    def uncertainty(self, params: np.ndarray, cov: np.ndarray) -> Uncertainty:
        """Derive the distributions of the errors of a stack: by Student's t where clustered."""
        if self.clusters is None:
            return super().uncertainty(params, cov)
        bounded = np.zeros(len(params), dtype=bool)
        return ClusterWald(params, cov, bounded, self.hidden_cov, clusters=self.clusters)


@dataclass(frozen=True, kw_only=True, eq=False)
class BlockEvidence(FiguresEvidence):
    """Hold noisy sums in indicators and numbers, in the order of their queries.

    ``estimators.least_squares.factors`` arranges them by the blocks of a design.

    Parameters
    ----------
    gram, cross, square
        Sums of products of coordinates, (A,), of those with v, (B,), and of v^2.
    deviations : (3,)
        Standard deviations of the noise on an entry of each.
    scores, unit_scores : (A,), (C,)
        Squared scores of rows or of units, where either were released.
    scores_cut, scores_deviation, scores_kept
        Where residuals were cut for them in units of v, their noise and, for rows with weights,
        the part of the sum of squares within the cut.
    """

    gram: Vector
    cross: Vector
    square: Number
    deviations: Vector
    scores: Vector = None
    unit_scores: Vector = None
    scores_cut: Number = None
    scores_deviation: Number = None
    scores_kept: Number = None
