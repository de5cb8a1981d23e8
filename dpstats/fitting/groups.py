"""by=: one private fit a group, under parallel composition."""

from dataclasses import replace

from dpstats.fitting.group_batches import GroupedRows, Outcomes, fit_each
from dpstats.fitting.single import NO_RANGE
from dpstats.noise import Noise
from dpstats.privacy import ADD_REMOVE
from dpstats.request import Request
from dpstats.request.group_labels import columns_of, group_rows
from dpstats.results import DPGroupResults


def fit_groups(
    request: Request, known: Request | None, noise: Noise, by, groups, progress, n_jobs
) -> DPGroupResults:
    """One release a group, each with the whole of the mechanism's cost.

    Guarantee. Under add/remove one row belongs to one group, so the releases together
    cost what one costs (parallel composition; McSherry 2009, Theorem 4). Under
    replace-one the same holds for a row that stays in its group; group membership and
    the groups' sizes are treated as public, and the report says so.
    """
    final = (known or request).gathered(*columns_of(by))
    problem = final.problem(final.design())
    codes, labels, present = group_rows(final.table, by, groups)
    if known is None:
        outcomes = Outcomes.nothing(len(labels), problem, "no_range", NO_RANGE)
    else:
        rows = GroupedRows.of(final, codes, len(labels))
        outcomes = fit_each(final, problem, rows, None if present else labels, progress, n_jobs)
    return group_results(final, problem, by, labels, present, outcomes, noise)


def group_results(
    request: Request, problem, by, labels, present: bool, outcomes: Outcomes, noise: Noise
) -> DPGroupResults:
    """The result that holds these outcomes; ``present`` says the labels were read off the rows.

    ``noise`` drew what all groups share, such as ranges.
    """
    outcomes.estimates.flags.writeable = False
    events = [*noise.events, *outcomes.events]
    report = request.report(events, noise.private, _assumptions(request, by, present))
    return DPGroupResults(
        by=by if isinstance(by, str) else tuple(by),
        labels=labels,
        formula=request.formula.text,
        method=request.method.name,
        names=(*request.design().names, *request.point_labels()),
        estimates=outcomes.estimates,
        stack=outcomes.stack,
        x_new=problem.x_new,
        released=tuple(outcomes.statuses),
        reasons=tuple(outcomes.reasons),
        size=len(problem.low),
        schema=dict(request.schema),
        term_bounds=dict(request.term_bounds),
        privacy=replace(report, parallel=True),
        selected=request.selected,
        plan=request.plan,
        share=request.share,
    )


def _assumptions(request: Request, by, present: bool) -> tuple[str, ...]:
    by = " x ".join(columns_of(by))
    said = [f"each row belongs to one {by}, so the groups together cost what one group costs"]
    if present:
        said.append(f"the labels of {by} present in the data are treated as public")
    else:
        said.append(f"the list of {by} labels is public; other rows are left out")
    if request.neighbors != ADD_REMOVE:
        said.append(
            f"the {by} of each row, and so each group's number of rows, is treated as public"
        )
    return tuple(said)
