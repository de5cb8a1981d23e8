"""Hold rows in whitened directions, and add up what they have there, in whole numbers."""

from dpstats.estimators.newton.row_sums.indicator_basis import IndicatorBasis
from dpstats.estimators.newton.row_sums.loss import Loss, Residuals
from dpstats.estimators.newton.row_sums.pair_rows import PairRows
from dpstats.estimators.newton.row_sums.scores import Scores

__all__ = ["IndicatorBasis", "Loss", "PairRows", "Residuals", "Scores"]
