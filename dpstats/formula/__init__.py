"""Formulas: the only place that knows patsy. A public schema in, row-local designs out."""

from dpstats.formula.constraints import linear_constraints
from dpstats.formula.design import Design, Formula
from dpstats.formula.r_terms import RFormula

__all__ = ["Design", "Formula", "RFormula", "linear_constraints"]
