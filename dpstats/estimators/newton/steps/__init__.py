"""Release sums over rows and step by them: whitening, a start, rounds, and what these tell."""

from dpstats.estimators.newton.steps.bias import Bias
from dpstats.estimators.newton.steps.clusters import ClusterQueries
from dpstats.estimators.newton.steps.coefficient_errors import CoefficientErrors
from dpstats.estimators.newton.steps.flat_responses import FlatLosses, flat_losses
from dpstats.estimators.newton.steps.goodness import Squares
from dpstats.estimators.newton.steps.queries import Counted, Queries, RowQueries
from dpstats.estimators.newton.steps.rare_values import RareValues
from dpstats.estimators.newton.steps.rounds import Fitted, Shares
from dpstats.estimators.newton.steps.score_tails import Tail
from dpstats.estimators.newton.steps.squared_loss import SquaredLoss
from dpstats.estimators.newton.steps.state import Clusters, NewtonState
from dpstats.estimators.newton.steps.steps import Steps
from dpstats.estimators.newton.steps.whitening import Whitening

__all__ = [
    "Bias",
    "ClusterQueries",
    "Clusters",
    "CoefficientErrors",
    "Counted",
    "Fitted",
    "FlatLosses",
    "NewtonState",
    "Queries",
    "RareValues",
    "RowQueries",
    "Shares",
    "SquaredLoss",
    "Squares",
    "Steps",
    "Tail",
    "Whitening",
    "flat_losses",
]
