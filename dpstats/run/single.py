"""Fit one regression to all rows."""

from dpstats.noise import Noise
from dpstats.privacy import REPLACE_ONE
from dpstats.results import DPResults
from dpstats.run.passes import Passes


def fit_single(prepared: Passes, noise: Noise) -> DPResults:
    """Summarise the complete rows batch by batch and release one fit."""
    request, problem, method = prepared.request, prepared.problem, prepared.request.method
    counted = prepared.total(lambda rows: method.summarise(rows, problem))
    release = method.conclude(
        counted.summary,
        lambda each: prepared.total(each).summary,
        problem,
        prepared.cost,
        noise,
        **request.options,
    )
    return DPResults(
        formula=request.formula.text,
        method=method.name,
        release=release.within(prepared.response_ends),
        names=prepared.design.names,
        points=prepared.points,
        x_new=problem.x_new,
        nobs=counted.rows if request.neighbors == REPLACE_ONE else None,
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
