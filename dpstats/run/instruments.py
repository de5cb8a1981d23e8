"""Fit one regression with instruments to all rows."""

import numpy as np

from dpstats.noise import Noise
from dpstats.privacy import REPLACE_ONE
from dpstats.results import DPIVResults
from dpstats.run.passes import CountedPasses, TablePasses


def fit_instruments(prepared: TablePasses, noise: Noise) -> DPIVResults:
    """Release one regression with instruments from passes over the complete rows."""
    request, problem, passes = prepared.request, prepared.problem, CountedPasses(prepared)
    first = request.first_stage
    assert first is not None, "the request is one with instruments"
    release = request.method.release(passes, problem, prepared.cost, noise, **request.options)
    names = first.structural(*request.declared).names
    return DPIVResults(
        formula=first.formula.structural.text,
        method=request.method.name,
        release=release,
        names=names,
        points=(),
        x_new=np.empty((0, len(names))),
        public_rows=passes.rows if request.neighbors == REPLACE_ONE else None,
        schema=request.released_schema(),
        term_bounds=dict(request.term_bounds),
        clipping=request.clipping,
        estimated=request.estimated,
        rows_seen=request.rows_seen,
        privacy=request.report(noise.events, noise.private),
        plan=request.plan,
        share=request.share,
        instrument_formula=first.formula.text,
    )
