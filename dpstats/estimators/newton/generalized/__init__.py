"""Take steps of logits and Poisson regressions: their sums, positions and releases."""

from dpstats.estimators.newton.generalized.far_scores import FarScores
from dpstats.estimators.newton.generalized.level_outcomes import LevelRows
from dpstats.estimators.newton.generalized.logistic_position import Hessian, Position
from dpstats.estimators.newton.generalized.logistic_queries import LogisticQueries
from dpstats.estimators.newton.generalized.logistic_release import FittedLogit
from dpstats.estimators.newton.generalized.poisson_queries import PoissonQueries
from dpstats.estimators.newton.generalized.poisson_release import FittedCounts
from dpstats.estimators.newton.generalized.poisson_steps import PoissonSteps

__all__ = [
    "FarScores",
    "FittedCounts",
    "FittedLogit",
    "Hessian",
    "LevelRows",
    "LogisticQueries",
    "PoissonQueries",
    "PoissonSteps",
    "Position",
]
