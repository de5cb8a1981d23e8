"""Answer the R package: plain values in and out, and every error as a sentence.

Formulas of R are read in ``formula``, and no statistics are computed here.
"""

from dpstats.r.bridge import answer, interrupted

__all__ = ["answer", "interrupted"]
