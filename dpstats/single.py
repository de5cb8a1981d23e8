"""One private fit over all rows."""

import numpy as np

from dpstats.mechanisms.spec import Release
from dpstats.noise import Noise
from dpstats.privacy import REPLACE_ONE
from dpstats.request import Request
from dpstats.results import DPResults

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
    problem = final.problem(design)
    if known is None:
        release, n = Release.nothing(problem, "no_range", NO_RANGE), None
    else:
        summary, n = _summarise(final, problem)
        release = final.method.release(summary, problem, final.fit_cost, noise, **final.options)
    return DPResults(
        formula=final.formula.text,
        method=final.method.name,
        release=release,
        names=design.names,
        points=final.point_labels(),
        x_new=problem.x_new,
        nobs=n if final.neighbors == REPLACE_ONE else None,
        schema=final.released_schema(),
        term_bounds=dict(final.term_bounds),
        privacy=final.report(noise.events, noise.private),
        selected=final.selected,
    )


def _summarise(request: Request, problem):
    """The method's summary of all complete rows, and their number."""
    summarise, design = request.method.summarise, request.wide_design()
    total, n = summarise(np.empty((0, len(design.names))), np.empty(0), problem), 0
    for X, y, _ in request.rows(design):
        total, n = total + summarise(X, y, problem), n + len(y)
    return total, n
