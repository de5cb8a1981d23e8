"""Estimate the distributions of a request's columns, and update the request by them."""

import math
from collections.abc import Callable, Container, Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from dpstats.call import Request
from dpstats.estimators.contract import Offsets, Reference
from dpstats.estimators.newton.steps.hidden_rows import LONG
from dpstats.formula import Design, Formula
from dpstats.noise import Noise
from dpstats.range_estimation import Marginal
from dpstats.range_estimation.marginal import TWO_OUTCOMES
from dpstats.range_estimation.marginals import estimate_marginals
from dpstats.rows.offset import FARTHEST
from dpstats.run.reference import reference_of
from dpstats.schema import UNLIMITED, Batch, Numeric


def with_marginals(request: Request, noise: Noise, total: Callable) -> Request:
    """Release the distribution of each numeric variable, and derive the reference from them.

    ``total(each)`` adds ``each(batch)`` up over batches of the rows in use.

    The response is taken as the formula transforms it, the other variables as they are; one of 0
    and 1 has a distribution that is public but for its mean, and none is released. What
    follows from the distributions is post-processing: ranges of variables without bounds, what the
    formula learns from them, and center and scale of the design's columns. An offset has one too.
    """
    cost = request.cost.part(request.ranges_share)
    schema, response = request.schema, request.design.response
    free, sides = request.clipping, _regressions(request)
    designs = {name: design for name, (_, design) in sides.items()}
    offset = request.offset
    limits: dict[str, Numeric | None] = {
        name: kind if name not in free else None
        for name, kind in schema.items()
        if name in request.formula.predictors and isinstance(kind, Numeric)
    }
    limits |= {name: _declared(request, *side) for name, side in sides.items()}
    beside = _free_name(request.table.columns)
    responses = [response] if request.outcomes is None else [*designs]
    limits |= {} if offset is None else {beside: offset.limit}
    weights = dict.fromkeys(limits, 1.0) | dict.fromkeys(designs, request.method.ranges.response)
    bought = {name: limit for name, limit in limits.items() if weights[name]}
    computed = {name: design.responses for name, design in designs.items()}
    computed |= {} if offset is None else {beside: offset.values}
    marginals = estimate_marginals(
        partial(_total, total, computed), bought, weights, cost, noise, request.neighbors,
        responses, request.one, () if offset is None else (beside,),
    )  # fmt: skip
    marginals = {response: TWO_OUTCOMES, **marginals}
    if offset is None:
        return _estimated(request, marginals, limits)
    added, limit = marginals.pop(beside), offset.limit
    found = _estimated(request, marginals, limits)
    assert found.reference is not None
    ends = max(added.low, -FARTHEST), min(added.high, FARTHEST)
    highest = math.inf if limit is None else limit.high
    offsets = Offsets(np.clip(added.points, *ends), added.weights, highest)
    return replace(found, reference=replace(found.reference, offsets=offsets))


def _free_name(columns: Container[str]) -> str:
    """Return a name for the offset that no column has."""
    name = "offset"
    while name in columns:
        name += "'"
    return name


def _regressions(request: Request) -> dict[str, tuple[Formula, Design]]:
    """Return formulas and designs by response."""
    return {design.response: (formula, design) for formula, design in request.regressions}


def _is_free(request: Request, formula: Formula, design: Design) -> bool:
    """Tell whether the response is a number that reads a variable without declared bounds."""
    reads = not set(request.clipping).isdisjoint(formula.response_variables)
    return reads and not design.has_two_outcomes


def _declared(request: Request, formula: Formula, design: Design) -> Numeric | None:
    """Return the declared bounds of the response, if any."""
    if _is_free(request, formula, design) and design.response not in request.term_bounds:
        return None
    return Numeric(*design.response_bounds)


def _total(total: Callable, computed: Mapping[str, Callable], each: Callable):
    """Add up ``each(columns)`` over batches, with columns that are computed."""
    return total(partial(_with_computed, computed, each))


def _with_computed(computed: Mapping[str, Callable], each: Callable, batch: Batch):
    return each({**batch, **{name: of(batch) for name, of in computed.items()}})


def _estimated(
    request: Request, marginals: Mapping[str, Marginal], limits: Mapping[str, Numeric | None]
) -> Request:
    """Update the request with the ranges, designs and references that the distributions imply."""
    free = tuple(request.clipping)
    ranges = {
        name: Numeric(marginals[name].low, marginals[name].high)
        for name in free
        if name in marginals
    }
    schema = {**request.schema, **dict.fromkeys(free, UNLIMITED), **ranges}
    bounds = dict(request.term_bounds)
    for name, side in _regressions(request).items():
        if _is_free(request, *side) and name not in ranges:
            bounds.setdefault(name, (marginals[name].low, marginals[name].high))
    clipping = dict.fromkeys(free, UNLIMITED) | {
        name: Numeric(*marginal.clipping)
        for name, marginal in marginals.items()
        if name in request.formula.predictors
    }
    lognormal = request.method.ranges.lognormal_tails
    rough = tuple(name for name, marginal in marginals.items() if marginal.is_rough)
    (design, reference), *others = [
        (found, reference_of(found, own, name, limits[name], request.grouped, lognormal))
        for name, side in _regressions(request).items()
        for found in [_learned(request, *side, ranges, clipping)]
        for own in [_own(request, marginals, name)]
    ]
    first, outcomes = request.first_stage, request.outcomes
    notes = request.plan, _note_on_quantiles(rough), _note_on_tails(design, reference)
    return replace(
        request,
        schema=schema,
        design=design,
        unbounded=(),
        estimated=free,
        term_bounds=bounds,
        released_clipping=clipping,
        reference=reference,
        first_stage=first and first.with_released(*others[0]),
        outcomes=outcomes and outcomes.with_released(others),
        plan="; ".join(filter(None, notes)),
    )


def _own(request: Request, marginals: Mapping[str, Marginal], name: str) -> dict[str, Marginal]:
    """Return the distributions that tell of one outcome: those of others do not."""
    apart = () if request.outcomes is None else _regressions(request)
    return {other: of for other, of in marginals.items() if other == name or other not in apart}


def _learned(
    request: Request,
    formula: Formula,
    design: Design,
    ranges: Mapping[str, Numeric],
    clipping: Mapping[str, Numeric],
) -> Design:
    """Return a design of the call under the released ranges, learned anew where they shape it."""
    if formula.declared.isdisjoint(request.clipping):
        return design.with_ranges(ranges, clipping)
    return formula.design({**request.schema, **ranges}, request.term_bounds, clipping)


def _note_on_quantiles(rough: tuple[str, ...]) -> str:
    """Name the columns whose distribution comes from two quantiles."""
    if not rough:
        return ""
    return (
        f"too few rows at this epsilon for a histogram of {', '.join(rough)}, so only a median and "
        "a spread were released"
    )


def _note_on_tails(design: Design, reference: Reference) -> str:
    """Name the columns whose released distributions have long tails, with room for longer ones.

    How a tail goes on where noise hides it no release tells, and intervals go by what is seen
    (benchmarks/skewed.py has cases that they miss).
    """
    numeric = design.layout.numeric
    low, high = (ends[numeric] - reference.center for ends in (design.low, design.high))
    has_room = np.maximum(high, -low) > LONG * np.linalg.norm(reference.root, axis=1)
    names = [design.names[j] for j in numeric[(reference.extremes.tails > 0) & has_room]]
    if not names:
        return ""
    return (
        f"long tail of {', '.join(names)}: where the response leaves the line among the farthest "
        "rows, which noise hides, intervals can miss; a logarithm or close bounds= shorten it"
    )
