"""Draft a schema from the types of columns, to be filled in by hand."""

import json
import re
from collections.abc import Iterator

import pandas as pd

from dpstats.engines import AnyTable, Table
from dpstats.engines.columns import KINDS, UNTYPED
from dpstats.engines.files.arrow_datasets import without_dictionaries
from dpstats.engines.open_table import open_table
from dpstats.errors import ArgumentError
from dpstats.tracebacks import drops_traceback

_NUMBER, _CATEGORY = ("number", "integer"), ("string", "category", "date")
_HEAD = f"""\
# What is public of each column, from documents such as a codebook, never from the data.
# Take the # away from a line to fill it in; delete what no regression uses.
# A column without a type of its own takes one of: {", ".join(KINDS)}.
"""


class Skeleton(str):
    """Hold the text of a TOML file, and show it as it is."""

    def __repr__(self) -> str:
        return str(self)


@drops_traceback
def suggest_schema(columns) -> Skeleton:
    """Draft a schema from the types of columns alone, as the text of a TOML file.

    No value is read. Numbers are to be given bounds and texts levels; the categories that a type
    declares are filled in.

    Parameters
    ----------
    columns : types or data
        ``df.dtypes``, the schema of pyarrow or polars, or what :func:`dpstats.dp_ols` takes as
        data, such as the path of a file, of which only names and types are looked at.

    Returns
    -------
    str
        Shown as it is; write it to a file, fill that in, and pass its path as ``schema=``.

    Raises
    ------
    ArgumentError
        For anything else.

    Notes
    -----
    Guarantee: a function of names and types, which count as public. So do the categories of a
    pandas or polars type: where ``astype("category")`` made them from the data, replace them by
    those of a codebook. Those of a pyarrow dictionary are values, and are left out.

    Examples
    --------
    >>> import pandas as pd
    >>> df = pd.DataFrame({"age": [31, 45], "region": ["north", "south"], "urban": [True, False]})
    >>> print(suggest_schema(df.astype({"region": "string"}).dtypes).partition("[bounds]")[2])
    <BLANKLINE>
    # age = [low, high]  # integer
    <BLANKLINE>
    [levels]
    # region = ["...", "..."]  # string
    <BLANKLINE>
    [types]
    <BLANKLINE>
    # urban: boolean, nothing to declare
    <BLANKLINE>
    """
    table = _without_rows(columns)
    numbers = [f"# {_key(name)} = [low, high]  # {table.kind(name)}" for name in table.columns
               if table.kind(name) in _NUMBER and not table.levels(name)]  # fmt: skip
    untyped = [f'# {_key(name)} = "..."  # or bounds or levels: {UNTYPED[table.kind(name)]}'
               for name in table.columns if table.kind(name) in UNTYPED]  # fmt: skip
    parts = {"bounds": numbers, "levels": _levels(table), "types": untyped}
    text = _HEAD + "".join(f"\n[{part}]\n" + _lines(lines) for part, lines in parts.items())
    others = [f"# {_key(name)}: {_other(table.kind(name))}" for name in table.columns
              if table.kind(name) not in (*_NUMBER, *_CATEGORY, *UNTYPED)]  # fmt: skip
    return Skeleton(text + ("\n" + _lines(others) if others else ""))


def _without_rows(columns) -> AnyTable:
    """Build a table that has these types; what holds rows is opened and not read."""
    if isinstance(columns, pd.Series) and columns.dtype == object:
        empty = {name: pd.Series([], dtype=dtype) for name, dtype in columns.items()}
        return Table.from_data(pd.DataFrame(empty))
    library, name = type(columns).__module__.partition(".")[0], type(columns).__name__
    if (library, name) == ("pyarrow", "Schema"):
        return Table.from_data(without_dictionaries(columns).empty_table())
    if (library, name) == ("polars", "Schema"):
        return Table.from_data(columns.to_frame())
    if isinstance(columns, pd.Series):
        raise ArgumentError("expected columns to be types such as df.dtypes, got one column")
    return open_table(columns)


def _levels(table: AnyTable) -> Iterator[str]:
    """Write a line for each column of categories, with those that its type declares."""
    for name in table.columns:
        kind, known = table.kind(name), table.levels(name)
        values = None if known is None else [_value(level) for level in known]
        if values and None not in values:
            listed = ", ".join(filter(None, values))
            yield f"{_key(name)} = [{listed}]  # the categories of its type"
        elif kind in _CATEGORY or known:
            yield f'# {_key(name)} = ["...", "..."]  # {kind}'


def _lines(lines) -> str:
    return "".join(f"{line}\n" for line in lines)


def _other(kind: str) -> str:
    return "boolean, nothing to declare" if kind == "boolean" else f"{kind}, convert it before use"


def _key(name: str) -> str:
    """Write a column's name as TOML does."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _text(name)


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(level) -> str | None:
    """Write a level as TOML does; None for one of another type."""
    if isinstance(level, str):
        return _text(level)
    if isinstance(level, bool):
        return "true" if level else "false"
    if isinstance(level, int | float):
        return repr(level)
    return level.isoformat() if hasattr(level, "isoformat") else None
