"""Check a call that fits formulas, and run it."""

from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any

from dpstats.call.arguments import make_requests
from dpstats.call.unsupported import check_order, check_supported
from dpstats.codebook import Schema
from dpstats.option_checks import whole
from dpstats.rows.group_labels import check_by, declared_groups
from dpstats.run.charge import run_charged
from dpstats.run.spark_groups import check_remote


def fitted(
    verb: Callable, instead: Mapping[str, str], formula, data, options, budget, progress, n_jobs,
    schema, bounds, levels, types, by, groups, **arguments,
) -> Any:  # fmt: skip
    """Fit each formula of a call of ``verb``, in each group where there are any.

    ``instead`` is what to write for arguments that other packages have, and ``arguments`` are those
    of a request.
    """
    check_order(formula, data, verb.__name__)
    check_supported(options, signature(verb).parameters, verb.__name__, instead)
    declared = Schema.of(schema).updated(bounds, levels, types)
    groups = declared_groups(by, groups, declared.levels)
    requests = make_requests(formula, data, declared=declared, options=options, by=by, **arguments)
    for request in requests.values():
        variables = {n for formula, _ in request.regressions for n in formula.variables}
        check_by(request.table, variables, by, groups)
        check_remote(request, by)
    n_jobs = whole("n_jobs", 1)(n_jobs) if n_jobs is not None else None
    return run_charged(requests, budget, by, groups, progress, n_jobs)
