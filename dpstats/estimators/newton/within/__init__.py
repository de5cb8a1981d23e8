"""Step on pairs of rows of one group, and on deviations from means of persons."""

from dpstats.estimators.newton.within.clusters_of_pairs import GroupScores
from dpstats.estimators.newton.within.pair_numbers import Shares
from dpstats.estimators.newton.within.pair_queries import PairQueries
from dpstats.estimators.newton.within.unit_deviations import DeviationQueries

__all__ = ["DeviationQueries", "GroupScores", "PairQueries", "Shares"]
