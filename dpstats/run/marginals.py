"""Estimate the distributions of a request's columns, and update the request by them."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from dpstats.call import Request
from dpstats.formula import Design
from dpstats.noise import Noise
from dpstats.range_estimation import Marginal
from dpstats.range_estimation.marginal import TWO_OUTCOMES
from dpstats.range_estimation.marginals import estimate_marginals
from dpstats.run.reference import reference_of
from dpstats.schema import UNLIMITED, Batch, Numeric


def with_marginals(request: Request, noise: Noise) -> Request:
    """Release the distribution of each numeric variable, and derive the reference from them.

    The response is taken as the formula transforms it, the other variables as they are; one of 0
    and 1 has a distribution that is public but for its mean, and none is released. What
    follows from the distributions is post-processing: ranges of variables without bounds, what the
    formula learns from them, and center and scale of the design's columns.
    """
    cost = request.cost.part(request.method.ranges.share)
    schema, response = request.schema, request.design.response
    free = request.clipping
    limits: dict[str, Numeric | None] = {
        name: kind if name not in free else None
        for name, kind in schema.items()
        if name in request.formula.predictors and isinstance(kind, Numeric)
    }
    low, high = request.design.response_bounds
    y_is_free = not set(free).isdisjoint(request.formula.response_variables)
    limits[response] = (
        None if y_is_free and response not in request.term_bounds else Numeric(low, high)
    )
    weights = dict.fromkeys(limits, 1.0) | {response: request.method.ranges.response}
    bought = {name: limit for name, limit in limits.items() if weights[name]}
    total = partial(_total, request, response)
    marginals = estimate_marginals(
        total, bought, weights, cost, noise, request.neighbors, response, request.one
    )
    marginals = {response: TWO_OUTCOMES, **marginals}
    return _estimated(request, marginals, limits, response, y_is_free)


def _total(request: Request, response: str, each: Callable):
    """Add up ``each(columns)`` over batches of the rows in use, the response as transformed."""
    work = partial(_with_response, request.design, response, each)
    return request.rows_in_use.total(request.table, work)


def _with_response(design: Design, response: str, each: Callable, batch: Batch):
    return each({**batch, response: design.responses(batch)})


def _estimated(
    request: Request,
    marginals: Mapping[str, Marginal],
    limits: Mapping[str, Numeric | None],
    response: str,
    y_is_free: bool,
) -> Request:
    """Update the request with the ranges, design and reference that the distributions imply."""
    free = tuple(request.clipping)
    ranges = {
        name: Numeric(marginals[name].low, marginals[name].high)
        for name in free
        if name in marginals
    }
    schema = {**request.schema, **dict.fromkeys(free, UNLIMITED), **ranges}
    bounds = dict(request.term_bounds)
    if y_is_free and response not in ranges:
        bounds.setdefault(response, (marginals[response].low, marginals[response].high))
    clipping = dict.fromkeys(free, UNLIMITED) | {
        name: Numeric(*marginal.clipping)
        for name, marginal in marginals.items()
        if name in request.formula.predictors
    }
    design = request.design
    if request.formula.declared.isdisjoint(free):
        design = design.with_ranges(ranges, clipping)
    else:
        learned = {**request.schema, **ranges}
        design = request.formula.design(learned, request.term_bounds, clipping)
    rough = tuple(name for name, marginal in marginals.items() if marginal.is_rough)
    return replace(
        request,
        schema=schema,
        design=design,
        unbounded=(),
        estimated=free,
        term_bounds=bounds,
        released_clipping=clipping,
        reference=reference_of(design, marginals, response, limits[response]),
        plan="; ".join(filter(None, (request.plan, _note(rough)))),
    )


def _note(rough: tuple[str, ...]) -> str:
    """Name the columns whose distribution comes from two quantiles."""
    if not rough:
        return ""
    return (
        f"too few rows at this epsilon for a histogram of {', '.join(rough)}, so only a median and "
        "a spread were released"
    )
