"""Decide which method method="auto" stands for in one call, by public facts alone."""

from collections.abc import Mapping, Sequence

from dpstats.formula import Formula
from dpstats.privacy import ADD_REMOVE, REPLACE_ONE

AUTO = "auto"
# Below this epsilon times n exp_theil_sen has the smaller error for most spreads of x and of the
# residuals; above it noisy_newton has (benchmarks/cases.py), with delta=0 too (benchmarks/pure.py).
CROSSING = 5600
# The default, by whether delta is 0.
_NEWTON = "noisy_newton", "noisy_newton_pure"
_FEW_ROWS = (
    "auto took exp_theil_sen: one regressor with declared bounds, epsilon times n below "
    f"{CROSSING} (n is public)"
)
# From so many levels on adassp is more accurate than noisy_newton, and much faster.
_MANY_LEVELS = 300


def choose(
    formula: Formula,
    bounds: Mapping,
    epsilon: float,
    delta,
    neighbors,
    rows: float,
    alone: bool,
    options: Mapping,
    *,
    weighted: bool = False,
    levels: int = 0,
    by_unit: bool = False,
    clustered: bool = False,
    normed: bool = False,
) -> tuple[str, str]:
    """Return the name of the method for a call, and the reason.

    Every method named here is proven for add/remove, which is the relation of all calls that name
    none (:func:`relation`), so that bounds, groups and delta do not change what is protected.
    The number of rows decides only where ``replace_one`` is asked for, under which it is public.
    ``alone`` is False with groups, which are many and small, or with arguments that methods for
    one regressor do not take. Rows that are streamed, or stay with workers, are infinitely many
    here. ``normed`` says that a norm of rows is declared, which sums of products use. Time is
    linear in ``levels``, those of all factors, in sum-based methods and quadratic in Newton rounds.

    >>> line, unit = Formula.parse("y ~ x"), {"x": (0, 1), "y": (0, 1)}
    >>> choose(line, unit, 1, None, None, 200, True, {})[0]
    'noisy_newton'
    >>> choose(line, unit, 1, None, "replace_one", 200, True, {})[0]
    'exp_theil_sen'
    >>> choose(line, unit, 1, None, None, 200, False, {})[0]
    'exp_theil_sen'
    >>> choose(line, unit, 1, 0, None, 10, True, {})[0]
    'noisy_newton_pure'
    >>> choose(line, unit, 1, 0, "replace_one", 10, True, {})[0]
    'exp_theil_sen'
    >>> choose(line, {}, 1, 0, None, 200, True, {})[0]
    'noisy_newton_pure'
    >>> choose(line, {}, 1, None, None, 200, True, {"cov_type": "HC1"})[0]
    'noisy_newton'
    >>> choose(line, {}, 1, None, None, 200, True, {}, levels=3138)[0]
    'adassp'
    >>> choose(line, unit, 1, None, "replace_one", 200, True, {}, clustered=True)[0]
    'noisy_newton'
    >>> choose(Formula.parse("y ~ x | state"), unit, 1, None, None, 200, True, {})[0]
    'noisy_newton'
    >>> choose(Formula.parse("y ~ x | state"), {}, 1, 0, None, 200, False, {})[0]
    'noisy_newton_pure'
    >>> choose(Formula.parse("y ~ x | state"), unit, 1, None, None, 1, True, {}, normed=True)[0]
    'adassp'
    """
    if formula.absorbed is not None:
        name = "adassp" if normed else _NEWTON[delta == 0]
        return name, f"auto took {name}, which absorbs the effects of {formula.absorbed}"
    if levels > _MANY_LEVELS and delta != 0 and not clustered:
        return "adassp", f"auto took adassp: factors with {levels:,} levels"
    if by_unit and delta != 0:
        why = "auto took noisy_newton, which protects all rows of a person together"
        return "noisy_newton", why
    name, kind = _NEWTON[delta == 0], " with delta=0" if delta == 0 else ""
    if clustered:
        return name, f"auto took {name}, which clusters standard errors by a column"
    if options.get("cov_type") is not None:
        return name, f"auto took {name}, which has the option cov_type"
    if delta in (None, 0) and not weighted and _is_bounded_line(formula, bounds):
        if not alone:
            return "exp_theil_sen", "auto took exp_theil_sen: one regressor with bounds, in groups"
        if neighbors == REPLACE_ONE and epsilon * rows < CROSSING:
            return "exp_theil_sen", _FEW_ROWS
    if levels > _MANY_LEVELS and delta == 0:
        return "shrunken_pure", f"auto took shrunken_pure: factors with {levels:,} levels"
    return name, f"auto took {name}, which needs neither bounds nor tuning{kind}"


def relation(neighbors: str | None, proven: Sequence[str]) -> str | None:
    """Return the relation of a call of "auto": add/remove where the call names none.

    What a companion or an absorbed column leaves ``proven`` may be another one alone.
    """
    return ADD_REMOVE if neighbors is None and ADD_REMOVE in proven else neighbors


def _is_bounded_line(formula: Formula, bounds: Mapping) -> bool:
    """Tell whether the model is an intercept and one plain column, with both ranges declared."""
    if len(formula.variables) != 2 or formula.declared or formula.categorical:
        return False
    y, x = formula.variables
    return formula.terms == (x,) and formula.has_intercept and {x, y} <= set(bounds)
