"""Take a column as the kind that is declared of it, and convert it to numbers.

The kind of a column follows from its declared type alone. The conversions are total: each cell is
converted by itself, and a value that cannot be converted counts as missing, because an exception
would tell that it is there.
"""

import numpy as np

from dpstats.engines.columns.column import Column
from dpstats.errors import ArgumentError

KINDS = ("number", "integer", "boolean", "string", "date")
"""Kinds that ``types=`` may declare."""
UNTYPED = {"text": "a text file", "object": "a list or an object column"}
"""Kinds of columns that declare no type, and what they come from."""
NUMERIC = ("number", "integer", "boolean")


def declared(name: str, column: Column, kind: str) -> Column:
    """Return a column as the kind that ``types=`` declares.

    Raises
    ------
    ArgumentError
        For another word, or a column whose own type says something else.
    """
    if kind not in KINDS:
        raise ArgumentError(
            f"expected types[{name!r}] to be one of {', '.join(KINDS)}, got {kind!r}"
        )
    if column.kind in UNTYPED:
        return column.typed(kind)
    if column.kind != kind and not (kind == "number" and column.kind in NUMERIC):
        raise ArgumentError(
            f"types declares {name!r} {kind} and its type is {column.dtype}; types= is for text "
            "files, lists and object columns, so convert the column before the call"
        )
    return column


def no_levels(name: str, more: str = "") -> ArgumentError:
    """Build the error for a factor whose levels neither its type nor ``levels=`` declares."""
    return ArgumentError(
        f"the levels of {name} must be declared, because those present in the data are "
        f'private: levels={{"{name}": [...]}} or a Categorical column (in polars an Enum){more}'
    )


def no_number(name: str, kind: str) -> ArgumentError:
    """Build the error for a column that is neither a number nor a factor.

    >>> print(no_number("born", "datetime"))
    born holds dates or times; make a column of days, or a factor, before the call
    """
    if kind in ("date", "datetime"):
        said = "holds dates or times; make a column of days, or a factor,"
    else:
        said = "is neither numeric nor categorical; make a number or a factor of it"
    return ArgumentError(f"{name} {said} before the call")


def numbers(column: Column) -> np.ndarray:
    """Convert a numeric or untyped column to floats; what is not a number is missing.

    Parameters
    ----------
    column : Column
        The column, (n,). In one without a type, text is read as a number where it is one.

    Returns
    -------
    ndarray
        float64 (n,), NaN for missing: the column's own memory where it is one piece. It is always
        contiguous, aligned and read-only, as loops are compiled for each kind of array, and
        functions of numpy differ by it in their last bit.

    Examples
    --------
    >>> from dpstats.engines.columns.python_columns import PythonColumn
    >>> numbers(PythonColumn.of(["2.5", "n/a"]))
    array([2.5, nan])
    """
    if column.kind in UNTYPED:
        column = column.typed("number")
    values = column.floats()
    in_one_piece = values.strides == (values.itemsize,) and values.flags.aligned
    values = values.view() if in_one_piece else values.copy()
    values.flags.writeable = False
    return values
