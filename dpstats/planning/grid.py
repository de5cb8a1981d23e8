"""Forecast one fit for several numbers of rows and several widths of the bounds."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from dpstats.errors import ArgumentError, shown
from dpstats.formula import Formula
from dpstats.numerics.first_use import shown_if_compiling
from dpstats.option_checks import checked_progress, whole
from dpstats.planning.plan import plan
from dpstats.planning.result import Plan
from dpstats.planning.simulation import checked_precision
from dpstats.progress_bar import progress_bar
from dpstats.spelling import check_word
from dpstats.worker_processes import done

EPSILONS = (0.1, 0.25, 0.5, 1, 2, 4, 8, 16)
_OF_N = (0.25, 0.5, 1, 2, 4)
_OF_BOUNDS = (1, 1.5, 2, 3)
# One look at a few tables, to check what was given and to fill in guesses.
_ROUGH = 0.99


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
    precision: float | None = 0.05,
    n_jobs: int | None = 1,
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
    precision : float, optional
        As in :func:`dpstats.plan`, for all plans but the one that is asked for, which has all
        ``repetitions``. None fits all of them everywhere.
    n_jobs : int, optional
        Processes, >= 1; None is one a processor, at most 8. The plans do not depend on it.
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
            f"a page shows one regression, got by={shown(guesses['by'])}; leave by out and give n= "
            "the rows of one group"
        )
    precision = None if precision is None else checked_precision(precision)
    n_jobs = min(os.cpu_count() or 1, 8) if n_jobs is None else whole("n_jobs", 1)(n_jobs)
    with shown_if_compiling(checked_progress(progress)):
        first = _plan(formula, {**call, "precision": _ROUGH})
    n = call["n"] = first.n
    if term is not None:
        check_word("term", term, first.truth)
    ranges = {name: tuple(bounds[name]) for name in _uniform(formula, call)}
    ranges |= guesses.get("x_range") or {}
    fixed = {**call, "truth": dict(first.truth), "sd": first.sd, "x_range": ranges}
    calls = _cells(fixed, n, guesses.get("weights"))
    if precision is not None:
        calls = {cell: {**each, "precision": precision} for cell, each in calls.items()}
        calls[n, 1] = fixed
    plans, reasons = _computed(formula, calls, n_jobs, progress)
    if (n, 1) not in plans:
        raise ArgumentError(reasons[n, 1])
    return _complete((n, term or first.slopes[0]), plans, calls, reasons)


def _cells(call: Mapping, n: int, weights: str | None) -> dict[tuple[int, float], dict]:
    """Return the calls by rows and width, the largest tables and the plan asked for first."""
    bounds, rows = call["bounds"], [max(round(n * factor), 1) for factor in _OF_N]
    # the range of weights belongs to the assumed rows
    kept = {name: bounds[name] for name in [weights] if name in bounds}
    cells = [(n, 1), *((each, width) for each in reversed(rows) for width in _OF_BOUNDS)]
    return {
        (each, width): {**call, "n": each, "bounds": _widened(bounds, width) | kept}
        for each, width in dict.fromkeys(cells)
    }


def _computed(formula: str, calls: Mapping, n_jobs: int, progress: bool | None):
    """Compute the plans; return them, and for the others why there are none, by cell."""
    plans, reasons = {}, {}
    with progress_bar(len(calls), "plans", progress) as bar:
        for cell, made in done(partial(_tried, formula), calls, n_jobs):
            (reasons if isinstance(made, str) else plans)[cell] = made
            bar.update()
    return plans, reasons


def _tried(formula: str, call: Mapping) -> Plan | str:
    """Plan one fit, or say why there is none, which follows from public facts."""
    try:
        return _plan(formula, call)
    except ArgumentError as error:
        return str(error)


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
