"""What a private regression would tell, before any budget is spent: from public guesses alone."""

from dpstats.planning.procedure import plan
from dpstats.planning.result import Plan

__all__ = ["Plan", "plan"]
