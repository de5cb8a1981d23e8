"""Fit several outcomes on one right-hand side to all rows, in one release."""

from dpstats.formula.columns import squeezed
from dpstats.noise import Noise
from dpstats.privacy import REPLACE_ONE
from dpstats.results import DPResults
from dpstats.run.passes import CountedPasses, TablePasses


def fit_outcomes(prepared: TablePasses, noise: Noise) -> dict[str, DPResults]:
    """Release the regressions of all outcomes from passes over the rows complete in all.

    They have one privacy report, as they are one release.
    """
    request, problem, passes = prepared.request, prepared.problem, CountedPasses(prepared)
    assert request.outcomes is not None, "the request is one of several outcomes"
    found = request.method.release(passes, problem, prepared.cost, noise, **request.options)
    report = request.report(noise.events, noise.private)
    results, responses = {}, {squeezed(design.response) for _, design in request.regressions}
    fits = zip(request.outcomes.names, request.regressions, found, strict=True)
    for name, (formula, design), release in fits:
        read, apart = set(formula.variables), responses - {squeezed(design.response)}
        results[name] = DPResults(
            formula=formula.text,
            method=request.method.name,
            release=release.within(design.response_ends(request.estimated)),
            names=design.names,
            points=prepared.points,
            x_new=problem.x_new,
            public_rows=passes.rows if request.neighbors == REPLACE_ONE else None,
            schema={n: kind for n, kind in request.released_schema().items() if n in read},
            term_bounds={
                n: ends for n, ends in request.term_bounds.items() if squeezed(n) not in apart
            },
            clipping={n: ends for n, ends in request.clipping.items() if n in read},
            estimated=tuple(n for n in request.estimated if n in read),
            rows_seen=request.rows_seen,
            privacy=report,
            plan=request.plan,
            share=request.share,
        )
    return results
