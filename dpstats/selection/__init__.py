"""Choose terms privately before a fit; adding a selector takes one file and one line here.

The fit of the chosen terms is an estimator's.
"""

from dpstats.selection.kendall import KENDALL
from dpstats.selection.lasso import LASSO
from dpstats.selection.spec import Candidates, Selector

SELECTORS: dict[str, Selector] = {selector.name: selector for selector in (KENDALL, LASSO)}

__all__ = ["SELECTORS", "Candidates", "Selector"]
