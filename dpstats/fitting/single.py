"""One private fit over all rows."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from dpstats.mechanisms.shared import Release
from dpstats.noise import Noise
from dpstats.privacy import REPLACE_ONE
from dpstats.request import Request
from dpstats.results import DPResults
from dpstats.schema import Batch

NO_RANGE = (
    "no range stood out from the noise at this epsilon; declare bounds= for the numeric columns"
)


def fit_single(request: Request, known: Request | None, noise: Noise) -> DPResults:
    """Summarise the complete rows batch by batch and release one fit.

    ``known`` is the request with every range, or None when none could be released;
    then the fit ends there with the status ``no_range``.
    """
    final = known or request
    design = final.design()
    problem, method, cost = final.problem(design), final.method, final.fit_cost
    if known is None:
        release, n = Release.nothing(problem, "no_range", NO_RANGE), None
    else:
        total = _Total(final)
        summary = total(partial(method.summarise, problem=problem))
        release = method.conclude(summary, total, problem, cost, noise, **final.options)
        n = total.rows
    return DPResults(
        formula=final.formula.text,
        method=method.name,
        release=release,
        names=design.names,
        points=final.point_labels(),
        x_new=problem.x_new,
        nobs=n if final.neighbors == REPLACE_ONE else None,
        schema=final.released_schema(),
        term_bounds=dict(final.term_bounds),
        privacy=final.report(noise.events, noise.private),
        selected=final.selected,
        plan=final.plan,
        share=final.share,
    )


@dataclass(frozen=True)
class _Counted:
    """The summary of some rows and their number."""

    summary: Any
    rows: int

    def __add__(self, other: "_Counted") -> "_Counted":
        return _Counted(self.summary + other.summary, self.rows + other.rows)


class _Total:
    """Sums over all complete rows, which a pass also counts."""

    def __init__(self, request: Request):
        self._request, self._design, self.rows = request, request.wide_design(), 0

    def __call__(self, each: Callable):
        """The sum of ``each(X, y)``, in one pass."""
        counted = self._request.total(partial(_counted, self._design, each))
        self.rows = counted.rows
        return counted.summary


def _counted(design, each: Callable, batch: Batch) -> _Counted:
    X, y = design.rows(batch)
    return _Counted(each(X, y), len(y))
