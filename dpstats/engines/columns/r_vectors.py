"""Read columns of R's data frames in R's memory.

R's own conversions lose missing values: NA becomes True, "NA" or -2147483648. Here a column is its
bytes, and the codes by which R marks a missing value are read as such.
"""

import numpy as np
import pandas as pd

from dpstats.engines.columns.column import Column
from dpstats.engines.columns.numpy_columns import CategoricalColumn, NumpyColumn
from dpstats.engines.columns.python_columns import PythonColumn
from dpstats.errors import ArgumentError

NA_INTEGER = -(2**31)


def column(kind: str, data, levels=()) -> Column:
    """Return one column from R's representation of it.

    Parameters
    ----------
    kind : str
        ``"double"``, ``"integer"``, ``"logical"``, ``"character"``, ``"factor"`` or ``"ordered"``.
    data : bytes-like
        Little-endian float64 for ``"double"``, else int32 (n,), in which -2**31 is NA. Of a
        character, factor or ordered column they number the levels from 1.
    levels : sequence of str
        Levels of a factor, or the distinct strings of a character column.

    Returns
    -------
    Column

    Examples
    --------
    >>> codes = np.array([2, NA_INTEGER, 1], dtype="<i4").tobytes()
    >>> column("factor", codes, ["low", "high"]).distinct()
    (array([ 1, -1,  0]), ['low', 'high'])
    """
    if kind == "double":
        return NumpyColumn(np.frombuffer(data, "<f8"))
    values = np.frombuffer(data, "<i4")
    missing = values == NA_INTEGER
    if kind == "integer":
        return NumpyColumn(values, missing)
    if kind == "logical":
        return NumpyColumn(values == 1, missing)
    codes = np.where(_known(values, levels), values - 1, -1)
    if kind == "character":
        strings = np.fromiter([*levels, None], dtype=object, count=len(levels) + 1)
        return PythonColumn(strings[codes], "string")
    return CategoricalColumn(
        pd.Categorical.from_codes(codes, list(levels), ordered=kind == "ordered")
    )


def _known(values: np.ndarray, levels) -> np.ndarray:
    """Tell which codes number a level; those of a damaged factor may not."""
    return (values > 0) & (values <= len(levels))


def is_r(value) -> bool:
    """Return whether this is an object of rpy2, without importing it.

    >>> is_r({"x": [1]})
    False
    """
    return type(value).__module__.startswith("rpy2.")


def formula_text(formula) -> str:
    """Return the text of a formula object of rpy2."""
    return "".join(line.strip() for line in formula.r_repr().splitlines())


def frame_columns(frame) -> dict[str, Column]:
    """Return the columns of a data frame of rpy2, by name.

    Raises
    ------
    ArgumentError
        For another object, or a column that is not numeric, logical, character, factor or Date.
    """
    if "data.frame" not in tuple(getattr(frame, "rclass", ())):
        raise ArgumentError("expected an R data frame")
    names = [str(name) for name in frame.names]
    return {name: _vector(name, frame[i]) for i, name in enumerate(names)}


def _vector(name: str, vector) -> Column:
    from rpy2.rinterface import StrSexpVector

    kind = next((kind for wanted, kind in _CLASSES if wanted in tuple(vector.rclass)), None)
    if kind is None or {"matrix", "array"} & set(vector.rclass):
        raise ArgumentError(
            f"column {name!r} is of class {vector.rclass[0]}; convert it to numeric, logical or "
            "factor in R"
        )
    if isinstance(vector, StrSexpVector):
        strings = (_string(vector, i) for i in range(len(vector)))
        return PythonColumn(np.fromiter(strings, dtype=object, count=len(vector)), "string")
    if kind == "date" and vector.typeof.name == "INTSXP":
        kind = "integer"
    levels = list(vector.do_slot("levels")) if kind in ("factor", "ordered") else ()
    # a copy, for R's bytes go when R forgets the vector; there is no view of nothing
    data = bytes(vector.memoryview()) if len(vector) else b""
    return column("double" if kind == "date" else kind, data, levels)


def _string(vector, i: int) -> str | None:
    """Return one string of R, None for NA and for bytes that are no text."""
    from rpy2.rinterface import NA_Character

    try:
        return None if vector[i] is NA_Character else vector[i]
    except Exception:  # whatever is raised here depends on the string
        return None


_CLASSES = (
    ("ordered", "ordered"),
    ("factor", "factor"),
    ("Date", "date"),
    ("numeric", "double"),
    ("integer", "integer"),
    ("logical", "logical"),
    ("character", "character"),
)
