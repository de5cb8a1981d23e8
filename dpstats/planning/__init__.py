"""Forecast private regressions from public assumptions, before any budget is spent.

No private row is read; simulated ones stand for them.
"""

from dpstats.planning.grid import PlanGrid, plan_grid
from dpstats.planning.group_result import GroupPlan
from dpstats.planning.page import page
from dpstats.planning.plan import plan
from dpstats.planning.result import Plan

__all__ = ["GroupPlan", "Plan", "PlanGrid", "page", "plan", "plan_grid"]
