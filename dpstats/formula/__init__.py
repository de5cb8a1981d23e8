"""Turn formulas and a public schema into row-by-row designs; the only place that uses patsy.

Nothing is learned from rows: each is coded by itself.
"""

from dpstats.formula.conditions import Condition
from dpstats.formula.constraints import linear_constraints
from dpstats.formula.design import Design
from dpstats.formula.formula import Formula
from dpstats.formula.instruments import InstrumentFormula
from dpstats.formula.r import RFormula

__all__ = ["Condition", "Design", "Formula", "InstrumentFormula", "RFormula", "linear_constraints"]
