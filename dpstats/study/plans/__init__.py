"""Plan studies: which epsilon their tables need, from guesses or from a public stand-in.

The study's own data are never opened.
"""

from dpstats.study.plans.plan_study import plan_study
from dpstats.study.plans.result import StudyPlan

__all__ = ["StudyPlan", "plan_study"]
