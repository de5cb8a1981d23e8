"""Check public values to predict at, from a mapping or a data frame."""

from collections.abc import Collection, Mapping
from decimal import Decimal

import numpy as np
import pandas as pd

from dpstats.errors import ArgumentError, shown, typed
from dpstats.option_checks import real_numbers
from dpstats.schema import Categorical, ModelSchema, Numeric


def public_columns(
    frame, kinds: ModelSchema, bounded: Collection[str] = ()
) -> tuple[int, dict[str, np.ndarray]]:
    """Check new data: count rows, and return float64 numbers or int64 codes (m,) by variable.

    `frame` is a mapping of columns or scalars, or a data frame. Raises ArgumentError for a
    missing column, columns of unequal length, an unknown level, NaN, or a value out of the
    range of a variable in `bounded`.

    >>> from dpstats.schema import BOOLEAN
    >>> public_columns({"x": [1, 2], "b": True}, {"x": Numeric(0, 9), "b": BOOLEAN})
    (2, {'x': array([1., 2.]), 'b': array([1, 1])})
    """
    if frame is None:
        raise ArgumentError(
            "there are no predictions at the rows of the fit, which are confidential; give public "
            "new data with the columns of the formula, as in predict(newdata)"
        )
    raw = {name: _column(frame, name) for name in kinds}
    m = _rows(raw, frame)
    columns = {}
    for name, kind in kinds.items():
        if np.ndim(raw[name]) > 1:
            raise ArgumentError(f"expected one value a row in the column {name} of the new data")
        numeric = isinstance(kind, Numeric)
        values = _numbers(name, raw[name]) if numeric else _codes(name, raw[name], kind)
        columns[name] = np.broadcast_to(values, m)
        if name in bounded and numeric:
            _check_inside(name, columns[name], kind)
    return m, columns


def _column(frame, name: str) -> np.ndarray:
    """Return one column of a mapping or data frame."""
    try:
        return np.atleast_1d(np.asarray(frame[name]))
    except (TypeError, IndexError):  # of lists, arrays and queries that have not run
        raise ArgumentError(
            f"expected new data as a mapping or a data frame with a column {name}, got "
            f"{typed(frame)}"
        ) from None
    except Exception:  # each kind of frame has its own error for this
        raise ArgumentError(
            f"the new data have no column {name}; give a mapping or a data frame with it"
        ) from None


def _rows(raw: dict[str, np.ndarray], frame) -> int:
    """Return the common length of the columns, where those of length one are repeated."""
    others = frame.values() if isinstance(frame, Mapping) and not raw else raw.values()
    lengths = {len(np.atleast_1d(values)) for values in others}
    if not raw and (shape := getattr(frame, "shape", None)):
        return shape[0]
    if len(lengths - {1}) > 1:
        raise ArgumentError(f"the new data have columns of unequal length: {sorted(lengths)}")
    return max(lengths - {1}, default=1)


def _numbers(name: str, values: np.ndarray) -> np.ndarray:
    """Convert a column to finite numbers."""
    if values.dtype.kind in "mM":
        raise ArgumentError(
            f"column {name} of the new data holds dates or times; give numbers, as in the fit"
        )
    try:
        numbers = real_numbers(values)
    except (TypeError, ValueError, OverflowError):
        raise ArgumentError(f"expected numbers in column {name} of the new data") from None
    if not np.isfinite(numbers).all():
        raise ArgumentError(f"column {name} of the new data holds NaN or an infinite value")
    return numbers


def _codes(name: str, values: np.ndarray, kind: Categorical) -> np.ndarray:
    """Convert a column of levels to codes."""
    code = {level: i for i, level in enumerate(kind.levels)}
    # numpy lists dates to the nanosecond as whole numbers
    labels = (pd.Series(values) if values.dtype == "datetime64[ns]" else values).tolist()
    return np.array([_code(name, value, code) for value in labels], dtype=np.int64)


def _code(name: str, value, code: dict) -> int:
    """Return the code of a level."""
    try:
        return code[value]
    except (KeyError, TypeError):
        pass
    if value is None or (value.is_nan() if isinstance(value, Decimal) else value != value):
        raise ArgumentError(f"column {name} of the new data holds a missing value")
    raise ArgumentError(
        f"column {name} of the new data: {shown(value)} is not a level; expected one of "
        f"{list(code)}"
    )


def _check_inside(name: str, values: np.ndarray, kind: Numeric) -> None:
    """Raise ArgumentError for values outside a variable's range."""
    if np.any((values < kind.low) | (values > kind.high)):
        raise ArgumentError(
            f"column {name} of the new data leaves [{kind.low:g}, {kind.high:g}], the range on "
            "which its spline is defined"
        )
