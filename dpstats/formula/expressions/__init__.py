"""Read one expression of a formula: what it uses, its range, what it learns, what is refused.

Terms and designs are above it, and R's syntax is in ``formula.r``.
"""

from dpstats.formula.expressions.allow_list import LEARNERS, read
from dpstats.formula.expressions.polynomials import Polynomials
from dpstats.formula.expressions.reading import Reading

__all__ = ["LEARNERS", "Polynomials", "Reading", "read"]
