"""Decide which method method="auto" stands for in one call, by public facts alone."""

import math
from collections.abc import Mapping

from dpstats.formula import Formula
from dpstats.mechanisms.by_spread import LIMIT
from dpstats.privacy import ADD_REMOVE

AUTO = "auto"
# Below this epsilon times n exp_theil_sen has the smaller error for most spreads of x and of
# the residuals, and above it noisy_moments (benchmarks/crossing.py).
CROSSING = 6400
# Below this no spread of x on [0, 1] makes epsilon n var(x) large enough for by_spread.
_FEW = 4 * LIMIT


def choose(
    formula: Formula,
    bounds: Mapping,
    epsilon: float,
    delta,
    neighbors,
    rows: float,
    alone: bool,
    options: Mapping,
    weighted: bool = False,
) -> tuple[str, str]:
    """Return the name of the method for a call, and the reason.

    Under ``replace_one``, to which the choice among methods for one regressor leads, the
    number of rows is public. ``alone`` is False with groups, which are many and small, or with
    arguments that those methods do not take. Rows that are streamed, infinitely many here, and
    ``options`` of one of the two leave the choice to epsilon and n alone. Of weighted rows none
    of the methods for one regressor is proven.

    >>> line, unit = Formula.parse("y ~ x"), {"x": (0, 1), "y": (0, 1)}
    >>> choose(line, unit, 1, None, None, 200, True, {})[0]
    'exp_theil_sen'
    >>> choose(line, unit, 1, None, None, 10_000, True, {})[0]
    'by_spread'
    >>> choose(line, unit, 1, None, None, 10_000, True, {"cov_type": "HC1"})[0]
    'noisy_moments'
    >>> choose(line, {}, 1, None, None, 200, True, {})[0]
    'shrunken'
    >>> choose(line, {}, 1, 0, None, 200, True, {})[0]
    'shrunken_pure'
    >>> choose(Formula.parse("y ~ x | state"), unit, 1, None, None, 200, True, {})[0]
    'adassp'
    """
    if formula.absorbed is not None:
        return "adassp", f"auto took adassp, which absorbs the effects of {formula.absorbed}"
    line = _is_bounded_line(formula, bounds) and not weighted
    if line and delta in (None, 0) and neighbors != ADD_REMOVE:
        if not alone:
            return "exp_theil_sen", "auto took exp_theil_sen: one regressor with bounds, in groups"
        size = epsilon * rows
        look = rows < math.inf and not options
        limit, above = (_FEW, "by_spread") if look else (CROSSING, "noisy_moments")
        name, side = ("exp_theil_sen", "below") if size < limit else (above, "from")
        why = f"one regressor with declared bounds, epsilon times n {side} {limit:g}"
        return name, f"auto took {name}: {why} (n is public)"
    if delta == 0:
        return "shrunken_pure", "auto took shrunken_pure, which needs no bounds, for delta=0"
    return "shrunken", "auto took shrunken, which needs neither bounds nor tuning"


def _is_bounded_line(formula: Formula, bounds: Mapping) -> bool:
    """Tell whether the model is an intercept and one plain column, with both ranges declared."""
    if len(formula.variables) != 2 or formula.declared or formula.categorical:
        return False
    y, x = formula.variables
    return formula.terms == (x,) and formula.has_intercept and {x, y} <= set(bounds)
