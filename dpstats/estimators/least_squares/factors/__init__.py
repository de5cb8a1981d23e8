"""Sum, release and solve least squares in indicators of factors' levels and numbers.

No indicator becomes a dense column, and absorbed effects are in ``within``.
"""

from dpstats.estimators.least_squares.factors.basis import BlockBasis
from dpstats.estimators.least_squares.factors.simulation import BlockSimulation
from dpstats.estimators.least_squares.factors.sums import BlockSums, NoisyBlockSums

__all__ = ["BlockBasis", "BlockSimulation", "BlockSums", "NoisyBlockSums"]
