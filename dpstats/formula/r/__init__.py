"""Read formulas and conditions of R, and code factors as R does.

They become expressions of Python, which ``formula.expressions`` checks; the bridge to the R package
is ``dpstats.r``.
"""

from dpstats.formula.r.instruments import instrument_parts
from dpstats.formula.r.terms import RFormula

__all__ = ["RFormula", "instrument_parts"]
