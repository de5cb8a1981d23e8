"""Check the arguments of dp_describe before a row is read."""

from collections.abc import Sequence

import numpy as np

from dpstats.call.declarations import kind_of_column
from dpstats.codebook import Schema
from dpstats.codebook.schema import PARTS
from dpstats.describe.request import COUNTS, DescribeRequest
from dpstats.engines import AnyTable
from dpstats.engines.columns import UNTYPED
from dpstats.engines.open_table import open_table
from dpstats.errors import ArgumentError, shown
from dpstats.option_checks import flag, is_word, number
from dpstats.privacy import ADD_REMOVE, DEFAULT_DELTA, GDP, RELATIONS, validate_guarantee
from dpstats.rows.group_labels import COLUMNS
from dpstats.rows.privacy_unit import declared_unit
from dpstats.rows.subset import declared_subset
from dpstats.rows.weights import declared_weights
from dpstats.schema import BOOLEAN, UNLIMITED, Categorical, Numeric, check_labels, plain_labels
from dpstats.spelling import check_word, near_or_listed, no_column

STATISTICS = ("n", "missing", "mean", "sd", "quantiles", "count", "share")
# Farther bounds have fourth powers beyond the range of doubles.
_FARTHEST = 1e60
_REFUSED = {
    "min": "the smallest value is that of one row",
    "max": "the largest value is that of one row",
    "nunique": "one row can bring a value that no other has",
    "mode": "one row can make another value the most frequent one",
}
_INSTEAD = {
    "nunique": "declare levels= to count rows by level",
    "mode": "declare levels= to count rows by level",
}


def make_request(
    data, columns, *, declared: Schema, by, groups, epsilon, delta, quantiles, statistics, alpha,
    subset, unit, max_rows, max_groups, weights, trim_weights, neighbors, missing,
    histogram,
) -> DescribeRequest:  # fmt: skip
    """Check every argument against the data's column types, and build the request."""
    epsilon, delta = validate_guarantee(epsilon, DEFAULT_DELTA if delta is None else delta)
    if delta == 0:
        raise ArgumentError("dp_describe needs delta > 0, got delta=0; leave delta out for 1e-6")
    _check_plain(neighbors, missing)
    asked, histogram = _statistics(statistics), flag("histogram")(histogram)
    table = open_table(data)
    names = _names(columns, by, table)
    _check_declared(declared, table)
    table = table.typed(declared.types)
    of_persons = declared_unit(unit, max_rows, max_groups, table, by)
    of_rows = declared_weights(weights, trim_weights, declared.bounds, table)
    kinds = {name: _kind(name, table, declared) for name in names}
    labels = _labels(by, groups, table, declared)
    known = {name: UNLIMITED if kind is None else kind for name, kind in kinds.items()}
    beside = {} if of_rows is None else {weights: of_rows.kind}
    beside |= {} if by is None else {by: Categorical(labels)}
    return DescribeRequest(
        table=table,
        columns=kinds,
        whole=frozenset(name for name in names if table.kind(name) == "integer"),
        by=by,
        labels=labels,
        epsilon=epsilon,
        delta=delta,
        quantiles=_quantiles(quantiles),
        alpha=number("alpha", 0.001, 0.5)(alpha),
        histogram=histogram,
        only_counts=bool(asked) and asked <= COUNTS and not histogram,
        subset=declared_subset(subset, table, {**beside, **known}, declared.levels),
        unit=of_persons,
        weights=of_rows,
        cost=GDP.of(epsilon, delta),
    )


def _check_plain(neighbors, missing) -> None:
    """Refuse what is not proven for a description."""
    if neighbors is not None:
        check_word("neighbors", neighbors, RELATIONS)
    if neighbors not in (None, ADD_REMOVE):
        raise ArgumentError(
            f"dp_describe is proven for neighbors='add_remove' only, got {neighbors!r}"
        )
    if not is_word(missing, "drop"):
        raise ArgumentError(f'expected missing="drop", got {shown(missing)}: missing values are '
                            "counted, column by column")  # fmt: skip


def _statistics(statistics) -> frozenset[str]:
    """Return what is asked for; refuse what is not released, with what to ask instead."""
    if statistics is None:
        return frozenset()
    check_labels(statistics, "statistics")
    for name in statistics:
        if isinstance(name, str) and name in _REFUSED:
            instead = _INSTEAD.get(name, "ask for quantiles=(0.01, 0.99), which are of many rows")
            raise ArgumentError(
                f"statistics names {name!r}, which no useful private release has: "
                f"{_REFUSED[name]}; {instead}"
            )
        if is_word(name, "median"):
            raise ArgumentError(
                "statistics names 'median', which is a quantile; ask for quantiles=(0.25, 0.5)"
            )
        check_word("statistics", name, STATISTICS)
    return frozenset(statistics)


def _names(columns, by, table: AnyTable) -> tuple[str, ...]:
    """Return the columns to describe."""
    if columns is None:
        raise ArgumentError(
            'expected columns to name what to describe, as in columns=["age", "sex"]; '
            f"{near_or_listed(columns, table.columns)}"
        )
    if isinstance(columns, str):
        columns = [columns]
    check_labels(columns, "columns")
    if by is not None and not isinstance(by, str):
        raise ArgumentError(
            f"expected by to name one column, got {shown(by)}; for groups by several columns paste "
            "their labels into one column before the call"
        )
    for name in (*columns, *(() if by is None else (by,))):
        if not isinstance(name, str) or name not in table.columns:
            raise no_column(name, table.columns)
    if by in columns:
        raise ArgumentError(f"by={by!r} is among the columns too; leave it out of one of the two")
    return tuple(columns)


def _check_declared(declared: Schema, table: AnyTable) -> None:
    """Refuse declarations of what is no column."""
    for part in PARTS:
        for name in getattr(declared, part):
            if name not in table.columns:
                raise ArgumentError(
                    f"{part} names {name!r}, which is no column of the data; "
                    f"{near_or_listed(name, table.columns)}"
                )


def _kind(name: str, table: AnyTable, declared: Schema) -> Categorical | Numeric | None:
    """Return levels of a factor, bounds of a number, or None for a number without."""
    if name in declared.levels:
        table.check_labels(name, declared.levels[name], f"levels[{name!r}]")
    factor = kind_of_column(name, table, declared.levels)
    if factor is not None:
        return factor
    if name in declared.bounds:
        low, high = declared.bounds[name]
        if max(abs(low), abs(high)) > _FARTHEST:
            raise ArgumentError(
                f"the bounds of {name} reach beyond {_FARTHEST:g}, where fourth powers leave the "
                "range of doubles; tighten bounds"
            )
        return Numeric(low, high)
    kind = table.kind(name)
    if kind in UNTYPED:
        raise ArgumentError(
            f"nothing declares what {name} is, a column of {UNTYPED[kind]}: give "
            f'types={{"{name}": "number"}} or levels={{"{name}": [...]}}'
        )
    return None


def _labels(by, groups, table: AnyTable, declared: Schema) -> tuple:
    """Return the public labels of groups, (None,) without."""
    if by is None:
        if groups is not None:
            raise ArgumentError("groups= lists the labels of a group column; name it with by=")
        return (None,)
    if by in COLUMNS:
        raise ArgumentError(f"by={by!r} is a column of the result; rename the group column")
    listed = declared.levels.get(by, table.levels(by)) if groups is None else groups
    if table.kind(by) == "boolean" and listed is None:
        listed = BOOLEAN.levels
    if listed is None or isinstance(listed, str):
        raise ArgumentError(
            f"the labels of by={by!r} must be public: list them in groups=[...] or levels="
        )
    check_labels(listed, "groups")
    labels = plain_labels(listed)
    table.check_labels(by, labels, "groups")
    return labels


def _quantiles(quantiles) -> tuple[float, ...]:
    """Return the quantiles to release."""
    if isinstance(quantiles, np.ndarray | np.generic):
        quantiles = quantiles.tolist()
    if isinstance(quantiles, float | int):
        quantiles = [quantiles]
    if isinstance(quantiles, str) or not isinstance(quantiles, Sequence):
        raise ArgumentError(f"expected quantiles to list numbers, got {shown(quantiles)}")
    checked = tuple(map(number("quantiles", 0.001, 0.999), quantiles))
    if len(set(checked)) < len(checked):
        raise ArgumentError(f"expected quantiles to name none twice, got {shown(quantiles)}")
    return checked
