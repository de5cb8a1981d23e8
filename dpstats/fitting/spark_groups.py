"""Fits of tables whose rows are elsewhere: what is refused, and groups fitted by the workers."""

from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from dpstats.engines import Table
from dpstats.errors import ArgumentError, Defect
from dpstats.fitting.group_batches import Outcomes, column_of
from dpstats.fitting.groups import group_results
from dpstats.fitting.single import NO_RANGE
from dpstats.mechanisms import METHODS
from dpstats.mechanisms.shared import Problem, Release
from dpstats.noise import Noise
from dpstats.privacy import Event
from dpstats.request import Request
from dpstats.request.group_labels import columns_of, listed_labels, present_rows
from dpstats.results import DPGroupResults


def check_remote(request: Request, by) -> None:
    """Raise ArgumentError unless rows that stay where they are suffice; no row is read."""
    if not request.table.remote:
        return
    if request.selection:
        raise ArgumentError(
            f"select={request.selection.selector.name!r} compares rows with one another, which a "
            "Spark DataFrame keeps apart; leave select out or pass data.toPandas()"
        )
    if by is None and not request.method.sums:
        sums = ", ".join(name for name, method in METHODS.items() if method.sums)
        raise ArgumentError(
            f"{request.method.name} needs all rows in one place, which a Spark DataFrame keeps "
            f"apart; use one of {sums} or pass data.toPandas()"
        )
    if by is not None and not Noise(request.cost).private:
        raise ArgumentError(
            "insecure_seed does not reach Spark's workers, which draw the noise of their groups; "
            "leave it out or pass data.toPandas()"
        )
    if by is not None and request.table.speculates:
        raise ArgumentError(
            "with spark.speculation two tasks may draw noise for the same group; start the "
            "session with spark.speculation=false"
        )


class Fitted(NamedTuple):
    """A label, its group's release and the events that made it."""

    label: object
    release: Release
    events: list[Event]


def fit_groups_on_workers(
    request: Request, known: Request | None, noise: Noise, by, groups
) -> DPGroupResults:
    """One release a group, with noise drawn by the worker that holds the group's rows.

    Guarantee. That of :func:`~dpstats.fitting.groups.fit_groups`: each row is in one group, and
    each group's release has the whole of the cost. The noise comes from the operating system of
    the machine that draws it. A listed group without rows is released here, by the same code.
    """
    final = known or request
    problem = final.problem(final.design())
    listed = listed_labels(final.table, by, groups)
    labels = listed
    if listed is None:
        _, labels = present_rows(final.table.distinct(columns_of(by)), by)
    if known is None:
        outcomes = Outcomes.nothing(len(labels), problem, "no_range", NO_RANGE)
    else:
        outcomes = Outcomes(len(labels), problem)
        for g, one in enumerate(_fits(final, problem, by, labels, listed is not None)):
            outcomes.put([g], column_of(one.release))
            outcomes.record(one.events)
    return group_results(final, problem, by, labels, listed is None, outcomes, noise)


def _fits(request: Request, problem: Problem, by, labels: tuple, public: bool) -> list[Fitted]:
    """The fit of each label, in their order; a defect names a label if they are public."""
    bare = replace(request, table=None)
    fit = partial(_fit, bare, problem, public)
    answer = partial(_fits_of_table, bare, bare.wide_design(), fit, by, frozenset(labels))
    fits = request.table.of_groups(list(request.schema), columns_of(by), answer)
    found = {one.label: one for one in fits}
    none = np.empty((0, len(problem.low))), np.empty(0)
    return [found.get(label) or fit(label, *none) for label in labels]


def _fits_of_table(
    request: Request, design, fit, by, listed: frozenset, table: Table
) -> list[Fitted]:
    """The fits of the listed labels in a table; Spark may put labels together that differ."""
    codes, labels = present_rows(table, by)
    parts = replace(request, table=table).rows(design, codes)
    X, y, codes = (np.concatenate(part) for part in zip(*parts, strict=True))
    return [
        fit(label, X[codes == code], y[codes == code])
        for code, label in enumerate(labels)
        if label in listed
    ]


def _fit(request: Request, problem: Problem, public: bool, label, X, y) -> Fitted:
    cost, noise = request.fit_cost, Noise(request.fit_cost)
    try:
        release = request.method.fit(
            X, y, problem=problem, cost=cost, noise=noise, **request.options
        )
    except Exception as error:
        group = f"the group {label!r}" if public else "a group"
        raise Defect(f"{type(error).__name__} in {group}") from None
    return Fitted(label, release, noise.events)
