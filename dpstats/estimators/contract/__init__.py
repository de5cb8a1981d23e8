"""Define what a method is: its description, the problem it is told, the release it returns.

No method stands here, and no arithmetic of one.
"""

from dpstats.estimators.contract.passes import (
    InBatches,
    InMemory,
    Mapped,
    Passes,
    Repeated,
    in_whole_keys,
    mapped,
    of_outcome,
    released_twice,
)
from dpstats.estimators.contract.reference import Extremes, Offsets, Reference
from dpstats.estimators.contract.release import (
    Instruments,
    Problem,
    Release,
    Releases,
)
from dpstats.estimators.contract.spec import Each, Method, Ranges

__all__ = [
    "Each",
    "Extremes",
    "InBatches",
    "InMemory",
    "Instruments",
    "Mapped",
    "Method",
    "Offsets",
    "Passes",
    "Problem",
    "Ranges",
    "Reference",
    "Release",
    "Releases",
    "Repeated",
    "in_whole_keys",
    "mapped",
    "of_outcome",
    "released_twice",
]
