"""Read formulas and conditions of R, and code factors as R does.

They become expressions of Python, which ``formula.expressions`` checks; the bridge to the R package
is ``dpstats.r``.
"""

from dpstats.formula.r.instruments import instrument_parts, joined
from dpstats.formula.r.terms import RFormula
from dpstats.formula.r.tree import Name

__all__ = ["Name", "RFormula", "instrument_parts", "joined"]
