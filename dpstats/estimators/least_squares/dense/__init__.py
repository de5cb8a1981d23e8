"""Sum products of dense design rows, release them and solve least squares from them.

Columns that stand for levels of factors have coordinates of their own in ``factors``.
"""

from dpstats.estimators.least_squares.dense.clipped_rows import ClippedSums
from dpstats.estimators.least_squares.dense.noisy_sums import NoisySums
from dpstats.estimators.least_squares.dense.shrinkage import NoisyMoments

__all__ = ["ClippedSums", "NoisyMoments", "NoisySums"]
