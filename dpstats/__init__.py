"""Linear regression under differential privacy, with a statsmodels-style front end."""

from dpstats import datasets, evaluate, simulate, testing
from dpstats.api import dp_ols
from dpstats.auditing import audit
from dpstats.comparison import compare
from dpstats.errors import (
    ArgumentError,
    BudgetError,
    DPStatsError,
    FormulaError,
    InternalError,
    NotReleasedError,
)
from dpstats.formula import RFormula
from dpstats.groups import DPGroupResults
from dpstats.mechanisms import METHODS
from dpstats.planning import Plan, plan
from dpstats.privacy import Budget, PrivacyReport
from dpstats.results import DPResults
from dpstats.selection import SELECTORS

__version__ = "0.1.0"
__all__ = [
    "METHODS",
    "SELECTORS",
    "ArgumentError",
    "Budget",
    "BudgetError",
    "DPGroupResults",
    "DPResults",
    "DPStatsError",
    "FormulaError",
    "InternalError",
    "NotReleasedError",
    "Plan",
    "PrivacyReport",
    "RFormula",
    "audit",
    "compare",
    "datasets",
    "dp_ols",
    "evaluate",
    "plan",
    "simulate",
    "testing",
]
