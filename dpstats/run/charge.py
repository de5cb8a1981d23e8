"""Charge a call to its budget, and run its requests one after another."""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import PurePath
from typing import Any

import numpy as np

from dpstats.call import Request
from dpstats.call.facts import request_facts
from dpstats.errors import ArgumentError, Defect, InternalError, is_interrupt, shown
from dpstats.noise import Noise
from dpstats.numerics.first_use import shown_if_compiling
from dpstats.option_checks import checked_progress
from dpstats.privacy import Charge, Chargeable, Cost
from dpstats.progress_bar import step_counter
from dpstats.rows.group_labels import columns_of
from dpstats.run.groups import fit_groups
from dpstats.run.outcomes import fit_outcomes
from dpstats.run.prepare import prepare
from dpstats.run.single import fit_single
from dpstats.run.spark_groups import fit_groups_on_workers
from dpstats.tracebacks import SPENT, count_as_spent


def run_charged(
    requests: dict[str | None, Request], budget: Chargeable | None, by, groups, progress, n_jobs
):
    """Charge a call to its budget, run its requests, and return the result or a dict of them."""
    progress = checked_progress(progress)
    charge = _charged(budget, requests, by, groups)
    if charge.results is not None:
        return charge.results
    results: dict[Any, Any] = {}
    for name, request in requests.items():
        results[name], defect = _released(request, by, groups, progress, n_jobs)
        if defect is not None:
            charge.fail()
            raise InternalError(f"the fit stopped with {defect}; {SPENT}")
    results = results.get(None, results)
    charge.release(results)
    return results


def _charged(budget: Chargeable | None, requests: dict[str | None, Request], by, groups) -> Charge:
    """Charge the call to the budget, if there is one."""
    request = next(iter(requests.values()))
    facts = partial(request_facts, requests, by, groups)
    return reserved(budget, request.whole_call, request.relation, facts)


def reserved(
    budget: Chargeable | None,
    whole_call: tuple[float, float, Cost],
    relation: str,
    facts: Callable[[], dict],
) -> Charge:
    """Charge a call of this guarantee and cost, which ``facts()`` describes, to a budget."""
    count_as_spent()
    if budget is None:
        return Charge()
    if not isinstance(budget, Chargeable):
        path = isinstance(budget, str | PurePath)
        opened = "; open the file of a ledger with dpstats.Ledger(path)" if path else ""
        raise ArgumentError(
            "expected budget to be a dpstats.Budget or a dpstats.Ledger, got "
            f"{shown(budget)}{opened}"
        )
    return budget.reserve(*whole_call, relation, facts)


def _released(request: Request, by, groups, progress, n_jobs):
    """Return the result and None, or None and the type of an exception, which may hold rows."""

    def release(count):
        noise = Noise(request.cost, count)
        prepared = prepare(request, noise, () if by is None else columns_of(by))
        if request.outcomes is not None:
            return fit_outcomes(prepared, noise)
        if by is None:
            return fit_single(prepared, noise)
        if request.table.remote:
            return fit_groups_on_workers(prepared, noise, by, groups)
        return fit_groups(prepared, noise, by, groups, progress, n_jobs)

    # groups have a bar of their own
    return guarded(release, request.method.name, progress, progress if by is None else False)


def guarded(release: Callable[..., Any], name: str, progress, counted):
    """Return ``release(count)`` and None, or None and what an exception may say of itself.

    That is its type alone, as its message and its frames may hold rows.
    """
    handled = sys.exception()
    try:
        with (
            np.errstate(all="ignore"),
            shown_if_compiling(progress),
            step_counter(name, counted) as count,
        ):
            return release(count), None
    except Exception as error:
        if is_interrupt(error, handled):
            raise KeyboardInterrupt from None
        return None, str(error) if isinstance(error, Defect) else type(error).__name__
