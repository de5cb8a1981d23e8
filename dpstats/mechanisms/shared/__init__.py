"""Share code among mechanisms: the Method class, scaled rows, sums, pairs, shrinkage."""

from dpstats.mechanisms.shared.block_basis import BlockBasis
from dpstats.mechanisms.shared.block_sampling import NoisyScores, Sampling
from dpstats.mechanisms.shared.block_scores import ScoreRule, SquaredScores
from dpstats.mechanisms.shared.block_sums import BlockSums, NoisyBlockSums
from dpstats.mechanisms.shared.block_system import BlockSystem, Eliminated
from dpstats.mechanisms.shared.clipped_rows import ClippedSums
from dpstats.mechanisms.shared.companion import Pair
from dpstats.mechanisms.shared.indicator_basis import IndicatorBasis
from dpstats.mechanisms.shared.newton_bias import Bias
from dpstats.mechanisms.shared.newton_goodness import Explained, Squares
from dpstats.mechanisms.shared.newton_queries import Queries
from dpstats.mechanisms.shared.newton_state import NewtonState
from dpstats.mechanisms.shared.newton_steps import Steps
from dpstats.mechanisms.shared.newton_whitening import Whitening
from dpstats.mechanisms.shared.noisy_sums import NoisySums
from dpstats.mechanisms.shared.release import Extremes, Problem, Reference, Release, Releases
from dpstats.mechanisms.shared.score_tails import Tail
from dpstats.mechanisms.shared.shrinkage import NoisyMoments
from dpstats.mechanisms.shared.simple_regression import Line, LineRows
from dpstats.mechanisms.shared.smooth_sensitivity import Listed, Ranked
from dpstats.mechanisms.shared.spec import Method, SecondPass
from dpstats.mechanisms.shared.within_groups import WithinSums
from dpstats.mechanisms.shared.within_units import UnitDeviations, UnitSums

__all__ = [
    "Bias",
    "BlockBasis",
    "BlockSums",
    "BlockSystem",
    "ClippedSums",
    "Eliminated",
    "Explained",
    "Extremes",
    "IndicatorBasis",
    "Line",
    "Listed",
    "Method",
    "NewtonState",
    "NoisyBlockSums",
    "NoisyMoments",
    "NoisyScores",
    "NoisySums",
    "Pair",
    "Problem",
    "Queries",
    "Ranked",
    "Reference",
    "Release",
    "Releases",
    "LineRows",
    "Sampling",
    "ScoreRule",
    "SecondPass",
    "SquaredScores",
    "Squares",
    "Steps",
    "Tail",
    "UnitDeviations",
    "UnitSums",
    "Whitening",
    "WithinSums",
]
