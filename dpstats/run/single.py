"""Fit one regression to all rows."""

from functools import partial

from dpstats.noise import Noise
from dpstats.privacy import REPLACE_ONE
from dpstats.results import DPIVResults, DPResults
from dpstats.run.passes import CountedPasses, TablePasses


def fit_single(prepared: TablePasses, noise: Noise) -> DPResults:
    """Release one fit from passes over the complete rows, batch by batch."""
    request, problem, passes = prepared.request, prepared.problem, CountedPasses(prepared)
    release = request.method.release(passes, problem, prepared.cost, noise, **request.options)
    first, result = request.first_stage, DPResults
    if first is not None:
        result = partial(DPIVResults, instrument_formula=first.formula.text)
    return result(
        formula=request.released_formula,
        method=request.method.name,
        release=release.within(prepared.response_ends),
        names=request.released_design.names,
        points=prepared.points,
        x_new=prepared.x_new,
        public_rows=passes.rows if request.neighbors == REPLACE_ONE else None,
        schema=request.released_schema(),
        term_bounds=dict(request.term_bounds),
        clipping=request.clipping,
        estimated=request.estimated,
        rows_seen=request.rows_seen,
        privacy=request.report(noise.events, noise.private),
        selected=request.selected,
        plan=request.plan,
        share=request.share,
    )
