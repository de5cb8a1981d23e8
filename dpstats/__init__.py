"""Fit linear regressions under differential privacy, with statsmodels' names."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dpstats import testing
from dpstats.codebook import Schema, suggest_schema
from dpstats.errors import (
    ArgumentError,
    BudgetError,
    DPStatsError,
    FormulaError,
    InternalError,
    LedgerError,
    NotReleasedError,
)
from dpstats.estimators import METHODS
from dpstats.formula import RFormula
from dpstats.privacy import Budget, PrivacyReport
from dpstats.results import (
    DPDescription,
    DPGroupResults,
    DPIVGroupResults,
    DPIVResults,
    DPResults,
)
from dpstats.selection import SELECTORS
from dpstats.verbs.describe import dp_describe
from dpstats.verbs.iv import dp_iv
from dpstats.verbs.logit import dp_logit
from dpstats.verbs.ols import dp_ols
from dpstats.verbs.poisson import dp_glm, dp_poisson

if TYPE_CHECKING:
    from dpstats import datasets, evaluate, simulate
    from dpstats.auditing import audit
    from dpstats.ledger import Ledger
    from dpstats.planning import GroupPlan, Plan, plan
    from dpstats.results.many.comparison import compare
    from dpstats.study import run_study
    from dpstats.study.plans import StudyPlan, plan_study

__version__ = "0.2.0"
__all__ = [
    "METHODS",
    "SELECTORS",
    "ArgumentError",
    "Budget",
    "BudgetError",
    "DPDescription",
    "DPGroupResults",
    "DPIVGroupResults",
    "DPIVResults",
    "DPResults",
    "DPStatsError",
    "FormulaError",
    "GroupPlan",
    "InternalError",
    "Ledger",
    "LedgerError",
    "NotReleasedError",
    "Plan",
    "PrivacyReport",
    "RFormula",
    "Schema",
    "StudyPlan",
    "audit",
    "compare",
    "datasets",
    "dp_describe",
    "dp_glm",
    "dp_iv",
    "dp_logit",
    "dp_ols",
    "dp_poisson",
    "evaluate",
    "plan",
    "plan_study",
    "run_study",
    "simulate",
    "suggest_schema",
    "testing",
]

# A fit needs neither these nor the packages they import, so they load at their first use.
_ROOMS = ("datasets", "evaluate", "simulate")
_LATER = {
    "Ledger": "ledger",
    "audit": "auditing",
    "compare": "results.many.comparison",
    "GroupPlan": "planning",
    "Plan": "planning",
    "StudyPlan": "study.plans",
    "plan": "planning",
    "plan_study": "study.plans",
    "run_study": "study",
}


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"dpstats.{name}")
    if name not in _LATER:
        verb = f"dp_{name.lower()}"
        instead = f"; write dpstats.{verb}" if verb in __all__ else ""
        raise AttributeError(f"module 'dpstats' has no attribute {name!r}{instead}")
    return getattr(import_module(f"dpstats.{_LATER[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*__all__, *(name for name in globals() if name.startswith("__"))])
