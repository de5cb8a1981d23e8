"""Read columns of polars."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from dpstats.engines.columns.column import Column, Ticks
from dpstats.engines.columns.python_columns import PythonColumn


def _kind(dtype: pl.DataType) -> str:
    """Return the kind of a type of polars."""
    if dtype.is_integer():
        return "integer"
    if dtype.is_float() or dtype == pl.Decimal:
        return "number"
    named = {
        pl.Boolean: "boolean",
        pl.String: "string",
        pl.Categorical: "category",
        pl.Enum: "category",
        pl.Date: "date",
        pl.Datetime: "datetime",
    }
    return next((kind for own, kind in named.items() if dtype == own), "other")


def polars_column(series: pl.Series) -> Column:
    """Wrap a Series by its dtype; objects are Python's."""
    if series.dtype in (pl.Object, pl.Null):
        return PythonColumn.of(series.to_list())
    return PolarsColumn(series)


class PolarsColumn(Column):
    """Read a column of polars.

    The strings of a Categorical are those that happen to be in the data, so it declares no
    levels; those of an Enum are declared.

    Examples
    --------
    >>> PolarsColumn(pl.Series(["b"], dtype=pl.Enum(["a", "b"]))).levels
    ('a', 'b')
    """

    def __init__(self, values: pl.Series):
        self._values = values
        dtype: Any = values.dtype
        self.kind, self.dtype = _kind(dtype), type(dtype).__name__
        if self.kind == "datetime":
            self.unit, self.zone = dtype.time_unit, dtype.time_zone

    @property
    def levels(self) -> tuple | None:
        dtype: Any = self._values.dtype
        return tuple(dtype.categories) if dtype == pl.Enum else None

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, rows: slice) -> "PolarsColumn":
        return PolarsColumn(self._values[rows])

    @classmethod
    def joined(cls, parts: Sequence["PolarsColumn"]) -> "PolarsColumn":
        return cls(pl.concat([part._values for part in parts]))

    def floats(self) -> np.ndarray:
        return self._values.cast(pl.Float64, strict=False).to_numpy()

    def ticks(self) -> Ticks:
        values = self._values.to_physical()
        if values.dtype in (pl.Int128, getattr(pl, "UInt128", None)):
            values = values.cast(pl.Int64, strict=False)
        filled = values.fill_null(False if self.kind == "boolean" else 0)
        return Ticks(filled.to_numpy(), values.is_null().to_numpy())

    def located(self, position: dict[str, int]) -> np.ndarray:
        old, new = pl.Series(list(position), dtype=pl.String), list(position.values())
        texts = self._values.cast(pl.String)
        return texts.replace_strict(old, new, default=-1, return_dtype=pl.Int64).to_numpy()

    def distinct(self) -> tuple[np.ndarray, list]:
        texts = self._values.cast(pl.String)
        values = texts.drop_nulls().unique().to_list()
        return self.located({value: i for i, value in enumerate(values)}), values
