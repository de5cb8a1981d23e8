"""Estimate the distributions of a request's columns, and derive a scale of its design from them."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from dpstats.formula import Design
from dpstats.mechanisms.noisy_newton import RESPONSE_WEIGHT
from dpstats.mechanisms.shared import Reference
from dpstats.noise import Noise
from dpstats.range_estimation import Marginal
from dpstats.range_estimation.marginals import estimate_marginals
from dpstats.request.request import Request
from dpstats.schema import UNLIMITED, Batch, Categorical, Numeric

# Rows of the synthetic table that the scale of the design is read from, and the part of them
# that is uniform on the range, so that no shape of a histogram makes a column constant.
_ROWS, _UNIFORM = 2048, 0.1
# Added to correlations, so that columns which are multiples of one another keep a scale.
_JITTER = 1e-10
# Smaller standard deviations count as none, so that no quotient leaves the range of doubles.
_LEAST_SCALE = 1e-200


def with_marginals(request: Request, noise: Noise) -> Request:
    """Release the distribution of each numeric variable, and derive the reference from them.

    The response is taken as the formula transforms it, the other variables as they are. What
    follows from the distributions is post-processing: ranges of variables without bounds, what the
    formula learns from them, and center and scale of the design's columns.
    """
    cost = request.cost.part(request.method.bounds_share)
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
    weights = dict.fromkeys(limits, 1.0) | {response: RESPONSE_WEIGHT}
    total = partial(_total, request, response)
    marginals = estimate_marginals(
        total, limits, weights, cost, noise, request.neighbors, response, request.one
    )
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
        name: _clipping_range(marginal, limits[name])
        for name, marginal in marginals.items()
        if name in request.formula.predictors
    }
    design = request.design
    if request.formula.declared.isdisjoint(free):
        design = design.with_ranges(ranges, clipping)
    else:
        learned = {**request.schema, **ranges}
        design = request.formula.design(learned, request.term_bounds, clipping)
    center, root = _center_and_root(design, marginals)
    y = marginals[response]
    rough = tuple(name for name, marginal in marginals.items() if marginal.is_rough)
    return replace(
        request,
        schema=schema,
        design=design,
        unbounded=(),
        estimated=free,
        term_bounds=bounds,
        released_clipping=clipping,
        reference=Reference(center, root, y.mean, max(y.sd, _LEAST_SCALE)),
        plan="; ".join(filter(None, (request.plan, _note(rough)))),
    )


def _clipping_range(marginal: Marginal, limit: Numeric | None) -> Numeric:
    """Return the range that values are clipped to, within declared bounds."""
    low, high = marginal.clipping
    return (
        Numeric(low, high) if limit is None else Numeric(max(low, limit.low), min(high, limit.high))
    )


def _note(rough: tuple[str, ...]) -> str:
    """Name the columns whose distribution comes from two quantiles."""
    if not rough:
        return ""
    return (
        f"too few rows at this epsilon for a histogram of {', '.join(rough)}, so only a median and "
        "a spread were released"
    )


def _center_and_root(
    design: Design, marginals: Mapping[str, Marginal]
) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and covariance root of the numeric columns as if variables were independent.

    They are those of a synthetic table with the released distributions, which is the same in
    every call.
    """
    generator = np.random.default_rng(0)
    batch = {
        name: generator.integers(0, len(kind.levels), _ROWS)
        if isinstance(kind, Categorical)
        else generator.permutation(_quantiles(marginals[name]))
        if name in marginals
        else np.zeros(_ROWS)
        for name, kind in design.schema.items()
    }
    X, _ = design.compact_rows(batch)
    Z = X[:, len(design.layout.blocks) :]
    center = (Z / _ROWS).sum(axis=0)
    # squares of what is at most 1 neither overflow nor vanish
    reach = np.maximum(np.abs(Z - center).max(axis=0), _LEAST_SCALE)
    sd = reach * np.sqrt((((Z - center) / reach) ** 2).mean(axis=0))
    sd = np.where(sd > _LEAST_SCALE, sd, 1.0)
    U = (Z - center) / sd
    correlation = U.T @ U / _ROWS + _JITTER * np.eye(len(sd))
    np.fill_diagonal(correlation, np.maximum(np.diag(correlation), 1.0) + _JITTER)
    return center, np.linalg.cholesky(correlation) * sd[:, None]


def _quantiles(marginal: Marginal) -> np.ndarray:
    """Return values (_ROWS,) distributed as a marginal, except for a part uniform on its range."""
    uniform = int(_UNIFORM * _ROWS)
    places = (np.arange(_ROWS - uniform) + 0.5) / (_ROWS - uniform)
    index = np.searchsorted(np.cumsum(marginal.weights), places)
    points = marginal.points[np.minimum(index, len(marginal.points) - 1)]
    return np.concatenate([points, np.linspace(marginal.low, marginal.high, uniform)])
