"""Forecast one fit for several numbers of rows and several widths of the bounds."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dpstats.errors import ArgumentError
from dpstats.formula import Formula
from dpstats.planning.plan import plan
from dpstats.planning.result import Plan
from dpstats.progress_bar import progress_bar

EPSILONS = (0.1, 0.25, 0.5, 1, 2, 4, 8, 16)
_OF_N = (0.25, 0.5, 1, 2, 4)
_OF_BOUNDS = (1, 1.5, 2, 3)


@dataclass(frozen=True)
class PlanGrid:
    """Hold plans of one fit by the number of rows and the factor that widens the bounds.

    Attributes
    ----------
    declared_rows : int
        The number of rows that was asked for.
    term : str
        The coefficient that a page shows first.
    rows : tuple of int
    widths : tuple of float
        Factors of the bounds' ranges about their midpoints; the first is 1.
    plans, calls : dict
        By (rows, width): the plan, and the arguments of :func:`dpstats.plan` that make it.
    left_out : tuple of str
        Why a number of rows or a width is not among them.
    """

    declared_rows: int
    term: str
    rows: tuple[int, ...]
    widths: tuple[float, ...]
    plans: Mapping[tuple[int, float], Plan]
    calls: Mapping[tuple[int, float], Mapping[str, Any]]
    left_out: tuple[str, ...]


def plan_grid(
    formula: str,
    *,
    n: int,
    bounds: Mapping,
    epsilon=None,
    term: str | None = None,
    progress: bool | None = None,
    **guesses,
) -> PlanGrid:
    """Plan a fit with a quarter to four times the rows, and bounds up to three times as wide.

    The assumed data stay as they are when the bounds widen: regressors keep their distribution,
    coefficients and residuals their values; absorbed groups keep their number. A width at which
    the formula has no design, such as the logarithm of a range that reaches 0, is left out.

    Parameters
    ----------
    formula, n, bounds, **guesses
        As in :func:`dpstats.plan`, without ``target_width``.
    epsilon : float or sequence of float, optional
        By default eight values from 0.1 to 16.
    term : str, optional
        The coefficient that a page shows first; by default the first slope.
    progress : bool, optional
        Progress bar; by default on a terminal, for runs over a second.

    Raises
    ------
    ArgumentError
        For a guess or an argument that cannot be used.

    Examples
    --------
    >>> grid = plan_grid("y ~ x", n=400, bounds={"x": (0, 1), "y": (0, 1)}, methods=["adassp"],
    ...                  epsilon=[1, 4], repetitions=20, progress=False)
    >>> grid.rows, grid.widths, grid.plans[400, 1].n
    ((100, 200, 400, 800, 1600), (1, 1.5, 2, 3), 400)
    """
    if guesses.get("target_width") is not None:
        raise ArgumentError("target_width searches for one epsilon; leave it out of a grid of them")
    call = {
        **guesses,
        "n": n,
        "bounds": bounds,
        "epsilon": EPSILONS if epsilon is None else epsilon,
    }
    if guesses.get("by") is not None:
        raise ArgumentError(
            f"a page shows one regression, got by={guesses['by']!r}; leave by out and give n= the "
            "rows of one group"
        )
    base = _plan(formula, call)
    n = call["n"] = base.n
    if term is not None and term not in base.truth:
        raise ArgumentError(f"expected term to be one of {', '.join(base.truth)}, got {term!r}")
    ranges = {name: tuple(bounds[name]) for name in _uniform(formula, call)}
    ranges |= guesses.get("x_range") or {}
    fixed = call | {"truth": dict(base.truth), "sd": base.sd, "x_range": ranges}
    rows = [max(round(n * factor), 1) for factor in _OF_N]
    # the range of weights belongs to the assumed rows
    weights = {name: bounds[name] for name in [guesses.get("weights")] if name in bounds}
    calls = {(each, width): fixed | {"n": each, "bounds": _widened(bounds, width) | weights}
             for width in _OF_BOUNDS for each in dict.fromkeys(rows)}  # fmt: skip
    plans: dict[tuple[int, float], Plan] = {(n, 1): base}
    reasons: dict[tuple[int, float], str] = {}
    for cell in progress_bar(calls.keys() - plans, "plans", progress):
        try:
            plans[cell] = _plan(formula, calls[cell])
        except ArgumentError as error:  # from public facts, like those of the first call
            reasons[cell] = str(error)
    return _complete((n, term or base.slopes[0]), plans, calls, reasons)


def _plan(formula: str, call: Mapping) -> Plan:
    """Plan one fit."""
    made = plan(formula, progress=False, **call)
    assert isinstance(made, Plan), "there are no groups of by="
    return made


def _uniform(formula: str, call: Mapping) -> list[str]:
    """List the numeric regressors that are uniform within their bounds."""
    parsed = Formula.parse(formula)
    others = {*parsed.levels, *(call.get("levels") or ()), *(call.get("x_sd") or ())}
    return [name for name in parsed.predictors if name in call["bounds"] and name not in others]


def _complete(start: tuple[int, str], plans: Mapping, calls: Mapping, reasons: Mapping) -> PlanGrid:
    """Leave out the numbers of rows that no width can serve, and the widths that not all can."""
    rows = tuple(sorted({each for each, width in plans if width == 1}))
    widths = [width for width in _OF_BOUNDS if all((each, width) in plans for each in rows)]
    cells = [(each, width) for each in rows for width in widths]
    texts = (
        f"{each:,} rows, bounds times {width:g}: {text}" for (each, width), text in reasons.items()
    )
    kept = {cell: plans[cell] for cell in cells}, {cell: calls[cell] for cell in cells}
    return PlanGrid(*start, rows, tuple(widths), *kept, tuple(sorted(texts)))


def _widened(bounds: Mapping, factor: float) -> dict[str, tuple[float, float]]:
    """Widen ranges about their midpoints.

    >>> _widened({"x": (0, 1)}, 2)
    {'x': (-0.5, 1.5)}
    """
    added = (factor - 1) / 2
    return {
        name: (low - added * (high - low), high + added * (high - low))
        for name, (low, high) in bounds.items()
    }
