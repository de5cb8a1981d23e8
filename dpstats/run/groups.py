"""Release one private fit per group of by=, under parallel composition."""

from dataclasses import replace
from functools import partial

from dpstats.call import Request
from dpstats.noise import Noise
from dpstats.privacy import ADD_REMOVE, REPLACE_ONE
from dpstats.results import DPGroupResults, DPIVGroupResults
from dpstats.rows.group_labels import columns_of, group_rows
from dpstats.run.group_batches import Outcomes, fit_each
from dpstats.run.group_fits import GroupedRows
from dpstats.run.passes import TablePasses


def fit_groups(prepared: TablePasses, noise: Noise, by, groups, progress, n_jobs) -> DPGroupResults:
    """Release the fit of every group, each with the whole of the mechanism's cost.

    Guarantee. Under add/remove one row belongs to one group, so the releases together
    cost what one costs (parallel composition; McSherry 2009, Theorem 4). Under
    replace-one the same holds for a row that stays in its group; group membership and
    the groups' sizes are treated as public, and the report says so. With privacy units the rows of
    a unit are used in at most ``max_groups`` groups, by a rule that depends on them alone
    (:meth:`~dpstats.rows.privacy_unit.PrivacyUnit.in_groups`): one of them costs what one group
    costs, and of several each has that part of the cost, which add up to it (for Gaussian noise the
    squares of mu do).
    """
    prepared = prepared.gathered(*columns_of(by))
    codes, labels, present = group_rows(prepared.table, by, groups)
    rows = GroupedRows.of(prepared, prepared.in_order(codes), len(labels))
    outcomes = fit_each(prepared, rows, None if present else labels, progress, n_jobs)
    return group_results(prepared, by, labels, present, outcomes, noise)


def group_results(
    prepared: TablePasses, by, labels, present: bool, outcomes: Outcomes, noise: Noise
) -> DPGroupResults:
    """Build the results of all groups; ``present`` says that labels were read off the rows.

    ``noise`` drew what all groups share, such as ranges.
    """
    request = prepared.request
    outcomes.estimates.flags.writeable = False
    events = [*noise.events, *outcomes.events]
    report = request.report(events, noise.private, _assumptions(request, by, present))
    names, first, result = request.released_design.names, request.first_stage, DPGroupResults
    if first is not None:
        result = partial(DPIVGroupResults, instrument_formula=first.formula.text)
    return result(
        by=by if isinstance(by, str) else tuple(by),
        labels=labels,
        formula=request.released_formula,
        method=request.method.name,
        names=(*names, *prepared.points),
        estimates=outcomes.estimates,
        stack=outcomes.stack,
        x_new=prepared.x_new,
        released=tuple(outcomes.statuses),
        reasons=tuple(outcomes.reasons),
        size=len(names),
        schema=request.released_schema(),
        term_bounds=dict(request.term_bounds),
        privacy=replace(report, parallel=True),
        selected=request.selected,
        plan=request.plan,
        share=request.share,
        cov_type=outcomes.cov_type,
        labels_present=present,
        sizes=outcomes.sizes if request.neighbors == REPLACE_ONE else None,
        clipping=request.clipping,
        estimated=request.estimated,
        limited=outcomes.limited,
    )


def _composition(request: Request, by: str) -> str:
    """Say why the groups together keep the guarantee."""
    unit = request.unit
    if unit is None:
        return f"each row belongs to one {by}, so the groups together cost what one group costs"
    if unit.max_groups == 1:
        return (
            f"of each {unit.column} the rows in one {by} alone are used, where it has the most, so "
            "the groups together cost what one group costs"
        )
    return (
        f"of each {unit.column} the rows in at most {unit.max_groups} {by} are used, where it has "
        f"the most, and each group has 1/{unit.max_groups} of the budget"
    )


def _assumptions(request: Request, by, present: bool) -> tuple[str, ...]:
    by = " x ".join(columns_of(by))
    said = [_composition(request, by)]
    if present:
        said.append(f"the labels of {by} present in the data are treated as public")
    else:
        said.append(f"the list of {by} labels is public; other rows are left out")
    if request.neighbors != ADD_REMOVE:
        who = "row" if request.unit is None else request.unit.column
        said.append(
            f"the {by} of each {who}, and so each group's number of {who}s, is treated as public"
        )
    return tuple(said)
