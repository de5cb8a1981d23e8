"""Prepare a request for its mechanism: select terms and estimate ranges within the budget."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from dpstats.call import Request
from dpstats.engines import is_remote
from dpstats.estimators.contract import Method, Passes, Problem, Release
from dpstats.noise import Noise
from dpstats.numerics import Rows
from dpstats.privacy import Cost
from dpstats.range_estimation.estimate import estimate_ranges
from dpstats.rows import Held, RowReader
from dpstats.run.marginals import with_marginals
from dpstats.run.passes import TablePasses, in_use, in_whole_groups, may_hold
from dpstats.schema import Numeric
from dpstats.selection import Candidates
from dpstats.spelling import listed

# A range from two quantiles is extended by this part of its width on either side where rows beyond
# it bend what a method fits.
_WIDENED = 0.2
_NO_RANGE = (
    "no range stood out from the noise at this epsilon; declare bounds= for the numeric columns"
)


def prepare(request: Request, noise: Noise, by: Sequence[str] = ()) -> TablePasses:
    """Select terms and estimate missing ranges, in this order, and work out the problem.

    Guarantee. Each step has a fraction of the request's cost fixed beforehand, and what is left is
    the cost of the result; the proofs are the selector's and that of
    :func:`~dpstats.range_estimation.estimate.estimate_ranges`.
    """
    request = with_selected_terms(with_whole_units(request, by), noise)
    total = partial(in_use, request)
    if not may_hold(request):
        return TablePasses.of(with_ranges(request, noise, total))
    held = Held(total)
    prepared = TablePasses.of(with_ranges(request, noise, held.sum))
    return prepared if by else replace(prepared, held=held)


def with_whole_units(request: Request, by: Sequence[str] = ()) -> Request:
    """Have the table read all rows of a privacy unit together, if there is one.

    With the columns ``by`` of groups it is held in memory, where rows of groups are. Of rows that
    stay with workers those of an absorbed label come together where pairs of them are taken.
    """
    if request.unit is None:
        absorbed, table = request.formula.absorbed, request.table
        if by or absorbed is None or not is_remote(table) or not in_whole_groups(request):
            return request
        return replace(request, table=table.by_label(absorbed))
    table, columns, unit = request.table, request.rows_in_use.columns, request.unit.column
    if by:
        table = table.gathered(list(dict.fromkeys((*columns, unit, *by))))
    return replace(request, table=table.by_unit(columns, unit))


def with_selected_terms(request: Request, noise: Noise) -> Request:
    """Reduce the request to the selected terms, in the formula and in the schema.

    Terms are chosen as wholes, so that a factor keeps all its columns; the intercept
    is not at stake. Missing bounds are not needed for it, and are estimated afterwards
    for the selected terms alone.
    """
    selection = request.selection
    if selection is None:
        return request
    cost = request.cost.part(selection.share)
    chosen = selection.selector.select(
        _candidates(request, selection.candidates), selection.k, cost, noise
    )
    return request.keeping(tuple(selection.candidates[term] for term in chosen))


def _candidates(request: Request, terms: Sequence) -> Candidates:
    """Collect the complete rows in the form that a selector takes."""
    design = request.row_design
    every = range(len(design.names))
    columns = [every[design.terms[term]] for term in terms]
    flat = [j for term in columns for j in term]
    read = RowReader(design, by_unit=request.unit is not None)
    rows = Rows.joined([part for part, _ in request.rows_in_use.batches(request.table, read)])
    units = None if request.unit is None else rows.unit_order
    places = np.repeat(np.arange(len(columns)), [len(term) for term in columns])
    return Candidates(rows.numbers[:, flat], rows.response, places, request.neighbors, units)


def with_ranges(request: Request, noise: Noise, total: Callable) -> Request:
    """Estimate every missing range of the request by sums over the rows in use, ``total(each)``.

    The response is worth a quarter of the columns: its range decides over all of them. Where a
    range that is needed cannot be released, the method is replaced by one that says so.
    """
    if request.method.ranges.marginals:
        return with_marginals(request, noise, total)
    if not request.unbounded:
        return request
    cost, response = request.cost.part(request.ranges_share), request.formula.variables[0]
    weights = dict.fromkeys(request.unbounded, 1.0)
    if response in weights:
        weights[response] = max(1.0, len(weights) / 4)
    everywhere = request.method.ranges.everywhere
    careful = request.method.ranges.widened
    ranges = estimate_ranges(
        total, weights, cost, noise, request.neighbors, everywhere, response, careful,
        request.one,
    )  # fmt: skip
    if len(ranges.found) < len(weights):
        return replace(request, method=_without_range(request.method), options={})
    found, rough = dict(ranges.found), ranges.quantile_based
    if careful:
        found |= {name: _widened(found[name]) for name in rough}
    unsure = tuple(name for name in found if name not in ranges.light)
    return request.with_estimated(found, _note_on_quantiles(rough), ranges.rows, unsure)


def _widened(kind: Numeric) -> Numeric:
    """Extend an estimated range on both sides."""
    more = _WIDENED * (kind.high - kind.low)
    return Numeric(kind.low - more, kind.high + more)


def _note_on_quantiles(rows: Mapping[str, float]) -> str:
    """Name the columns whose range comes from two quantiles, and the rows a histogram needs."""
    if not rows:
        return ""
    return (
        f"too few rows for a histogram of {listed([*rows])} at this epsilon (about "
        f"{max(rows.values()):,.0f} would do), so only a median and a spread were released for a "
        "range; bounds= are better"
    )


def _without_range(method: Method) -> Method:
    """Replace the method's release by one that only reports that no range was released."""
    return replace(method, release=_release_nothing, each=None)


def _release_nothing(passes: Passes, problem: Problem, cost: Cost, noise: Noise) -> Release:
    """Return the released failure, which draws no noise and spends nothing."""
    passes.sum(len)  # rows are counted where their number is public
    return Release.nothing(problem, "no_range", _NO_RANGE)
