"""Step on a response and an endogenous regressor at once, and combine what they released."""

from dpstats.estimators.newton.instruments.joint_scores import JointScores
from dpstats.estimators.newton.instruments.reduced_forms import ReducedForms

__all__ = ["JointScores", "ReducedForms"]
