"""Columns of R's data frames, from the memory R keeps them in.

R's own conversions lose missing values: NA becomes True, "NA" or -2147483648. Here a column is its
bytes, and the codes by which R marks a missing value are read as such.
"""

import numpy as np
import pandas as pd

from dpstats.errors import ArgumentError

NA_INTEGER = -(2**31)
KINDS = ("double", "integer", "logical", "character", "factor", "ordered")


def column(kind: str, data, levels=()) -> pd.Series:
    """One column from R's representation of it.

    Parameters
    ----------
    kind : str
        One of ``KINDS``.
    data : bytes-like
        Little-endian float64 for ``"double"``, else int32 (n,), in which -2**31 is NA. Of a
        character, factor or ordered column they number the levels from 1.
    levels : sequence of str
        Levels of a factor, or the distinct strings of a character column.

    Returns
    -------
    pandas.Series

    Examples
    --------
    >>> codes = np.array([2, NA_INTEGER, 1], dtype="<i4").tobytes()
    >>> column("factor", codes, ["low", "high"]).tolist()
    ['high', nan, 'low']
    """
    if kind == "double":
        return pd.Series(np.frombuffer(data, "<f8"))
    values = np.frombuffer(data, "<i4")
    missing = values == NA_INTEGER
    if kind == "integer":
        return pd.Series(pd.arrays.IntegerArray(values.copy(), missing))
    if kind == "logical":
        return pd.Series(pd.arrays.BooleanArray(values == 1, missing))
    codes = np.where(missing, -1, values - 1)
    coded = pd.Categorical.from_codes(codes, list(levels), ordered=kind == "ordered")
    return pd.Series(coded.astype("string") if kind == "character" else coded)


def is_r(value) -> bool:
    """Whether this is an object of rpy2, without importing it.

    >>> is_r({"x": [1]})
    False
    """
    return type(value).__module__.startswith("rpy2.")


def formula_text(formula) -> str:
    """The text of a formula object of rpy2."""
    return "".join(line.strip() for line in formula.r_repr().splitlines())


def frame_columns(frame) -> dict[str, pd.Series]:
    """The columns of a data frame of rpy2, by name.

    Raises
    ------
    ArgumentError
        For another object, or a column that is not numeric, logical, character, factor or Date.
    """
    if "data.frame" not in tuple(getattr(frame, "rclass", ())):
        raise ArgumentError("expected an R data frame")
    names = [str(name) for name in frame.names]
    return {name: _vector(name, frame[i]) for i, name in enumerate(names)}


def _vector(name: str, vector) -> pd.Series:
    from rpy2.rinterface import NA_Character, StrSexpVector

    kind = next((kind for wanted, kind in _CLASSES if wanted in tuple(vector.rclass)), None)
    if kind is None or {"matrix", "array"} & set(vector.rclass):
        raise ArgumentError(
            f"column {name!r} is of class {vector.rclass[0]}; convert it to numeric, logical or "
            "factor in R"
        )
    if isinstance(vector, StrSexpVector):
        return pd.Series([None if v is NA_Character else v for v in vector], dtype="string")
    if kind == "date" and vector.typeof.name == "INTSXP":
        kind = "integer"
    levels = list(vector.do_slot("levels")) if kind in ("factor", "ordered") else ()
    # a copy, for R's bytes go when R forgets the vector; there is no view of nothing
    data = bytes(vector.memoryview()) if len(vector) else b""
    return column("double" if kind == "date" else kind, data, levels)


_CLASSES = (
    ("ordered", "ordered"),
    ("factor", "factor"),
    ("Date", "date"),
    ("numeric", "double"),
    ("integer", "integer"),
    ("logical", "logical"),
    ("character", "character"),
)
