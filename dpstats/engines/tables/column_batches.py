"""Read columns in memory as a schema says, some rows at a time."""

from collections.abc import Iterator, Mapping

import numpy as np

from dpstats.engines.columns import NUMERIC, UNTYPED, Column, kinds
from dpstats.engines.labels import categories, label_keys
from dpstats.errors import ArgumentError
from dpstats.schema import Batch, Categorical, Kind, Labels, Numeric, Schema

# Rows a batch: enough to outweigh its overhead, few enough for its columns to stay in a cache.
ROWS = 1 << 16


def batches_of(
    chosen: Mapping[str, Column], schema: Schema, n_rows: int, size: int
) -> Iterator[Batch]:
    """Read columns of so many rows, ``size`` at a time; no rows are one batch.

    Raises
    ------
    ArgumentError
        At the call, before a value is read: for a column that is declared Numeric and holds no
        numbers, and for a size below 1.
    """
    if size < 1:
        raise ArgumentError(f"expected size >= 1 row a batch, got {size}")
    for name, declared in schema.items():
        if isinstance(declared, Numeric):
            _check_numeric(name, chosen[name])
    return _batches(chosen, schema, range(0, max(n_rows, 1), size), size)


def _check_numeric(name: str, column: Column) -> None:
    """Raise ArgumentError for a column whose type holds no numbers."""
    if column.kind not in (*NUMERIC, *UNTYPED):
        raise ArgumentError(
            f"column {name!r} is declared numeric and its dtype is {column.dtype}; convert it to "
            f"numbers first, e.g. data[{name!r}] = pandas.to_numeric(data[{name!r}], "
            "errors='coerce')"
        )


def _batches(chosen, schema, starts, size) -> Iterator[Batch]:
    for start in starts:
        rows = chosen
        if len(starts) > 1:  # to slice columns that are one batch costs more than to read them
            rows = {name: column[start : start + size] for name, column in chosen.items()}
        yield {name: _read(rows[name], declared) for name, declared in schema.items()}


def _read(column: Column, declared: Kind) -> np.ndarray:
    """Read some rows of a column as what its schema says."""
    if isinstance(declared, Categorical):
        return categories.match(column, declared.levels)
    return label_keys.keys(column) if isinstance(declared, Labels) else kinds.numbers(column)
