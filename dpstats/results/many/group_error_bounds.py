"""Simulate error bounds of the releases of groups."""

import numpy as np
import pandas as pd

from dpstats.errors import ArgumentError, typed
from dpstats.evidence import BlockEvidence, Evidence, NewtonEvidence
from dpstats.results.many.group_member import member
from dpstats.results.one.error_bounds import (
    check_options,
    checked_q,
    checked_trials,
    from_reference,
    from_sums,
    not_needed,
)
from dpstats.rows.group_labels import columns_of


def group_error_bounds(
    result, combinations: np.ndarray, q: float, reference, trials: int, options
) -> np.ndarray:
    """Bound the errors of all quantities of each group, (G, S + q); NaN where there is no release.

    ``combinations`` (S + q, S) write the quantities by the coefficients; ``reference`` is None or a
    data frame of public rows with the group columns.
    """
    q, trials = checked_q(q), checked_trials(trials)
    check_options(reference, options)
    if reference is not None and not isinstance(reference, pd.DataFrame):
        raise ArgumentError(f"expected reference to be a data frame, got {typed(reference)}")
    if reference is not None and not {*columns_of(result.by)} <= {*reference}:
        raise ArgumentError(f"expected reference to have the group column {result.by!r}")
    if reference is not None and isinstance(result.stack.evidence, NewtonEvidence):
        raise not_needed(result.method)
    bounds = [
        _of_group(result, g, combinations, q, reference, trials, options)
        for g in range(len(result))
    ]
    return np.array(bounds).reshape(-1, len(combinations))


def _of_group(result, g: int, combinations, q, reference, trials, options) -> np.ndarray:
    """Bound the errors of one group's quantities, (S + q,)."""
    params = result.estimates[g, : result.size]
    if result.statuses[g] == "not_identified" and reference is None:
        return np.full(len(combinations), np.inf)
    of_groups = Evidence() if result.stack.has_companions else result.stack.evidence
    evidence = of_groups[g]
    works_out = isinstance(of_groups, NewtonEvidence)
    if works_out or (reference is None and isinstance(of_groups, BlockEvidence)):
        if not isinstance(evidence, BlockEvidence | NewtonEvidence):
            return np.full(len(combinations), np.nan)
        return member(result, g).error_bound(q, trials=trials).to_numpy()
    sums = evidence.sums()
    if sums is not None and reference is None:
        return from_sums(sums, combinations, q, trials)
    if np.isnan(params).any():
        return np.full(len(combinations), np.nan)
    rows = None if reference is None else reference[_has_label(reference, result, g)]
    return from_reference(result, params, rows, combinations, None, q, trials, options)


def _has_label(table: pd.DataFrame, result, g: int) -> np.ndarray:
    """Mark the rows of a table that belong to group number g."""
    label = [result.labels[g]] if isinstance(result.by, str) else result.labels[g]
    pairs = zip(columns_of(result.by), label, strict=True)
    return np.logical_and.reduce([table[name] == value for name, value in pairs])
