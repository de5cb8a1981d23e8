"""Fit Spark tables: check what is supported, and fit groups on the workers."""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple, cast

import numpy as np

from dpstats.call import Request
from dpstats.engines import RemoteTable, Table, is_remote
from dpstats.errors import ArgumentError, Defect
from dpstats.estimators import METHODS
from dpstats.estimators.contract import Release
from dpstats.noise import Noise
from dpstats.numerics import Rows
from dpstats.privacy import Event
from dpstats.results import DPGroupResults
from dpstats.rows import RowReader, RowsInUse
from dpstats.rows.group_labels import columns_of, listed_labels, present_rows
from dpstats.run.group_batches import Outcomes
from dpstats.run.group_fits import GroupFit, in_columns
from dpstats.run.groups import group_results
from dpstats.run.passes import TablePasses
from dpstats.schema import Categorical


def check_remote(request: Request, by) -> None:
    """Raise ArgumentError unless the fit works on rows kept by workers; no row is read."""
    if not is_remote(request.table):
        return
    if request.selection:
        raise ArgumentError(
            f"select={request.selection.selector.name!r} compares rows with one another, which a "
            "Spark DataFrame keeps apart; leave select out or pass data.toPandas()"
        )
    if by is None and request.formula.absorbed is None and not request.method.fixed_size_summary:
        sums = ", ".join(name for name, method in METHODS.items() if method.fixed_size_summary)
        raise ArgumentError(
            f"{request.method.name} needs all rows in one place, which a Spark DataFrame keeps "
            f"apart; use one of {sums} or pass data.toPandas()"
        )
    if by is not None and request.unit is not None:
        raise ArgumentError(
            f"unit={request.unit.column!r} with by= compares the groups of a person, which a Spark "
            "DataFrame keeps apart; leave by out or pass data.toPandas()"
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
    """Hold a label, its group's release, the events that made it and the number of its rows."""

    label: object
    release: Release
    events: list[Event]
    rows: int


class Task(NamedTuple):
    """Hold a worker's instructions: the fit, how rows become its design, and the groups."""

    fit: GroupFit
    rows: RowsInUse
    read: RowReader
    by: str | Sequence[str]
    labels: frozenset
    public: bool


def fit_groups_on_workers(prepared: TablePasses, noise: Noise, by, groups) -> DPGroupResults:
    """Release one fit per group, with noise drawn by the worker that holds the group's rows.

    Guarantee. That of :func:`~dpstats.run.groups.fit_groups`: each row is in one group, and
    each group's release has the whole of the cost. The noise comes from the operating system of
    the machine that draws it. A listed group without rows is released here, by the same code.
    """
    table = cast(RemoteTable, prepared.request.table)
    labels = listed_labels(table, by, groups)
    present = labels is None
    if labels is None:
        _, labels = present_rows(table.distinct(columns_of(by)), by)
    fits = _fits(prepared, by, labels, not present)
    outcomes = Outcomes(np.array([fitted.rows for fitted in fits], int), prepared)
    for g, fitted in enumerate(fits):
        outcomes.put([g], in_columns([fitted.release]))
        outcomes.record(fitted.events)
    return group_results(prepared, by, labels, present, outcomes, noise)


def _fits(prepared: TablePasses, by, labels: tuple, public: bool) -> list[Fitted]:
    """Return the fit of each label, in their order; a defect names a label if they are public."""
    request = prepared.request
    task = Task(
        GroupFit(request.method, request.options, prepared.problem, prepared.cost),
        request.rows_in_use,
        request.read_rows,
        by,
        frozenset(labels),
        public,
    )
    answer = partial(_fits_of_table, task)
    columns = request.rows_in_use.columns
    fits = cast(RemoteTable, request.table).of_groups(list(columns), columns_of(by), answer)
    fit_of = {fitted.label: fitted for fitted in fits}
    empty = {
        name: np.empty(0, np.int64 if isinstance(kind, Categorical) else np.float64)
        for name, kind in columns.items()
    }
    no_rows = request.read_rows(empty)
    return [fit_of.get(label) or _fit(task, label, no_rows) for label in labels]


def _fits_of_table(task: Task, table: Table) -> list[Fitted]:
    """Fit the listed labels in a table; Spark may put labels together that differ."""
    codes, labels = present_rows(table, task.by)
    parts, of_rows = zip(*task.rows.batches(table, task.read, codes), strict=True)
    rows, codes = Rows.joined(parts), np.concatenate(of_rows)
    return [
        _fit(task, label, rows[codes == code])
        for code, label in enumerate(labels)
        if label in task.labels
    ]


def _fit(task: Task, label, rows: Rows) -> Fitted:
    try:
        release, events = task.fit.release(rows)
    except Exception as error:
        group = f"the group {label!r}" if task.public else "a group"
        raise Defect(f"{type(error).__name__} in {group}") from None
    return Fitted(label, release, events, len(rows))
