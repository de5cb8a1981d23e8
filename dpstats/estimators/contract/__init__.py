"""Define what a method is: its description, the problem it is told, the release it returns.

No method stands here, and no arithmetic of one.
"""

from dpstats.estimators.contract.companion import Pair
from dpstats.estimators.contract.release import Extremes, Problem, Reference, Release, Releases
from dpstats.estimators.contract.spec import Method, SecondPass

__all__ = [
    "Extremes",
    "Method",
    "Pair",
    "Problem",
    "Reference",
    "Release",
    "Releases",
    "SecondPass",
]
