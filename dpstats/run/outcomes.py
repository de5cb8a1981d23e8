"""Fit several outcomes on one right-hand side to all rows, in one release."""

from dpstats.estimators.contract import Release
from dpstats.formula import Design, Formula
from dpstats.formula.columns import squeezed
from dpstats.noise import Noise
from dpstats.privacy import REPLACE_ONE, PrivacyReport
from dpstats.results import DPResults
from dpstats.run.passes import CountedPasses, TablePasses


def fit_outcomes(prepared: TablePasses, noise: Noise) -> dict[str, DPResults]:
    """Release the regressions of all outcomes from passes over the rows complete in all.

    They have one privacy report, as they are one release.
    """
    request, passes = prepared.request, CountedPasses(prepared)
    assert request.outcomes is not None, "the request is one of several outcomes"
    found = request.method.release(
        passes, prepared.problem, prepared.cost, noise, **request.options
    )
    report = request.report(noise.events, noise.private)
    rows = passes.rows if request.neighbors == REPLACE_ONE else None
    fits = zip(request.outcomes.names, request.regressions, found, strict=True)
    return {name: _result(prepared, *side, release, report, rows) for name, side, release in fits}


def _result(
    prepared: TablePasses, formula: Formula, design: Design, release: Release,
    report: PrivacyReport, rows: int | None,
) -> DPResults:  # fmt: skip
    """Return the result of one outcome, with what was declared and released of its own columns."""
    request, read = prepared.request, set(formula.variables)
    others = {other.response for other, _ in request.regressions} - {formula.response}
    apart = {squeezed(response) for response in others}
    bounds = {term: ends for term, ends in request.term_bounds.items()
              if squeezed(term) not in apart}  # fmt: skip
    return DPResults(
        formula=formula.text,
        method=request.method.name,
        release=release.within(design.response_ends(request.estimated)),
        names=design.names,
        points=prepared.points,
        x_new=prepared.problem.x_new,
        public_rows=rows,
        schema={name: kind for name, kind in request.released_schema().items() if name in read},
        term_bounds=bounds,
        clipping={name: ends for name, ends in request.clipping.items() if name in read},
        estimated=tuple(name for name in request.estimated if name in read),
        rows_seen=request.rows_seen,
        privacy=report,
        plan=request.plan,
        share=request.share,
    )
