"""What a private regression would tell, before any budget is spent: from public guesses alone."""

from dpstats.planning.plan import plan
from dpstats.planning.result import Plan

__all__ = ["Plan", "plan"]
