"""Forecast private regressions from public assumptions, before any budget is spent."""

from dpstats.planning.plan import plan
from dpstats.planning.result import Plan

__all__ = ["Plan", "plan"]
